"""Which parts of a reStructuredText page are code, and in which lines it stands."""

import pytest
from docutils.core import publish_doctree
from docutils.nodes import literal_block
from docutils.parsers.rst import directives, roles

from th_shell.docs.reading.formats import rst


def found(page: str) -> list[tuple[str, list[tuple[int, str]]]]:
    blocks = rst.find(page.split("\n"))
    return [
        (block.language, [(line.number, line.text) for line in block.lines]) for block in blocks
    ]


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        ("Text::\n\n  > x = 1\n\n  1\n\nMore", [("", [(3, "> x = 1"), (4, ""), (5, "1")])]),
        ("- item\n\n  ::\n\n     x = 1\n", [("", [(5, "x = 1")])]),
        ("Text::\n\n> quoted\n> lines\n", [("", [(3, "> quoted"), (4, "> lines")])]),
        (".. code-block:: Lua\n   :linenos:\n\n   x = 1\n", [("lua", [(4, "x = 1")])]),
        (".. code:: lua\n\n   x = 1\n     y\n", [("lua", [(3, "x = 1"), (4, "  y")])]),
        (".. sourcecode::\n\n   x = 1\n", [("", [(3, "x = 1")])]),
        (".. highlight:: python\n\nText::\n\n  x = 1\n", [("python", [(5, "x = 1")])]),
        ("Text\n\n>>> 1 + 1\n2\n", [("python", [(3, ">>> 1 + 1"), (4, "2")])]),
        ("..\n    >>> x\n    1\n\n\nText\n", [("python", [(2, ">>> x"), (3, "1")])]),
        ("Text\n\n.. >>> x\n\n..\n\n.. a remark\n", [("python", [(3, ">>> x")])]),
        (".. a title:\n\n   >>> x\n   1\n\nText\n", [("python", [(3, ">>> x"), (4, "1")])]),
        ("Text\n\nth> 1 + 1\n2\n", [("th", [(3, "th> 1 + 1"), (4, "2")])]),
        (".. note::\n\n   Text::\n\n     x = 1\n", [("", [(5, "x = 1")])]),
        (".. lua:function:: f(x)\n\n   Text::\n\n     x = 1\n", [("", [(5, "x = 1")])]),
        (".. include:: /etc/passwd\n.. raw:: html\n   :file: /etc/passwd\n", []),
        (":no-role:`x` and |nothing|\n", []),
        ("", []),
    ],
)
def test_code(page: str, blocks: list[tuple[str, list[tuple[int, str]]]]) -> None:
    assert found(page) == blocks


def test_directives_and_roles_of_other_programs_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sphinx registers its own in its process, and these need its state."""
    for table in (directives._directives, roles._roles):
        for name in ("code", "note", "sidenote", "ref"):
            monkeypatch.setitem(table, name, None)
    before = dict(directives._directives), dict(roles._roles)
    page = ":ref:`x`\n\n.. code:: lua\n\n   x\n\n.. sidenote::\n\n   .. note::\n\n      >>> y\n"
    assert found(page) == [("lua", [(5, "x")]), ("python", [(11, ">>> y")])]
    assert (directives._directives, roles._roles) == before


def test_a_block_opens_with_its_directive() -> None:
    page = "Text\n\n.. code::\n   :name: x\n\n   x = 1\n\nText::\n\n   y = 2\n"
    blocks = rst.find(page.split("\n"))
    assert [(block.opening, block.closing) for block in blocks] == [(3, 7), (9, 11)]


def test_headings() -> None:
    page = "a::\n\n x\n\nOne\n===\n\na::\n\n x\n\nTwo\n---\n\na::\n\n x\n"
    assert [block.heading for block in rst.find(page.split("\n"))] == ["", "One", "Two"]


def test_docutils_is_left_as_it_was() -> None:
    found(".. code:: lua\n\n   x\n\n.. unheard-of:: x\n")
    page = publish_doctree(
        ".. code:: lua\n   :linenos:\n\n   x\n\n.. unheard-of:: x\n",
        settings_overrides={"report_level": 5},
    )
    texts = [node.astext() for node in page.findall(literal_block)]
    assert [text.split()[1] for text in texts] == ["code::", "unheard-of::"]

"""reStructuredText pages, which docutils reads: literal blocks and the directives of code.

Directives that docutils does not know, such as those of Sphinx, are read for what is in them.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import ClassVar

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

from th_shell.docs.reading.examples import Block, numbered
from th_shell.docs.reading.formats.text import complete
from th_shell.docs.reading.languages import DIRECTIVES, directed
from th_shell.docs.settings.settings import PageError
from th_shell.patterns import pattern

_NAME = pattern(r"\.\. +([\w:.+-]+?)::(?:\s|$)")
_SESSION = pattern(r"^[ \t]*>>> ", re.M)
_TOO_DEEP = "its lists or margins are nested too deep"
#: Margins within one another that docutils cannot read, which has a copy of the page for each.
_DEEPEST = 200
#: docutils has one table of directives for all threads.
_LOCK = threading.Lock()
_SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
}


def find(lines: Sequence[str]) -> Iterator[Block]:
    """Return the code of a page, and its prompts outside of it. Raises PageError."""
    if _depth(lines) > _DEEPEST:
        raise PageError(_TOO_DEEP)
    try:
        with _LOCK, _directives({name for line in lines for name in _NAME.findall(line)}):
            page = publish_doctree("\n".join(lines), settings_overrides=_SETTINGS)
    except RecursionError:
        raise PageError(_TOO_DEEP) from None
    blocks, headings, default = [], [], ""
    for node in page.findall():
        if isinstance(node, nodes.title) and node.line:
            headings.append((node.line, node.astext()))
        elif isinstance(node, nodes.comment) and "language" in node:
            default = node["language"]
        elif isinstance(node, nodes.doctest_block):
            blocks.append(_block(node, "python"))
        elif isinstance(node, nodes.comment) and _SESSION.search(node.astext()):
            blocks.append(_hidden(node, lines))
        elif isinstance(node, nodes.literal_block) and _is_code(node):
            blocks.append(_block(node, node.get("language", default)))
    return complete(blocks, headings, lines)


def _depth(lines: Sequence[str]) -> int:
    """Return the greatest number of margins within one another."""
    margins: list[int] = []
    deepest = 0
    for line in filter(str.strip, lines):
        margin = len(line) - len(line.lstrip())
        while margins and margins[-1] >= margin:
            margins.pop()
        margins.append(margin)
        deepest = max(deepest, len(margins))
    return deepest


def _hidden(node: nodes.comment, lines: Sequence[str]) -> Block:
    """Return the session of a comment, which doctest runs and readers do not see."""
    texts = node.astext().split("\n")
    # docutils tells where the comment ends, and not how many blank lines stand there.
    above = range(min(node.line or 1, len(lines)), 0, -1)
    first = next((n for n in above if lines[n - 1].rstrip().endswith(texts[0].strip())), 1)
    title = len(list(takewhile(lambda text: not _SESSION.match(text), texts)))
    inside = numbered(texts, first)[title:]
    return Block(first + title - 1, first + len(texts), "python", inside)


def _is_code(node: nodes.literal_block) -> bool:
    # docutils shows what it cannot read as a literal block, too.
    return bool(node.line) and not isinstance(node.parent, nodes.system_message)


def _block(node: nodes.Element, language: str) -> Block:
    texts = node.astext().split("\n")
    first = node.line or 1
    opening = node.get("opening", first - 1)
    block = Block(opening, first + len(texts), language, numbered(texts, first))
    return directed(block, node.get("groups", ""), node.get("options", {}))


# -- directives


class _AnyOption(dict[str, Callable[[str], object]]):
    """The options of a directive that has all options."""

    def __missing__(self, name: str) -> Callable[[str], object]:
        return directives.unchanged


class _Directive(Directive):
    """A directive that docutils does not know: what is in it is read as text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = _AnyOption(name=directives.unchanged)  # empty, it would not be used

    def run(self) -> Sequence[nodes.Node]:
        inside = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inside)
        return [inside]


class _Code(_Directive):
    """Code, in the language that the directive names; with what Sphinx's tests say of it."""

    def run(self) -> Sequence[nodes.Node]:
        node = nodes.literal_block("", "\n".join(self.content))
        node.line = self.content_offset + 1
        node["opening"] = self.lineno
        if self.name in DIRECTIVES:
            node["language"], node["groups"] = self.name, " ".join(self.arguments)
            node["options"] = self.options
        elif self.arguments:
            node["language"] = self.arguments[0].lower()
        return [node]


class _Highlight(_Directive):
    """The language of the code below that names none."""

    def run(self) -> Sequence[nodes.Node]:
        return [nodes.comment(language=" ".join(self.arguments).lower())]


_OWN = dict.fromkeys((*DIRECTIVES, "code", "code-block", "sourcecode"), _Code)


@contextmanager
def _directives(names: set[str]) -> Iterator[None]:
    """While a page is read, directives with these names are known: our own, docutils', no others.

    Those that Sphinx has registered in this process, and its roles, would need Sphinx's state.
    """
    # docutils has no way to forget a directive, and others may use it in this process.
    code, text = vars(directives), vars(roles)
    before = code["_directives"], text["_roles"]
    ours = dict.fromkeys(names - code["_directive_registry"].keys(), _Directive)
    ours |= {**_OWN, "highlight": _Highlight}
    code["_directives"], text["_roles"] = ours, {}
    try:
        yield
    finally:
        code["_directives"], text["_roles"] = before

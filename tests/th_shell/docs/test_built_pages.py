"""Pages that Sphinx and MkDocs build: marks, lists of verdicts, and builds that fail."""

import logging
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from th_shell.docs.built_pages import failures_of, marked
from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.examples import Example, Kind

GOOD = "Sums\n====\n\nText{}\n\n    > 1 + 1\n    2\n"
BAD = "Products\n========\n\nText{}\n\n    > 2 * 3 < 7\n    true\n    > 2 * 3\n    7\n"
DIFFERENCE = "differs\n  input:\n    > 2 * 3\n  difference (- page, + program):\n    - 7\n    + 6"
MARKS = (
    '<p class="th-docs"><a class="th-docs-pass" href="#th-docs-1">pass</a> '
    '<a class="th-docs-differs" href="#th-docs-2">differs</a></p><pre>'
)
ROW = '<li id="th-docs-2" class="th-docs-differs">line 8: <code>2 * 3</code>: <pre>differs\n'

# ------------------------------------------------- marks in HTML


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[..., PageResult]:
    """A page of a text; its results: (line, block, source, verdict)."""

    def make(text: str, *rows: tuple[int, int, str, Verdict], name: str = "a.md") -> PageResult:
        path = tmp_path / name
        path.write_text(text)
        examples = [
            Result(
                Example(line, block, Kind.PROMPT, source, last=line + source.count("\n")), verdict
            )
            for line, block, source, verdict in rows
        ]
        return PageResult(path, examples)

    return make


def marks(html: str, page: PageResult) -> list[str]:
    """The marks in a page's HTML, each with the code below it."""
    found = re.findall(r'<p class="th-docs">(.*?)</p><pre>(.*?)</pre>', marked(html, page), re.S)
    return [re.sub("<[^>]*>", "", f"{mark}: {code}") for mark, code in found]


def test_a_mark_stands_above_the_code_that_has_all_inputs(
    page_of: Callable[..., PageResult],
) -> None:
    page = page_of(
        "> a\n1\n> b\n2\n\n> a\n3\n",
        (1, 0, "a", Verdict.PASS),
        (3, 0, "b", Verdict.PASS),
        (6, 1, "a", Verdict.ERROR),
    )
    codes = ["b", "&gt; a\n1\n&gt; <i>b</i>\n2", "\n  &gt; a\n3", "&gt; a"]
    html = "".join(f"<pre>{code}</pre>" for code in codes)
    assert marks(html, page) == ["2 pass: &gt; a\n1\n&gt; b\n2", "error: \n  &gt; a\n3"]
    assert marked(html, page).startswith("<pre>b</pre><p ")


def test_marks_of_examples_with_the_same_verdict_are_one(
    page_of: Callable[..., PageResult],
) -> None:
    verdicts = [Verdict.PASS, Verdict.PASS, Verdict.DIFFERS, Verdict.PASS]
    page = page_of("> a\n" * 4, *((at, 0, "a", verdict) for at, verdict in enumerate(verdicts, 1)))
    found = marked("<pre>" + "&gt; a\n" * 4 + "</pre>", page)
    links = re.findall(r'<a class="th-docs-(\w+)" href="#(\S+)">(.*?)</a>', found)
    assert links == [
        ("pass", "th-docs-1", "2 pass"),
        ("differs", "th-docs-3", "differs"),
        ("pass", "th-docs-4", "pass"),
    ]
    assert re.findall(r'<li id="(\S+)"', found) == [f"th-docs-{at}" for at in range(1, 5)]


def test_code_that_is_not_shown_has_no_mark_and_hides_none(
    page_of: Callable[..., PageResult],
) -> None:
    page = page_of("> hidden\n\n> x\ny\n", (1, 0, "hidden", Verdict.RAN), (3, 1, "x", Verdict.PASS))
    assert marks("<pre>&gt; x\ny</pre>", page) == ["pass: &gt; x\ny"]


def test_flags_numbers_of_lines_and_spaces_do_not_count(
    page_of: Callable[..., PageResult],
) -> None:
    page = page_of(">>> f(\t1)  # doctest: +SKIP\n2\n", (1, 0, "f(\t1)", Verdict.PASS))
    html = '<pre><span class="linenos">1</span>&gt;&gt;&gt; f(    1)\n2</pre>'
    assert len(marks(html, page)) == 1


def test_cells_of_notebooks_are_known_by_their_code(page_of: Callable[..., PageResult]) -> None:
    page = page_of('["x = 1\\n",\n"y"]', (1, 0, "x = 1\ny", Verdict.PASS), name="a.ipynb")
    assert len(marks("<pre>x = 1\ny</pre>", page)) == 1


def test_text_is_no_example_and_control_codes_are_shown(
    page_of: Callable[..., PageResult],
) -> None:
    page = page_of("x\n", (1, 0, "", Verdict.TEXT))
    assert marked("<pre>x</pre>", page) == "<pre>x</pre>"
    page = page_of("> '\x1b<'\n", (1, 0, "'\x1b<'", Verdict.RAN))
    assert "<code>&#x27;\\027&lt;&#x27;</code>: ran</li>" in marked("", page)


def test_a_page_that_cannot_be_judged_fails(tmp_path: Path) -> None:
    assert list(failures_of(PageResult(tmp_path, [], "no"))) == [(1, "no")]


# ------------------------------------------------- builds


Build = Callable[..., tuple[int, str]]


@pytest.fixture
def sphinx(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Build:
    """Runs sphinx-build on two pages of a folder; its status, and what it complains of."""
    build = pytest.importorskip("sphinx.cmd.build", reason="the extra sphinx is not installed")
    (tmp_path / "conf.py").write_text("extensions = ['th_shell.docs.sphinx_extension']\n")
    index = GOOD.format(" (:doc:`bad`)::") + "\n.. toctree::\n\n   bad\n"
    (tmp_path / "index.rst").write_text(index)
    (tmp_path / "bad.rst").write_text(BAD.format("::"))

    def run(*options: str, builder: str = "html") -> tuple[int, str]:
        words = ["-q", "-b", builder, *options, str(tmp_path), str(tmp_path / builder)]
        status = build.main(words)
        return status, capsys.readouterr().err.replace(f"{tmp_path}/", "")

    return run


WARNING = f"bad.rst:8: WARNING: {DIFFERENCE} [th-docs]\n"


def links(page: Path) -> set[str]:
    """The links of a page to verdicts, each of which leads to one."""
    text = page.read_text()
    found = set(re.findall(r'<a [^>]*href="#(th-docs[^"]*)"', text))
    assert found <= set(re.findall(r' id="(.*?)"', text))
    return found


@pytest.mark.thorough
def test_sphinx_marks_what_it_builds(sphinx: Build, tmp_path: Path) -> None:
    assert sphinx() == (0, WARNING)
    site = tmp_path / "html"
    assert links(site / "bad.html") == {"th-docs-1", "th-docs-2"}
    assert MARKS in (site / "bad.html").read_text()
    assert ROW in (site / "bad.html").read_text()
    assert links(site / "index.html") == {"th-docs-1"}
    assert "th-docs" not in (site / "genindex.html").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options", ["-W", "-D th_docs_fail=1", "-W -j 2", "-D th_docs_fail=1 -j 2"]
)
def test_sphinx_fails_if_it_is_told_to(sphinx: Build, tmp_path: Path, options: str) -> None:
    assert sphinx(*options.split()) == (1, WARNING)
    assert MARKS in (tmp_path / "html/bad.html").read_text()


@pytest.mark.thorough
def test_sphinx_does_not_fail_where_all_examples_hold(sphinx: Build, tmp_path: Path) -> None:
    (tmp_path / "bad.rst").write_text(GOOD.format("::"))
    assert sphinx("-W", "-D", "th_docs_fail=1") == (0, "")


@pytest.mark.thorough
def test_warnings_of_sphinx_have_a_type(sphinx: Build) -> None:
    assert sphinx("-W", "-D", "suppress_warnings=th-docs") == (0, "")


@pytest.mark.thorough
@pytest.mark.parametrize("builder", ["singlehtml", "text", "latex"])
def test_sphinx_checks_pages_whatever_it_makes_of_them(sphinx: Build, builder: str) -> None:
    assert sphinx(builder=builder) == (0, WARNING)


@pytest.fixture
def mkdocs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Build:
    """Builds a folder of two pages as MkDocs does; its status, and what it complains of."""
    build = pytest.importorskip("mkdocs.commands.build", reason="the extra mkdocs is not installed")
    from mkdocs.config import load_config

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(GOOD.format(""))
    (tmp_path / "docs/bad.md").write_text(BAD.format(""))

    def run(strict: bool = False, fail: bool = False) -> tuple[int, str]:
        config = tmp_path / "mkdocs.yml"
        plugins = f"plugins: [{{th-docs: {{fail: {str(fail).lower()}}}}}]\n"
        config.write_text(f"site_name: x\ntheme: null\n{plugins}")
        caplog.clear()
        status, end = 0, ""
        try:
            build.build(load_config(str(config), strict=strict))
        except SystemExit as error:
            status, end = error.code, str(error)
        said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
        return status, "\n".join([*said, *end.split("\n")]).strip("\n")

    return run


COMPLAINT = f"th-docs: bad.md:8: {DIFFERENCE}"


@pytest.mark.thorough
def test_mkdocs_marks_what_it_builds(mkdocs: Build, tmp_path: Path) -> None:
    assert mkdocs() == (0, COMPLAINT)
    bad, index = tmp_path / "site/bad/index.html", tmp_path / "site/index.html"
    assert MARKS in bad.read_text()
    assert ROW in bad.read_text()
    assert links(bad) == {"th-docs-1", "th-docs-2"}
    assert links(index) == {"th-docs-1"}


@pytest.mark.thorough
def test_mkdocs_fails_if_it_is_told_to(mkdocs: Build, tmp_path: Path) -> None:
    end = "Aborted with 1 warnings in strict mode!"
    assert mkdocs(strict=True) == (1, f"{COMPLAINT}\n{end}")
    end = "examples fail in bad.md\nAborted with a BuildError!"
    assert mkdocs(fail=True) == (1, f"{COMPLAINT}\n{end}")
    assert MARKS in (tmp_path / "site/bad/index.html").read_text()


@pytest.mark.thorough
def test_mkdocs_does_not_fail_where_all_examples_hold(mkdocs: Build, tmp_path: Path) -> None:
    (tmp_path / "docs/bad.md").write_text(GOOD.format(""))
    assert mkdocs(strict=True, fail=True) == (0, "")


@pytest.mark.thorough
def test_mkdocs_forgets_what_failed_before(mkdocs: Build, tmp_path: Path) -> None:
    """As `mkdocs serve` does, which keeps the plugin."""
    assert mkdocs()[0] == 0
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    config = load_config(str(tmp_path / "mkdocs.yml"), plugins=[{"th-docs": {"fail": True}}])
    with pytest.raises(SystemExit):
        build(config)
    (tmp_path / "docs/bad.md").write_text(GOOD.format(""))
    build(config)


def test_mkdocs_leaves_pages_that_are_no_files() -> None:
    plugin = pytest.importorskip("th_shell.docs.mkdocs_plugin").Plugin()
    assert plugin.on_page_content("x", page=Mock(**{"file.abs_src_path": None})) == "x"

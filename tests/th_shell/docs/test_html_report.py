"""The report in HTML: well-formed, self-contained, everything of the pages escaped."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.th_shell.docs.results import page, result
from th_shell.docs.judging.verdicts import PageResult, Verdict
from th_shell.docs.reporting.html_report import html_report

_VOID = {"meta", "input", "br"}


class _Reader(HTMLParser):
    """Reads a page; asserts that each tag is closed where it must be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text += data

    def rows(self) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == "article"]


TEXT = "# Head\n\n```\n> x\n1 <b>\n```\nProse & more.\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(TEXT)
    return path


def read(*pages: PageResult) -> _Reader:
    return _Reader(html_report(pages))


def test_the_page_stands_beside_the_result(source: Path) -> None:
    found = result(line=4, source="x", expected="1 <b>", got="2 <b>\n", note="a < b")
    text = html_report([page(found, name=str(source))])
    reader = _Reader(text)
    assert reader.rows() == [
        {"id": "page-0-line-4", "class": "row differs", "data-verdict": "differs"}
    ]
    assert '<span class="number">4</span>&gt; x\n<span class="number">5</span>1 &lt;b&gt;' in text
    assert "<del>- <b>1</b> &lt;b&gt;</del>\n<ins>+ <b>2</b> &lt;b&gt;</ins>" in text
    assert "a &lt; b" in text
    assert '<span class="number">7</span>Prose &amp; more.' in text


def test_it_loads_nothing_and_runs_only_its_own_script() -> None:
    text = html_report([page(result())])
    reader = _Reader(text)
    assert not any(name in ("src", "srcset", "style") for _, a in reader.tags for name in a)
    assert all(value.startswith("#") for _, a in reader.tags if (value := a.get("href")))
    assert not re.search(r"url\(|@import|https?:", text)
    (policy,) = (a["content"] for _, a in reader.tags if "http-equiv" in a)
    for tag in ("style", "script"):
        (own,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in str(policy)


EVIL = "</pre><script>alert(1)</script>\x1b[2J\udcff\"'&"


def test_everything_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "evil.md"
    path.write_bytes(f"{EVIL}\n\n> {EVIL}\n{EVIL}\n".encode("utf-8", "surrogateescape"))
    evil = [
        result(verdict, EVIL, EVIL + "1", line=3, source=EVIL, note=EVIL, repaired=EVIL + "2")
        for verdict in Verdict
    ]
    other = page(*evil, name=f"{EVIL}.md", problem=EVIL)
    text = html_report([page(*evil, name=str(path)), other])
    text.encode("utf-8")
    reader = _Reader(text)
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert "\x1b" not in text
    assert r"</pre><script>alert(1)</script>\027[2J\xff" in reader.text


def test_a_format_with_other_lines_shows_the_example_itself(source: Path) -> None:
    found = result(line=2, source="y = 1", expected="shown", got="shown")
    text = html_report([page(found, name=str(source))])
    assert "<pre>y = 1\n\nshown</pre>" in text


def test_a_page_that_cannot_be_read() -> None:
    reader = read(page(name="none.md", problem="cannot be read"))
    assert "none.md" in reader.text
    assert "not judged" in reader.text
    assert "cannot be read" in reader.text


def test_causes_lead_to_the_examples() -> None:
    found = [result(Verdict.ERROR, got="stdin:1: bad", line=line) for line in (3, 5)]
    text = html_report([page(result(Verdict.PASS), name="a.md"), page(*found)])
    assert '<a href="#page-1-line-3">page.md:3</a> <a href="#page-1-line-5">page.md:5</a>' in text


def test_much_prose_is_folded_and_much_output_is_cut(source: Path) -> None:
    source.write_text("prose\n" * 3000 + "> x\n1\n")
    found = result(line=3001, expected="1", got="y" * 1_000_000)
    text = html_report([page(found, name=str(source))])
    assert "<summary>lines 1 to 3000</summary>" in text
    assert "... 2000 more lines" in text
    assert len(text) < 100_000

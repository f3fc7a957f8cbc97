"""HTML pages: the text of <pre> elements is code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser

from th_shell.docs.reading.examples import Block, numbered
from th_shell.patterns import pattern

#: The class with the language of code: <code class="language-lua">, <div class="highlight-lua">.
_LANGUAGE = pattern(r"(?:^|\s)(?:lang(?:uage)?|highlight(?:-source)?)-([\w+]+)", re.I)
#: The class of what holds the numbers of lines, beside code or in it.
_GUTTER = pattern(
    r"(?:^|\s)(?:(?:rouge-)?gutter|line-?nos?|line-?numbers?|blob-num|codemark)(?:\s|$)", re.I
)
_ANY_LANGUAGE = "default"
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))


def find(lines: Sequence[str], start: int = 0) -> Iterator[Block]:
    """Return the <pre> elements of a page; their tags are left out.

    start: the index of the first line that is read.
    """
    page = _Page()
    page.feed("\n" * start + "\n".join(lines[start:]))
    page.close()
    page.end_block(len(lines) + 1)
    return iter(page.blocks)


class _Page(HTMLParser):
    """Collects blocks while a page is read."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self._heading = ""
        self._in_heading = ""
        self._block: Block | None = None
        self._text: list[str] = []
        self._gutter = ""  # the tag of the cell or the words with numbers of lines around
        self._around = [""]  # the languages that hold in the <div> elements around

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = dict(attrs).get("class") or ""
        if tag == "td":
            self._gutter = ""
        if self._gutter or tag in ("td", "span") and _GUTTER.search(classes):
            self._gutter = self._gutter or tag
            return
        match = _LANGUAGE.search(classes)
        language = match[1].lower() if match else ""
        if tag == "div":
            self._around.append(language or self._around[-1])
        elif tag in _HEADINGS and not self._block:
            self._in_heading, self._text = tag, []
        elif tag == "pre":
            line = self.getpos()[0]
            self.end_block(line)
            self._in_heading, self._text = "", []
            language = language or self._around[-1]
            self._block = Block(line, line, language, (), heading=self._heading)
        elif self._block and language:
            self._block = replace(self._block, language=language)
        elif self._block and tag == "br":
            self._text.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._gutter:
            self._gutter = "" if tag == self._gutter else self._gutter
        elif tag == "div" and len(self._around) > 1:
            self._around.pop()
        elif tag == "pre":
            self.end_block(self.getpos()[0])
        elif tag == self._in_heading:
            self._heading, self._in_heading = " ".join("".join(self._text).split()), ""

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Skip `<![…]>` at an index, as browsers do; some Pythons raise errors for unknown ones."""
        if self.rawdata.startswith("<![CDATA[", i):
            return super().parse_marked_section(i, report)
        return self.parse_bogus_comment(i, report)

    def handle_data(self, data: str) -> None:
        if (self._block or self._in_heading) and not self._gutter:
            self._text.append(data)

    def end_block(self, line: int) -> None:
        """End the block that is open, at a line of the page."""
        block = self._block
        if not block:
            return
        texts = "".join(self._text).replace("\N{NO-BREAK SPACE}", " ").split("\n")
        # A line with nothing beside the tag is none of the code's.
        filled = [at for at, text in enumerate(texts) if text.strip()] or [0]
        lines = numbered(texts, block.opening)[filled[0] : filled[-1] + 1]
        language = "" if block.language == _ANY_LANGUAGE else block.language
        self.blocks.append(replace(block, closing=line, language=language, lines=lines))
        self._block = None

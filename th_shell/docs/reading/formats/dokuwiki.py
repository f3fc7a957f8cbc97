"""The code of DokuWiki, which stands between tags: `<code lua>`, `<file lua>`.

Torch7's early documentation is written so (`.dok`). DokuWiki's own pages are texts (`.txt`).
"""

from collections.abc import Sequence

from th_shell.docs.reading.examples import Block, numbered
from th_shell.patterns import pattern

_TAGS = ("code", "file")
_OPENING = pattern(r"^\s*<(?P<tag>code|file)(?P<words>\s[^>]*)?>(?P<text>.*)$")


def tagged(lines: Sequence[str]) -> tuple[list[Block], list[str]]:
    """Return the blocks between tags, and the lines of the page without them."""
    blocks, rest = list[Block](), list(lines)
    last = {tag: at for at, line in enumerate(lines) for tag in _TAGS if f"</{tag}>" in line}
    at = 0
    while at < len(lines):
        match = _OPENING.match(lines[at]) if "<" in lines[at] else None
        if match and at <= last.get(match["tag"], -1):
            closing = f"</{match['tag']}>"
            texts = [match["text"]]
            while closing not in texts[-1]:
                texts.append(lines[at + len(texts)])
            texts[-1] = texts[-1].partition(closing)[0]
            filled = [number for number, text in enumerate(texts) if text.strip()] or [0]
            inside = numbered(texts, at + 1)[filled[0] : filled[-1] + 1]
            language = ([*(match["words"] or "").split(), ""])[0].strip("-").lower()
            blocks.append(Block(at + 1, at + len(texts), language, inside))
            rest[at : at + len(texts)] = [""] * len(texts)
            at += len(texts) - 1
        at += 1
    return blocks, rest

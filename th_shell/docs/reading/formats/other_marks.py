"""Marks of code that are no fences of Markdown, as fences, line by line.

Jekyll's `{% highlight lua %}`, AsciiDoc's `[source,lua]` above a line of dashes, and what is
indented in an admonition or a tab of MkDocs (`!!! note`, `=== "Lua"`), or fenced in one of MyST
(`{tip}` behind four backticks). Jekyll's `{% raw %}` is no
part of the code that it encloses.
"""

from collections.abc import Sequence

from th_shell.patterns import pattern

_LIQUID = pattern(
    r"^(?P<margin>\s*)\{%-?\s*(?P<tag>highlight|endhighlight|raw|endraw)\b(?P<words>[^%]*)%\}\s*$"
)
_SOURCE = pattern(r"^\[source,\s*(?P<language>[\w+-]+)(?:[,\s][^\]]*)?\]\s*$")
_NOTE = pattern(r"^(?P<mark>`{4,})\{(?!code|doctest|eval|test)[\w-]+\}")
_DASHES = pattern(r"^-{4,}\s*$")
_INDENTS = pattern(r"^(?:!!!\s+\w|\?\?\?\+?\s+\w|===[+!]?\s+\")")
_MARGIN = "    "


def as_fences(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a page, with fences where code has other marks."""
    if not any(
        line.lstrip().startswith(("{%", "[source,", "!!!", "???", "===", "````{")) for line in lines
    ):
        return lines
    found: list[str] = []
    language, closing, is_inside = "", "", False
    notes: list[str] = []  # the ends of notes that are open
    for line in lines:
        is_inside = is_inside and (not line.strip() or line.startswith(_MARGIN))
        text = line.removeprefix(_MARGIN) if is_inside else line
        is_inside = is_inside or bool(_INDENTS.match(line))
        if notes and text.strip() == notes[-1]:
            text, notes = "", notes[:-1]
        elif note := _NOTE.match(text):
            text, notes = "", [*notes, note["mark"]]
        if closing and text.rstrip() == closing:
            text, closing = "```", ""
        elif language and _DASHES.match(text):
            text, closing = f"```{language}", text.rstrip()
        elif liquid := _LIQUID.match(text):
            fence = f"{liquid['margin']}```"
            shown = {"highlight": f"{fence}{liquid['words'].strip()}", "endhighlight": fence}
            text = shown.get(liquid["tag"], "")
        source = _SOURCE.match(text)
        language = source["language"] if source else ""
        found.append(text)
    return found

"""Lua sources: the examples in their comments, as LDoc shows them.

These are the texts of the tag @usage, fences, and prompts; in the comments of documentation, which
begin with '---' or '--[[--', indented code as well. The text of a comment is read as Markdown.
Without any of these, a source that tells values in comments at the ends of its lines is a script,
and all of it is an example, unless it is a module, which returns something.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from th_shell.docs.reading.comment_values import tell_values
from th_shell.docs.reading.examples import LUA, Block, Line, Role, numbered
from th_shell.docs.reading.formats import markdown
from th_shell.patterns import pattern
from th_shell.tokens import without_texts

_TOKEN = pattern(
    r"(?P<long>--\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z))"
    r"|(?P<short>--[^\n]*(?:\n[ \t]*--(?!\[=*\[)[^\n]*)*)"
    r"|\[(?P<quote>=*)\[.*?(?:\](?P=quote)\]|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.S,
)
_DASHES = pattern(r"^[ \t]*-{2,}(?!>) ?", re.M)
_DOCUMENTATION = pattern(r"--\[=*\[-|---(?!-)")
_OPENING = pattern(r"^--\[=*\[-*")
_CLOSING = pattern(r"(?<!-)-*\]=*\]$")
_TAG = pattern(r"^\s*@(?P<name>\w+)\b\s?(?P<text>.*)$")
_MODULE = pattern(r"^[-\s]*@(?:class)?mod(?:ule)?\s+(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*$")
_DECLARED = pattern(
    r"[ \t]*(?:\n[ \t]*)?(?:local\s+)?(?:function\s+([A-Za-z_][\w.:]*)|([A-Za-z_][\w.]*)\s*=(?!=))"
)


def find(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the examples in the comments of a source, under the names that are declared below."""
    source = "\n".join(lines)
    at, number, heading, is_found = 0, 1, "", False
    for match in _TOKEN.finditer(source):
        if not (match["long"] or match["short"]):
            continue
        number += source.count("\n", at, match.start())
        at = match.start()
        is_long, whole = match["long"], match[0]
        text = _CLOSING.sub("", _OPENING.sub("", whole)) if is_long else _DASHES.sub("", whole)
        comment = _Comment(text.split("\n"), number, bool(_DOCUMENTATION.match(whole)))
        declared = _DECLARED.match(source, match.end())
        if declared and comment.is_documentation:
            heading = declared[1] or declared[2]
        for block in _examples(comment):
            yield replace(block, heading=heading)
            is_found = True
    if not is_found and _is_script(lines):
        first = 1 if lines[0].startswith("#") else 0  # the command that runs it
        yield Block(0, len(lines) + 1, LUA, numbered(lines[first:], 1 + first))


def _is_script(lines: Sequence[str]) -> bool:
    """Tell whether lines of code tell their values in comments, and are no module."""
    code = [line for line in lines if without_texts(f"{line}\n").strip()]
    is_module = bool(code) and code[-1].startswith("return")
    return not is_module and tell_values(lines)


class _Comment(NamedTuple):
    """The text of a comment."""

    #: The lines without marks.
    texts: Sequence[str]
    #: The line number of the first.
    first: int
    is_documentation: bool


def _examples(comment: _Comment) -> Iterator[Block]:
    usages = list(_usages(comment))
    inside = {line.number for usage in usages for line in usage.lines}
    blocks = list(usages)
    for block in markdown.find(comment.texts):
        lines = tuple(Line(line.number + comment.first - 1, line.text) for line in block.lines)
        opening, closing = (n + comment.first - 1 for n in (block.opening, block.closing))
        is_indented = lines[0].number == opening + 1 and not _is_fence(comment, block.opening)
        if inside.isdisjoint(line.number for line in lines) and (
            comment.is_documentation or block.language or not is_indented
        ):
            blocks.append(replace(block, opening=opening, closing=closing, lines=lines))
    return iter(sorted(blocks, key=lambda block: block.opening))


def _is_fence(comment: _Comment, number: int) -> bool:
    return number > 0 and comment.texts[number - 1].strip().startswith(("```", "~~~"))


def _usages(comment: _Comment) -> Iterator[Block]:
    """Yield the texts of @usage, each up to the next tag."""
    start, texts = 0, list[str]()
    for at, line in enumerate([*comment.texts, "@end"], comment.first):
        tag = _TAG.match(line)
        if tag and start:
            yield Block(start, at, "lua", numbered(texts, start))
            start = 0
        if tag and tag["name"] == "usage":
            start, texts = at, [tag["text"]]
        elif start:
            texts.append(line)


#: Code that loads a module from its own tree, and gives it the last part of its name.
_REQUIRE = """\
package.path = {folder} .. '/?.lua;' .. {folder} .. '/?/init.lua;' .. package.path
do local ok, module = pcall(require, {name})
if not ok then -- what it needs may be missing, and is then needed again
  for k, v in pairs(package.loaded) do if type(v) == 'userdata' then package.loaded[k] = nil end end
  ok, module = pcall(dofile, {path})
end
if ok and module and module ~= true and not _G[{last}] then _G[{last}] = module end end"""


def requiring(lines: Sequence[str], path: Path) -> list[Block]:
    """Return a block that loads the module which a source documents; none where it names none."""
    match = next(filter(None, map(_MODULE.match, lines)), None)
    if not match:
        return []
    parts = match["name"].split(".")
    above = len(parts) - (path.stem != "init")
    folder = path.resolve().parents[min(above, len(path.resolve().parents) - 1)]
    values = {"folder": str(folder), "path": str(path.resolve()), "name": match["name"]}
    code = _REQUIRE.format_map({k: _quoted(v) for k, v in {**values, "last": parts[-1]}.items()})
    return [Block(1, 1, LUA, (Line(1, code),), role=Role.SETUP)]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

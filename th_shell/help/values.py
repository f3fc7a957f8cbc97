"""The text of ``? x`` on a value, from the facts that the engine gives."""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence

from th_shell.entry import Entry
from th_shell.files import lines_of_file
from th_shell.lines import lua_lines
from th_shell.paragraphs import MOST_LINES, counted, line_width
from th_shell.runtime.shell import Facts

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def value_text(name: str, facts: Facts) -> str:
    """Return the text on a value of a kind other than a function."""
    category = str(facts["category"])
    if category in ("tensor", "storage"):
        return _numbers(name, facts, _tensor if category == "tensor" else _storage)
    if category == "table":
        return _table(name, facts)
    if category == "string":
        return _string(name, facts)
    if "text" in facts:
        kind = "" if category == "userdata" else f"{category} "
        return f"{name}: {kind}{facts['text']}\n"
    return f"{name}: {facts.get('class') or category}\n"


def brief(facts: Facts) -> str:
    """Return what a value is in a few words: 'DoubleTensor 2x3', 'table, 2 entries', '7'."""
    category, kind = str(facts.get("category", "")), str(facts.get("class", ""))
    if category == "tensor":
        return f"{kind.removeprefix('torch.')} {facts['sizes'] or 'empty'}"
    if category == "storage":
        return f"{kind.removeprefix('torch.')} {facts['elements']}"
    if category == "table":
        entries = int(facts["entries"])
        return f"{kind or 'table'}, {entries:,} {'entry' if entries == 1 else 'entries'}"
    return textwrap.shorten(str(facts.get("text", "")), 40, placeholder=" …") or kind or category


def _memory(count: int) -> str:
    """Return a number of bytes as text: exact below 10,000, else in the largest unit that fits."""
    if count < 10_000:
        return counted(count, "byte")
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.3g} {_UNITS[unit]}" if amount < 999.5 else f"{amount:.0f} {_UNITS[unit]}"


def _numbers(name: str, facts: Facts, lines_of: Callable[[str, Facts], list[str]]) -> str:
    lines = [*lines_of(name, facts), *_statistics(facts)]
    return "\n  ".join(lines) + "\n"


def _tensor(name: str, facts: Facts) -> list[str]:
    size = f"size {facts['sizes']}" if facts["sizes"] else "empty, without dimensions"
    lines = [f"{name}: {facts['class']}, {size}", _total(facts)]
    if facts["sizes"]:
        order = "contiguous" if facts["contiguous"] else "not contiguous"
        lines[1] += f"; strides {facts['strides']}, {order}"
    return lines + _place(facts)


def _total(facts: Facts) -> str:
    elements, width = int(facts["elements"]), int(facts["element_size"])
    total = f"{counted(elements, 'element')} of {counted(width, 'byte')}"
    return f"{total}: {_memory(elements * width)}"


def _place(facts: Facts) -> list[str]:
    if "storage" not in facts:
        return ["without a storage"]
    storage_size = int(facts["storage_size"])
    is_all = facts["offset"] == 1 and facts["elements"] == storage_size
    if facts.get("beyond"):
        return [
            f"reaches past the end of its storage, which has {counted(storage_size, 'element')}"
        ]
    part = "all" if is_all else f"from element {facts['offset']} on"
    place = f"storage {facts['storage']} with {counted(storage_size, 'element')}, {part}"
    return [place, *_sharing("shares its storage with", facts)]


def _sharing(what: str, facts: Facts) -> list[str]:
    """Return the line about the variables with the same elements, where there are any."""
    names = ", ".join(str(facts.get("shared") or "").split())
    return [textwrap.shorten(f"{what} {names}", 76, placeholder=" …")] if names else []


def _storage(name: str, facts: Facts) -> list[str]:
    first = f"{name}: {facts['class']}, size {facts['elements']}"
    return [first, _total(facts), *_sharing("holds the elements of", facts)]


def _statistics(facts: Facts) -> list[str]:
    looked_at = int(facts.get("looked_at", 0))
    if not looked_at:
        return []
    nans = int(facts["nans"])
    parts = [f"{what} {facts[what]:.6g}" for what in ("min", "max", "mean") if what in facts]
    parts.append(f"{nans} nan" if nans else "no nan")
    text = ", ".join(parts)
    if looked_at < int(facts["elements"]):
        text += f" (of {looked_at:,} elements, at equal distances)"
    return [text]


def _table(name: str, facts: Facts) -> str:
    entries, length = int(facts["entries"]), int(facts["length"])
    most = 1_000_000
    count = f"over {most:,} entries" if entries > most else f"{entries:,} entries"
    text = f"{name}: {facts.get('class') or 'table'}, " + count.replace("1 entries", "1 entry")
    if length:
        text += f", 1 to {length:,} among them"
    keys = str(facts["keys"]).split("\n")
    public = [key for key in keys if key and not key.startswith("_")]
    return text + (":" if public else "") + "\n" + listed_names(public)


def listed_names(names: Iterable[str]) -> str:
    """Return names in lines of a screen's width, in alphabetic order; of many the first ones."""
    text = " ".join(sorted(names, key=str.lower))
    lines = textwrap.wrap(text, line_width() - 2, break_long_words=False, break_on_hyphens=False)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = ["…"]
    return "".join(f"  {line}\n" for line in lines)


def _string(name: str, facts: Facts) -> str:
    length, text = int(facts["length"]), str(facts["text"])
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    cut = " …" if length > len(text.encode("utf-8", "surrogateescape")) else ""
    return f"{name}: string of {_memory(length)}: {quoted}{cut}\n"


# -- the source lines of the user's own functions


def function_text(facts: Facts, log: Sequence[Entry]) -> tuple[str, str]:
    """Return the place of a function's definition, and its lines with the comment above them.

    The lines are '' where they are no longer to be had. log: the inputs of the session.
    """
    source, first, last = str(facts["source"]), int(facts["first"]), int(facts["last"])
    if source.startswith("@"):
        place, lines = source[1:], lines_of_file(source[1:])
    elif source.startswith("="):
        place, lines = _input_lines(source[1:], first, last, log)
    else:  # what loadstring was given
        place, lines = "a text that was loaded", lua_lines(source)
    where = f"{place}, line {first}" if first == last else f"{place}, lines {first}-{last}"
    return where, _cut(lines, first, last)


def start_of_comment(lines: Sequence[str], end: int) -> int:
    """Return the index of the first line of the comment right above line `end`; `end` for none."""
    while end > 0 and lines[end - 1].lstrip().startswith("--"):
        end -= 1
    return end


def _input_lines(chunk: str, first: int, last: int, log: Sequence[Entry]) -> tuple[str, list[str]]:
    """Return the input that a function was typed in: by its number, or the last that it may be."""
    numbered = re.fullmatch(r"\[(\d+)\]", chunk)
    for entry in reversed(log):
        lines = lua_lines(entry.source.rstrip())
        if numbered and entry.number != int(numbered[1]):
            continue
        if (numbered or chunk == "stdin") and _defines(lines, first, last):
            return f"input {entry.number}", lines
    return chunk, []


def _defines(lines: Sequence[str], first: int, last: int) -> bool:
    if not first <= last <= len(lines):
        return False
    return "function" in lines[first - 1] and re.search(r"\bend\b", lines[last - 1]) is not None


def _cut(lines: Sequence[str], first: int, last: int) -> str:
    """Return the lines of a function and of the comment above it; '' where it is not there."""
    if not 1 <= first <= last <= len(lines) or "function" not in lines[first - 1]:
        return ""
    shown = list(lines[start_of_comment(lines, first - 1) : last])
    if len(shown) > MOST_LINES:
        left = len(shown) - MOST_LINES
        shown = [*shown[:MOST_LINES], f"... ({left} more lines)"]
    return "\n".join(shown)

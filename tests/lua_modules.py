"""The modules of Lua and what they import, read from their sources."""

import re
from functools import cache
from pathlib import Path

RUNTIME = Path(__file__).parent.parent / "runtime"


def _name(path: Path) -> str:
    inside = path.relative_to(RUNTIME).with_suffix("").parts
    return ".".join(inside[1:] if inside[0] == "lua" else inside)


#: The files of all modules, by the names under which they are imported.
MODULES = {
    _name(path): path
    for path in RUNTIME.rglob("*.lua")
    if path.name != "loader.lua" and path.parent.name != "export"
}

_TOKEN = re.compile(
    r"--\[\[.*?\]\]|--[^\n]*|(\[\[.*?\]\]|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\")", re.DOTALL
)
_IMPORT = re.compile(r"local ([\w, ]+) = import(?: ('[\w.]+')|\(([^)]*)\))$")


@cache
def code_of(path: Path, texts: bool = True) -> str:
    """Return the code of a Lua file without comments, its lines in their places.

    texts: whether texts stay; otherwise "" stands for each.
    """

    def shown(match: re.Match[str]) -> str:
        text = match[1] or ""
        return text if texts else '""' * bool(text) + "\n" * match[0].count("\n")

    return _TOKEN.sub(shown, path.read_text())


def import_lines(lines: list[str]) -> list[int]:
    """Return the numbers, from 0, of the lines that import modules."""
    return [number for number, line in enumerate(lines) if _IMPORT.match(line.rstrip())]


def imports_of(module: str) -> list[tuple[str, str]]:
    """Return the modules that a module imports at its top, each with its name in the file."""
    lines = code_of(MODULES[module]).splitlines()
    pairs: list[tuple[str, str]] = []
    for number in import_lines(lines):
        match = _IMPORT.match(lines[number].rstrip())
        assert match
        names = re.findall(r"'([\w.]+)'", match[2] or match[3])
        pairs += zip(match[1].split(", "), names, strict=True)
    return pairs


def loaded_by(module: str) -> set[str]:
    """Return the modules that a module names, at its top or where it needs them."""
    named = re.findall(r"'(\w+(?:\.\w+)+)'", code_of(MODULES[module]))
    return {name for name in named if name in MODULES} - {module}

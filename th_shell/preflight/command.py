"""``th --check FILE|FOLDER…``: reads Lua programs, and says what they need that is not here.

Nothing of them is run. The exit status is 0 if nothing was found, 1 if something was, and 2 where
there is nothing to read.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from th_shell.paragraphs import counted, cut
from th_shell.preflight.finding import Finding
from th_shell.preflight.knowledge import facts_of
from th_shell.preflight.programs import Modules, Program, UnreadableError, World, read
from th_shell.preflight.rules import findings
from th_shell.runtime.shell import Engine, LuaError
from th_shell.visible import UsageError, read_words, visible_line

NOTHING, SOMETHING, UNREADABLE = 0, 1, 2

_DEPTH = 10_000  # of Python's calls: LuaJIT allows 200 levels of nesting, each takes several
_CONDITION = 50  # characters of a condition that are shown
_SUBJECTS = 8  # in the summary


def run(words: Sequence[str], engine: Engine) -> int:
    """Do what the words behind --check say; return the exit status. Raises UsageError.

    engine: finds the modules that programs find.
    """
    names, said = read_words("check", words, {}, flags=("--json",))
    if not names:
        raise UsageError("--check needs files or folders")
    return check(names, engine, "--json" in said)


def check(words: Sequence[str], engine: Engine, as_json: bool = False) -> int:
    """Check files and folders, print what is found; return the exit status."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    programs: list[Program] = []
    problems = []
    for path in dict.fromkeys(lua_files(words)):
        try:
            programs.append(read(path, engine))
        except (UnreadableError, LuaError) as error:
            problems.append(f"th: {path}: {error}")
    tops = [Path(), *(Path(word) for word in words if os.path.isdir(word))]
    modules = Modules(engine, [program.path for program in programs], tops)
    world = World.of(programs, facts_of(engine), modules)
    found = [one for program in programs for one in findings(program, world)]
    if not programs and not problems:
        problems.append(f"th: no file *.lua in {' '.join(words)}")
    if programs or as_json:
        _print(_json(programs, found) if as_json else _text(programs, found), sys.stdout)
    _print(map(visible_line, problems), sys.stderr)
    if problems or not programs:
        return UNREADABLE
    return SOMETHING if found else NOTHING


def _print(lines: Iterable[str], stream: TextIO) -> None:
    # As bytes: names of files and programs may hold bytes that are no text in any encoding.
    stream.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
    stream.flush()


def lua_files(words: Iterable[str]) -> Iterator[Path]:
    """Yield the files that are named, and the files *.lua in the folders that are."""
    for word in words:
        if not os.path.isdir(word):
            yield Path(word)
            continue
        for folder, inner, names in os.walk(word):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            yield from (Path(folder, name) for name in sorted(names) if name.endswith(".lua"))


def _text(programs: Sequence[Program], found: Sequence[Finding]) -> Iterator[str]:
    for one in found:
        yield visible_line(f"{one.path}:{one.line}:{one.column}: {_message(one)}")
    files = counted(len(programs), "file")
    if not found:
        yield f"checked {files}: nothing is missing"
        return
    if len(found) > 1:
        yield ""
    counts = Counter(one.subject for one in found).most_common()
    listed = [f"{subject} {count}" for subject, count in counts[:_SUBJECTS]]
    if len(counts) > _SUBJECTS:
        listed.append(f"others {sum(count for _, count in counts[_SUBJECTS:])}")
    bad = len({one.path for one in found})
    places = counted(len(found), "place")
    yield visible_line(f"checked {files}: {places} in {bad:,} ({', '.join(listed)})")


def _message(one: Finding) -> str:
    if not one.condition:
        return one.message
    return f"{one.message} [if {cut(one.condition, _CONDITION)}]"


def _json(programs: Sequence[Program], found: Sequence[Finding]) -> Iterator[str]:
    entries = [
        {
            "file": str(one.path),
            "line": one.line,
            "column": one.column,
            "subject": one.subject,
            "what": one.what,
            "why": one.lack.why,
            "advice": one.lack.advice,
            "condition": one.condition,
        }
        for one in found
    ]
    yield json.dumps({"checked": len(programs), "found": entries}, indent=1)

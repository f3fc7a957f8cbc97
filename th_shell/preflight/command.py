"""``th --check FILE|FOLDER…``: reads Lua programs, and says what they need that is not here.

Nothing of them is run. The exit status is 0 if nothing was found, 1 if something was, and 2 where
there is nothing to read.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from th_shell.paragraphs import counted, cut
from th_shell.preflight.finding import NOTES, Finding
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
    names, options = read_words("check", words, {}, flags=("--json",))
    if not names:
        raise UsageError("--check needs files or folders")
    return check(names, engine, "--json" in options)


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
    all_findings = [finding for program in programs for finding in findings(program, world)]
    if not programs and not problems:
        problems.append(f"th: no file *.lua in {' '.join(words)}")
    if programs or as_json:
        _print(
            _json(programs, all_findings) if as_json else _text(programs, all_findings), sys.stdout
        )
    _print(map(visible_line, problems), sys.stderr)
    if problems or not programs:
        return UNREADABLE
    return SOMETHING if any(one.subject not in NOTES for one in all_findings) else NOTHING


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


def _text(programs: Sequence[Program], all_findings: Sequence[Finding]) -> Iterator[str]:
    for finding in all_findings:
        yield visible_line(f"{finding.path}:{finding.line}:{finding.column}: {_message(finding)}")
    files = counted(len(programs), "file")
    if not all_findings:
        yield f"checked {files}: nothing is missing"
        return
    if len(all_findings) > 1:
        yield ""
    counts = Counter(finding.subject for finding in all_findings).most_common()
    listed = [f"{subject} {count}" for subject, count in counts[:_SUBJECTS]]
    if len(counts) > _SUBJECTS:
        listed.append(f"others {sum(count for _, count in counts[_SUBJECTS:])}")
    bad = len({finding.path for finding in all_findings})
    places = counted(len(all_findings), "place")
    yield visible_line(f"checked {files}: {places} in {bad:,} ({', '.join(listed)})")


def _message(finding: Finding) -> str:
    if not finding.condition:
        return finding.message
    return f"{finding.message} [if {cut(finding.condition, _CONDITION)}]"


def _json(programs: Sequence[Program], all_findings: Sequence[Finding]) -> Iterator[str]:
    entries = [
        {
            "file": str(finding.path),
            "line": finding.line,
            "column": finding.column,
            "subject": finding.subject,
            "what": finding.what,
            "why": finding.lack.why,
            "advice": finding.lack.advice,
            "condition": finding.condition,
        }
        for finding in all_findings
    ]
    yield json.dumps({"checked": len(programs), "found": entries}, indent=1)

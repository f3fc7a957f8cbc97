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
from shutil import which
from typing import TextIO

from th_shell.paragraphs import counted, cut
from th_shell.preflight.finding import LUACHECK, NOTES, Finding
from th_shell.preflight.knowledge import facts_of
from th_shell.preflight.luacheck import findings_of_all
from th_shell.preflight.memory import keep, recall
from th_shell.preflight.programs import Modules, Program, UnreadableError, World
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
    """Check files and folders, print what is found; return the exit status.

    What was found in the same programs before is told again.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    paths = list(dict.fromkeys(lua_files(words)))
    tops = [Path(), *(Path(word) for word in words if os.path.isdir(word))]
    modules = Modules(engine, paths, tops)
    problems = [] if paths else [f"th: no file *.lua in {' '.join(words)}"]
    asked = words, as_json, which(LUACHECK)
    said = recall(asked, modules)
    if said is None:
        facts = facts_of(engine)
        programs, all_findings = findings_of_all(
            _read(paths, modules, engine, problems),
            facts,
            lambda programs: World.of(programs, facts, modules, modules.read),
        )
        said = _said(programs, all_findings, as_json)
        if not problems:
            keep(asked, modules, *said)
    _print(said[0], sys.stdout)
    _print("".join(f"{visible_line(problem)}\n" for problem in problems), sys.stderr)
    return UNREADABLE if problems else said[1]


def _read(
    paths: Sequence[Path], modules: Modules, engine: Engine, problems: list[str]
) -> Iterator[Program]:
    """Yield the programs in files; add lines on those that cannot be read to the problems."""
    for path in paths:
        try:
            yield modules.read(path, engine)
        except (UnreadableError, LuaError) as error:
            problems.append(f"th: {path}: {error}")


def _said(
    programs: Sequence[Program], all_findings: Sequence[Finding], as_json: bool
) -> tuple[str, int]:
    """Return what there is to say of programs, and the exit status."""
    tell = _json if as_json else _text
    lines = tell(programs, all_findings) if programs or as_json else ()
    is_bad = any(one.subject not in NOTES for one in all_findings)
    return "".join(f"{line}\n" for line in lines), SOMETHING if is_bad else NOTHING


def _print(text: str, stream: TextIO) -> None:
    # As bytes: names of files and programs may hold bytes that are no text in any encoding.
    stream.buffer.write(text.encode("utf-8", "surrogateescape"))
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
            "file": str(one.path),
            **{name: getattr(one, name) for name in ("line", "column", "subject", "what")},
            **vars(one.lack),
            "condition": one.condition,
        }
        for one in all_findings
    ]
    yield json.dumps({"checked": len(programs), "found": entries}, indent=1)

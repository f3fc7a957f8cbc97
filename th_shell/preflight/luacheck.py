"""The findings of luacheck (github.com/lunarmodules/luacheck) besides th's own, where it is there.

It runs on all processors while th reads further programs and searches them itself. It reads copies
in folders of their own: so it sees what an editor has not saved, and runs no `.luacheckrc` of
theirs, which would be a program.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from th_shell.preflight.finding import LUACHECK, Finding, Lack
from th_shell.preflight.knowledge import Facts
from th_shell.preflight.programs import Program, World
from th_shell.preflight.rules import findings

#: Without warnings of blanks and long lines.
_OPTIONS = "--no-config --no-color --codes --ranges --formatter plain --std luajit --ignore 6"
_GROUP = 50  # programs that it reads at once
_PATIENCE = 60.0  # seconds that it may take for them
#: A warning; LuaJIT tells the errors of syntax.
_WARNING = re.compile(r"^(?:\./)?(\d+)\.lua:(\d+):(\d+)-(\d+): \(W(\d+)\) (.+)", re.M)
#: Warnings of a global that is read: th itself tells of packages, and what other programs define.
_UNDEFINED = ("112", "113")
_PLACE = attrgetter("line", "column")


def findings_of_all(
    read: Iterable[Program], facts: Facts, world_of: Callable[[Sequence[Program]], World]
) -> tuple[list[Program], list[Finding]]:
    """Return programs, and what is found in them in the order of their lines: luacheck's findings
    at other places than th's own.

    read: reads the programs. world_of: makes their world, whose facts these are.
    """
    programs: list[Program] = []
    outputs: list[Future[str]] = []
    reading = iter(read)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for group in iter(lambda: list(islice(reading, _GROUP)), []):
            outputs.append(pool.submit(_output, group, len(programs), facts))
            programs += group
        world = world_of(programs)
        found = [findings(program, world) for program in programs]
    lines = [program.source.split("\n") for program in programs]
    known = world.all_globals.names | facts.packages.keys()
    places = {(at, *_PLACE(one)) for at, own in enumerate(found) for one in own}
    for *numbers, code, why in _WARNING.findall("".join(output.result() for output in outputs)):
        at, line, column, end = map(int, numbers)
        what = "".join(lines[at][line - 1 : line])[column - 1 : end]
        if (at, line, column) not in places and not (code in _UNDEFINED and what in known):
            place, lack = (programs[at].path, line, column), Lack(why, f"see luacheck's W{code}")
            found[at].append(Finding(*place, LUACHECK, what, lack, "", len(what)))
    return programs, [one for all_of_one in found for one in sorted(all_of_one, key=_PLACE)]


def _output(programs: Sequence[Program], first: int, facts: Facts) -> str:
    """Return what luacheck prints of programs, which it knows by their numbers from the first one.

    Where it does not run, that is ''.
    """
    command = which(LUACHECK)
    if command is None:
        return ""
    with suppress(OSError, subprocess.TimeoutExpired), TemporaryDirectory(prefix="th-") as folder:
        for number, program in enumerate(programs, first):
            data = program.source.encode("utf-8", "surrogateescape")
            Path(folder, f"{number}.lua").write_bytes(data)
        words = [command, ".", *_OPTIONS.split(), "--globals", *facts.globals]
        ended = subprocess.run(words, cwd=folder, input=b"", capture_output=True, timeout=_PATIENCE)
        return ended.stdout.decode("utf-8", "replace")
    return ""

"""Programs that others wrote for Torch7: they run on th, and print what the real Torch7 prints.

`programs.tsv` names each by repository, commit and folder, with the words behind `th`, the line of
shell that makes its small input, and the result beside the real Torch7. `programs_ledger.tsv` has
the exit status and a digest of the output, for nothing of theirs is in this repository: from the
real Torch7 where both agree, else from th. Times, addresses, progress and the last digits of
numbers do not count. A program runs in a copy of its files, with the rights of who starts it.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tests.outside.sources import HERE, Folder, Source, rows

#: The page that tells what runs.
PAGE = HERE.parents[1] / "th_shell" / "public_programs.md"
_INTRODUCTION = HERE / "programs_introduction.md"
_LEDGER = HERE / "programs_ledger.tsv"
_TH = HERE.parents[1] / "scripts" / "th"
#: A program may take so many seconds.
_SECONDS = 300
#: A file that it writes may have so many blocks of 512 bytes.
_BLOCKS = 100_000
_MASKED = [
    (re.compile(rb"\x1b\[[0-9;]{0,20}[A-Za-z]"), b""),
    (re.compile(rb"Tensor of size"), b"Tensor of dimension"),  # as the manual has it
    (re.compile(rb"/[\w./@+-]{1,200}/(?:Tester\.lua:\d{1,9}: ?)?"), b""),  # where packages are
    (re.compile(rb"\blua_\w{6}\b"), b"TEMPORARY"),
    (re.compile(rb"\b0x[0-9a-f]+"), b"ADDRESS"),
    (re.compile(rb"\b(?:[A-Z][a-z]{2} ){2}[ \d]\d \d\d:\d\d:\d\d \d{4}"), b"DATE"),
    (re.compile(rb"\b\d{1,9}(?:\.\d{1,20})?(?:e-\d\d)? ?(?:ms|s|secs?|seconds?)\b"), b"TIME"),
    (re.compile(rb"(?i)(\btimer?\b[^\n\d]{0,40})\d[\d.e-]{0,30}"), rb"\1TIME"),
]
_NUMBER = re.compile(rb"\d{1,20}\.\d{4,20}(?:e[-+]\d\d)?")


@dataclass(frozen=True)
class Program:
    """A program of a repository."""

    source: Source
    #: The folder in the repository where it runs.
    folder: str
    #: What stands behind `th`.
    words: str
    #: A line of shell that makes what it reads, in that folder, or ''; `$TH` is th.
    prepare: str
    #: `same` and the like, as the page's introduction tells.
    result: str
    remark: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.source.repository, self.folder, self.words)))

    @property
    def runs(self) -> bool:
        """Tell whether it gives on th what it gives on the real Torch7."""
        return self.result.startswith(("same", "needs"))

    @property
    def is_unordered(self) -> bool:
        """Tell whether it prints in the order of pairs(), which is another one at each start."""
        return "order of pairs" in self.result


def listed_programs() -> list[Program]:
    """Return the programs of `programs.tsv`."""
    return [
        Program(Source(row.pop("repository"), row.pop("commit")), **row)
        for row in rows("programs.tsv")
    ]


@dataclass(frozen=True)
class Output:
    """What a program printed, without what may change, and its exit status."""

    status: str
    text: bytes

    @property
    def digest(self) -> str:
        """Return a digest of the text."""
        return hashlib.sha256(self.text).hexdigest()[:10]

    def differences(self, other: Output) -> str:
        """Return the lines in which another output differs."""
        one, two = (each.text.decode(errors="replace").split("\n") for each in (self, other))
        return "\n".join(difflib.unified_diff(one, two, lineterm="", n=1))


def compare(folder: Folder, only: str, update: bool, torch7: str) -> int:
    """Run the programs that have a word in their names; return how many became worse.

    The changes are printed; with update, the ledger and the page are written anew. Where torch7 is
    the command of the real Torch7's shell, where th differs from it is printed as well.
    """
    programs = listed_programs()
    ledger = {row["program"]: row for row in rows(_LEDGER.name)} if _LEDGER.exists() else {}
    worse = 0
    for program in (each for each in programs if only in str(each)):
        output = run(folder, program, str(_TH))
        was = ledger.get(str(program), {"status": "new", "digest": "", "by": ""})
        if (was["status"], was["digest"]) != (output.status, output.digest):
            worse += program.runs and was["status"] != "new"
            print(f"{program}: {was['status']} -> {output.status}", flush=True)
            was = {"by": "th"}
        if torch7:
            real = run(folder, program, torch7)
            was["by"] = "Torch7" if real == output else "th"
            print(f"{program}: {real.status}, {output.status}\n{real.differences(output)}")
        now = {"program": str(program), "status": output.status, "digest": output.digest}
        ledger[str(program)] = now | {"by": was["by"]}
    if update:
        found = [ledger[name] for name in map(str, programs) if name in ledger]
        lines = [["program", "status", "digest", "by"], *(list(row.values()) for row in found)]
        _LEDGER.write_text("".join("\t".join(line) + "\n" for line in lines))
        PAGE.write_text(page())
    return worse


def run(folder: Folder, program: Program, th: str) -> Output:
    """Return what a program gives on a shell, in a new copy of its repository."""
    tree = folder.tree(program.source)
    with tempfile.TemporaryDirectory(dir=folder.results) as place:
        shutil.copytree(tree, place, symlinks=True, dirs_exist_ok=True)
        printed = Path(place) / "th.printed"
        with open(printed, "wb") as file:
            status = _status(program, [th, *shlex.split(program.words)], folder, place, file)
        text = masked(printed.read_bytes(), place)
        return Output(status, b"\n".join(sorted(text.split())) if program.is_unordered else text)


def _status(
    program: Program, command: list[str], folder: Folder, place: str, output: BinaryIO
) -> str:
    """Run the preparation of a program and a command in a copy; return the exit status."""
    environment = {"HOME": place, "TH": str(_TH), "OMP_NUM_THREADS": "1"}
    places = (".", folder.path / "lua" / "th" / "lua")
    environment["LUA_PATH"] = ";".join(f"{at}/?.lua;{at}/?/init.lua" for at in places) + ";;"
    before = f"ulimit -f {_BLOCKS}; cd {shlex.quote(f'{place}/{program.folder}')}"
    prepare = f"{{ {program.prepare or ':'}; }} > /dev/null"
    line = f"{before} && {prepare} && exec {shlex.join(command)}"
    process = subprocess.Popen(
        ["sh", "-c", line],
        env=folder.environment() | environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return str(process.wait(_SECONDS))
    except subprocess.TimeoutExpired:
        return "too long"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def masked(text: bytes, place: str) -> bytes:
    """Return a program's output without what may change from run to run, or by machine."""
    lines = text.replace(place.encode(), b"PLACE").replace(b"\r", b"\n").split(b"\n")
    text = b"\n".join(line for line in lines if line and b"\b" not in line)  # no progress bars
    for pattern, mask in _MASKED:
        text = pattern.sub(mask, text)
    return _NUMBER.sub(_rounded, text)


def _rounded(number: re.Match[bytes]) -> bytes:
    """Return four digits of a number; halves are rounded up, whatever its last digits are."""
    return f"{float(f'{float(number[0]):.9g}') * (1 + 1e-12):.4g}".encode()


def page() -> str:
    """Return the text of the page that tells what runs."""
    programs = listed_programs()
    counts = Counter(program.result.partition(":")[0] for program in programs)
    lines = [f"- {count} {result}" for result, count in counts.most_common()]
    lines += ["", "| program | commit | what runs | result | remark |", "|---|---|---|---|---|"]
    for program in sorted(programs, key=lambda program: str(program).lower()):
        source = program.source
        place = "/".join(filter(None, (source.repository, program.folder)))
        cells = (place, source.commit[:8], f"`th {program.words}`", program.result, program.remark)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return f"{_INTRODUCTION.read_text()}\n" + "\n".join(lines) + "\n"

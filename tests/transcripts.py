"""Transcripts: small programs with what the real Torch7, or the real PyTorch, printed for them.

A transcript is a text file of entries:

    # a heading; '#! reason' says why our answer to the next entry is expected to differ
    > the program's first line
    . its further lines
    what it printed; an error as 'error: message', without positions in source files

Each program runs on its own; the values of an expression are printed. To record the answers
of a real Torch7 anew: python tests/transcripts.py path/to/th file.txt ... (a program that
kills it is dropped). Where the real PyTorch is installed, `pytorch` in place of the path
records what that answers to programs in Python.
"""

import ast
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.data_files import data

FOLDER = Path(__file__).parent / "runtime" / "transcripts"

#: Entries that are one test: each test takes some time of its own.
_GROUP = 25


@dataclass
class Entry:
    """One program: its heading lines, source, what the reference printed, and where it stands."""

    remarks: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def text(self) -> str:
        """The entry as it stands in its file."""
        first, *rest = self.source
        lines = [*self.remarks, f"> {first}", *(f". {line}" for line in rest), *self.printed]
        return "\n".join(lines).rstrip() + "\n"

    @property
    def reason(self) -> str | None:
        """Why our answer is expected to differ; None where it must agree."""
        marks = [line[2:].strip() for line in self.remarks if line.startswith("#!")]
        return marks[0] if marks else None


def read(path: Path) -> list[Entry]:
    """The entries of a transcript."""
    entries: list[Entry] = []
    remarks: list[str] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("> "):
            entries.append(Entry(remarks, [line[2:]], [], number))
            remarks = []
        elif line.startswith("#"):
            remarks.append(line)
        elif line.startswith(". ") and not entries[-1].printed:
            entries[-1].source.append(line[2:])
        elif entries:
            entries[-1].printed.append(line)
    return entries


def programs(path: Path) -> list[tuple[str, str]]:
    """Return the programs of a transcript, each with what it printed."""
    return [("\n".join(e.source), "\n".join(e.printed).rstrip("\n")) for e in read(path)]


def cases(name: str, folder: Path = FOLDER) -> list[object]:
    """A transcript's entries in groups, the parameters of a test that asserts `wrong`."""
    import pytest  # which recording does not need

    entries = read(folder / f"{name}.txt")
    groups = (entries[i : i + _GROUP] for i in range(0, len(entries), _GROUP))
    return [pytest.param(group, id=f"{name}:{group[0].line}") for group in groups]


def wrong(entries: Sequence[Entry], answer: Callable[[str], str]) -> str:
    """What is not as it should be, as a transcript of our answers; '' where all is.

    An entry whose answer is expected to differ must differ.
    """
    found = []
    for entry in entries:
        ours, expected = normal(answer("\n".join(entry.source))), normal("\n".join(entry.printed))
        if (ours == expected) == bool(entry.reason):
            remarks = [*entry.remarks, f"# line {entry.line}"]
            found.append(Entry(remarks, entry.source, ours.splitlines()).text)
    return "\n".join(found)


def normal(text: str) -> str:
    """What is compared: without source positions, addresses, colours, spaces at ends of lines."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r" at /\S+?:\d+", "", text)
    text = re.sub(r"(^|\t|error: |> )(?:\S*\w+\.lua:\d+: |lua:\d+: )+", r"\1", text, flags=re.M)
    text = re.sub(r"\[(torch\.\w*Tensor) of size", r"[\1 of dimension", text)
    text = re.sub(r"(: )(?:0x[0-9a-f]+|builtin#\d+)", r"\1ADDRESS", text)
    text = text.replace("-nan", "nan")
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


_DRIVER = data(__file__, "_DRIVER")


def ask(engine: list[str], sources: list[str]) -> list[str]:
    """What an engine prints for each program; 'DIED' where it did not survive one."""
    answers: dict[int, str] = {}
    first = 1
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    with tempfile.TemporaryDirectory() as folder:
        listing, driver = Path(folder) / "sources.lua", Path(folder) / "driver.lua"
        quoted = ("".join(f"\\{byte:03d}" for byte in s.encode()) for s in sources)
        listing.write_text("return {" + ",\n".join(f'"{q}"' for q in quoted) + "}")
        while first <= len(sources):
            head = f"local SOURCES, FIRST = {str(listing)!r}, {first}\n"
            driver.write_text(head + _DRIVER)
            run = subprocess.run(
                [*engine, str(driver)], cwd=folder, env=environment, capture_output=True
            )
            parts = re.split(r"\n?\x01(\d+)\n", run.stdout.decode("utf-8", "surrogateescape"))
            found = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
            finished = found.pop(0, None) is not None
            answers.update(found)
            if finished:
                break
            first = max(found, default=first) + 1
            answers[first - 1] = "DIED"
    return [answers[i + 1] for i in range(len(sources))]


def python_answer(program: str, names: dict[str, Any]) -> str:
    """Return what a program in Python prints, without warnings; errors as `Type: text`."""
    printed: list[str] = []
    names = dict(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for node in ast.parse(program).body:
                if isinstance(node, ast.Expr):
                    value = eval(compile(ast.Expression(node.value), "program", "eval"), names)
                    printed.append(repr(value))
                else:
                    exec(compile(ast.Module([node], []), "program", "exec"), names)
        except Exception as error:
            printed.append(f"{type(error).__name__}: {error}")
    return "\n".join(printed).rstrip("\n")


def _pytorch_answers(sources: list[str]) -> list[str]:
    """Return what the installed PyTorch answers to each program."""
    import numpy
    import torch  # type: ignore[import-not-found, unused-ignore]

    answers = []
    for source in sources:
        torch.manual_seed(0)
        answers.append(python_answer(source, {"torch": torch, "np": numpy}))
    return answers


def main() -> None:
    """Record anew: the engine, then the transcripts."""
    engine, *paths = sys.argv[1:]
    for path in map(Path, paths):
        entries = read(path)
        sources = ["\n".join(entry.source) for entry in entries]
        if engine == "pytorch":
            answers = _pytorch_answers(sources)
        else:
            answers = [normal(answer) for answer in ask([engine], sources)]
        for entry, answer in zip(entries, answers, strict=True):
            entry.printed = answer.splitlines()
        survived = [entry for entry in entries if entry.printed[-1:] != ["DIED"]]
        path.write_text("\n".join(entry.text for entry in survived))


if __name__ == "__main__":
    main()

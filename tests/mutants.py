"""Shows how many errors in single lines of the programs the tests of their rooms find.

    .venv/bin/python -m tests.mutants [COUNT] [--seed N] [--seconds S]

Each error is one line of runtime/ or th_shell/ with another operator, constant or condition, drawn
at random; the tests of its room, which mirror its path, then run on a copy of the project and must
fail. `tests.ways.mutants` does this for the ways to compute one call, with their comparison.
"""

import argparse
import ast
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.data_files import data

TOP = Path(__file__).parents[1]
ROOTS = ("runtime", "th_shell")


@dataclass(frozen=True)
class Mutant:
    """A line of a file, below the project's folder, with another text. Lines count from 0."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line + 1}: {self.text.strip()}"

    def write(self, top: Path) -> None:
        """Write the line to the copy of the project in a folder."""
        path = top / self.path
        lines = path.read_text().splitlines(keepends=True)
        lines[self.line] = self.text + "\n"
        path.write_text("".join(lines))


def is_found(mutant: Mutant, tests: Sequence[str], seconds: float = 3600, **added: str) -> bool:
    """Whether pytest, with arguments, fails on a copy of the project that has the mutant.

    seconds: when tests that do not end count as failed. added: variables of the environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder) / "th"
        shutil.copytree(TOP, top, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__"))
        mutant.write(top)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            *tests,
        ]
        try:
            run = subprocess.run(
                command,
                cwd=top,
                env={**os.environ, "PYTHONPATH": str(top), **added},
                capture_output=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return True  # tests that do not end tell of an error, too
    return run.returncode != 0


# -- errors in single lines

_PYTHON = data(__file__, "_PYTHON")
_LUA = data(__file__, "_LUA")
_LUA_WORD = re.compile(
    r"(?<![\w.'\"])(?:and|or|not|true|false|\d+)(?![\w.'\"])| (?:[<>]=?|[=~]=|[+-]) "
)


def _changed(word: str, changes: dict[str, str]) -> str | None:
    return str(int(word) + 1) if word.isdecimal() else changes.get(word)


def _python_changes(text: str) -> Iterator[tuple[int, str]]:
    """Numbers of lines, and what they become."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        word = _changed(token.string, _PYTHON)
        if word is None or token.type not in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            continue
        row, line = token.start[0] - 1, lines[token.start[0] - 1]
        changed = line[: token.start[1]] + word + line[token.end[1] :]
        with_change = "\n".join([*lines[:row], changed, *lines[row + 1 :]])
        if _compiles(with_change):
            yield row, changed


def _compiles(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _lua_changes(text: str) -> Iterator[tuple[int, str]]:
    """Numbers of lines, and what they become; comments and most strings are left alone."""
    for row, line in enumerate(text.splitlines()):
        code = line.partition("--")[0]
        for match in _LUA_WORD.finditer(code):
            word = match[0].strip()
            changed = _changed(word, _LUA)
            if changed is not None:
                yield (
                    row,
                    line[: match.start()] + match[0].replace(word, changed) + line[match.end() :],
                )


_CHANGES: dict[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    ".py": _python_changes,
    ".lua": _lua_changes,
}


def _drawn(count: int, seed: int) -> Iterator[Mutant]:
    """So many, one of a line; long files are drawn from as often as they have lines."""
    draw = random.Random(seed)
    paths = [p for root in ROOTS for p in sorted((TOP / root).rglob("*")) if p.suffix in _CHANGES]
    sizes = [path.stat().st_size for path in paths]
    while count:
        path = draw.choices(paths, sizes)[0]
        found = list(_CHANGES[path.suffix](path.read_text()))
        if found:
            yield Mutant(path.relative_to(TOP), *draw.choice(found))
            count -= 1


def _tests(path: Path) -> list[str]:
    """The tests of a module's room: those in its folder, or those beside the folders.

    Lua files, and what they ask Python for, have tests in both.
    """
    root, room = path.parts[:2]
    folder, beside = f"tests/{root}/{room}", sorted((TOP / "tests" / root).glob("test_*.py"))
    found = [folder] if (TOP / folder).is_dir() else []
    if not found or room in ("lua", "host"):
        found += [str(test.relative_to(TOP)) for test in beside]
    return found


def main() -> int:
    """Run the command; always returns 0: the count is what it tells."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("count", nargs="?", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="for the tests of one (600)")
    options = parser.parse_args()
    found = 0
    for mutant in _drawn(options.count, options.seed):
        was_found = is_found(mutant, _tests(mutant.path), options.seconds)
        found += was_found
        print("found    " if was_found else "not found", mutant, flush=True)
    print(f"{found} of {options.count} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())

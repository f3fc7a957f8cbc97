"""Programs and what PyTorch 2.15 answered, in the files of the folder `recorded`.

A program stands behind ``>>>`` and ``...``, the answer below it: the value of each expression as it
is printed, or the error. ``python answers.py FILE…``, run where the real PyTorch is installed,
writes the answers anew; keep of them only what belongs to your programs.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recorded"


def programs(path: Path) -> Iterator[tuple[str, str]]:
    """The programs of a file, each with its answer."""
    text = "\n" + path.read_text(encoding="utf-8")
    for entry in text.split("\n>>> ")[1:]:
        lines = entry.split("\n")
        count = 1
        while count < len(lines) and lines[count].startswith("... "):
            count += 1
        program = [lines[0], *(line.removeprefix("... ") for line in lines[1:count])]
        yield "\n".join(program), "\n".join(lines[count:]).rstrip("\n")


def answer(program: str, names: dict[str, Any]) -> str:
    """What a program prints at a prompt; errors as their type and text, without warnings."""
    found: list[str] = []
    names = dict(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for node in ast.parse(program).body:
                if isinstance(node, ast.Expr):
                    value = eval(compile(ast.Expression(node.value), "program", "eval"), names)
                    found.append(repr(value))
                else:
                    exec(compile(ast.Module([node], []), "program", "exec"), names)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return "\n".join(found).rstrip("\n")


def _record(path: Path) -> None:
    import numpy
    import torch  # type: ignore[import-not-found, unused-ignore]

    entries = []
    for program, _ in programs(path):
        torch.manual_seed(0)
        shown = "\n... ".join(program.split("\n"))
        entries.append(f">>> {shown}\n{answer(program, {'torch': torch, 'np': numpy})}\n")
    path.write_text("\n".join(entries), encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        _record(Path(argument))

"""Times steps of nets in nn, against the same nets in PyTorch and in the real Torch7, in turn.

    scripts/bench nn [--rows PATTERN] [--threads N] [--rounds N] [--torch7 COMMAND] [PYTHON]

PYTHON is an interpreter with PyTorch, COMMAND runs a Lua file in Torch7; both are left out of the
table where they are not given. nn and, for some rows, nngraph, optim and rnn have to be installed.
Printed are milliseconds of a step, and the ratios to theirs: with one thread, which is what all use
by default, of the processor, with more by the wall's clock; the best of rounds, in which all have
their turn. The rows are in `nn.lua`, and those of PyTorch in `nn_torch.py`.
"""

from __future__ import annotations

import argparse
import math
import re
import shlex
import subprocess
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_SECONDS = 0.3  # of a round
_ROW = re.compile(r"^rows\['(.*)'\]", re.MULTILINE)


class _Engine:
    """A process that times rows."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def time(self, row: str, kind: str, clock: str) -> float:
        """Milliseconds of a step; nan where there is none, which is told."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(f"{row}\t{kind}\t{clock}\t{_SECONDS}", file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().rstrip("\n")
        try:
            return float(answer)
        except ValueError:
            print(f"{self.name}: {answer or 'ended'}")
            return math.nan


def main(words: list[str]) -> None:
    """Print the table, and the geometric means of the ratios."""
    options = _parsed(words)
    clock = "cpu" if options.threads == 1 else "wall"
    engines = _engines(options)
    others = [engine.name for engine in engines[1:]]
    print(f"{'':40}" + "".join(f"{e.name:>10}" for e in engines) + "   to " + ", ".join(others))
    for kind in ("Float", "Double"):
        ratios: list[list[float]] = [[] for _ in others]
        for row in _ROW.findall((_HERE / "nn.lua").read_text()):
            if not re.search(options.rows, f"{row} {kind}"):
                continue
            rounds = [[e.time(row, kind, clock) for e in engines] for _ in range(options.rounds)]
            best = [min(times) for times in zip(*rounds, strict=True)]
            shown = "".join(f"{t:10.3f}" for t in best)
            for at, there in enumerate(best[1:]):
                ratios[at].append(best[0] / there)
                shown += f"{best[0] / there:8.2f}"
            print(f"{row + ' ' + kind:40}{shown}", flush=True)
        _print_means(kind, others, ratios)


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench nn")
    parser.add_argument("--rows", default="", help="those whose names and types match a pattern")
    parser.add_argument("--threads", type=int, default=1, help="that each uses (1)")
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts (5)")
    parser.add_argument("--torch7", metavar="COMMAND", help="a command that runs a file in Torch7")
    parser.add_argument("python", nargs="?", metavar="PYTHON", help="that has PyTorch")
    return parser.parse_args(words)


def _engines(options: argparse.Namespace) -> list[_Engine]:
    threads, program = str(options.threads), str(_HERE / "nn.lua")
    engines = [_Engine("th", [str(_HERE.parent / "th"), program, threads])]
    if options.python:
        command = [options.python, "-I", str(_HERE / "nn_torch.py"), threads]  # no torch of ours
        engines.append(_Engine("PyTorch", command))
    if options.torch7:
        engines.append(_Engine("Torch7", [*shlex.split(options.torch7), program, threads]))
    return engines


def _print_means(kind: str, others: list[str], ratios: list[list[float]]) -> None:
    for other, values in zip(others, ratios, strict=True):
        logarithms = [math.log(r) for r in values if math.isfinite(r)]
        if logarithms:
            mean = math.exp(sum(logarithms) / len(logarithms))
            print(f"{kind} to {other}: geometric mean of {len(logarithms)} {mean:.2f}")

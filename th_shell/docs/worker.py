"""The child process of one run of a page: runs its inputs and writes down what came out.

Started by `evaluation` with the path of a plan. What the inputs print is captured at the
level of file descriptors, so that Lua, C, Python and programs that are started stay in order.
Before each input a 'start' record goes to the results, after it a 'done' record: where the
process dies, the last record tells at which input.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime import Engine, LuaError

__all__ = ["main"]

#: What is kept of one input's output, in bytes.
_LIMIT = 1 << 20

_BEGIN = "io.stdout:setvbuf('no') torch.manualSeed({seed})"
_NEW_BLOCK = b"torch.setdefaulttensortype('torch.DoubleTensor')"


@dataclass(frozen=True)
class _Run:
    """One run: the engine, the file that captures the output, the file of records."""

    engine: Engine
    capture: int
    results: int

    def position(self) -> int:
        self.engine.flush()
        sys.stdout.flush()
        return os.fstat(self.capture).st_size

    def record(self, **fields: Any) -> None:
        os.write(self.results, json.dumps(fields).encode() + b"\n")

    def step(self, step: dict[str, Any]) -> None:
        """Run one input and record its outcome."""
        start = self.position()
        self.record(event="start", index=step["index"], at=start)
        values: list[int] = []
        error = self._error(step, lambda: values.append(self.position()))
        end = self.position()
        text = os.pread(self.capture, min(end - start, _LIMIT), start)
        printed = text[: values[0] - start] if values else text
        self.record(
            event="done",
            index=step["index"],
            output=text.decode("utf-8", "surrogateescape"),
            printed=printed.decode("utf-8", "surrogateescape"),
            error=error,
        )

    def _error(self, step: dict[str, Any], before_values: Callable[[], None]) -> str | None:
        source = step["source"]
        if step["shell"]:
            subprocess.run(["sh", "-c", source], check=False)
            return None
        try:
            encoded = source.encode("utf-8", "surrogateescape")
            self.engine.evaluate(encoded, before_values=before_values)
        except LuaError as error:
            return error.message
        return None

    def new_block(self) -> None:
        """What a page's fence starts with: the default tensor type as it was."""
        try:
            self.engine.run(self.engine.compile(_NEW_BLOCK))
        except LuaError:
            pass  # the page has broken torch itself; its examples will tell


def _redirect(capture: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(capture, 1)
    os.dup2(capture, 2)


def main(plan_path: str) -> None:
    """Run the steps of a plan (see `evaluation`)."""
    plan = json.loads(Path(plan_path).read_text())
    flags = os.O_CREAT | os.O_RDWR | os.O_APPEND
    capture = os.open(plan["capture"], flags)
    results = os.open(plan["results"], flags)
    engine = Engine()
    engine.set_fill_pattern(plan["fill"])
    run = _Run(engine, capture, results)
    _redirect(capture)
    os.chdir(plan["folder"])
    run.engine.run(run.engine.compile(_BEGIN.format(seed=plan["seed"]).encode()))
    block = None
    for step in plan["steps"]:
        if step["block"] != block:
            run.new_block()
            block = step["block"]
        run.step(step)

"""The command ``th``: options, scripts, statements, and when to open the prompt."""

from __future__ import annotations

import os
import sys

from runtime import Engine, LuaError


def main(argv: list[str] | None = None) -> int:
    """Run th; the exit status."""
    args = sys.argv[1:] if argv is None else argv
    engine = Engine()
    engine.set_arguments(b"th", [os.fsencode(a) for a in args[1:]])
    try:
        engine.run(engine.compile_file(args[0]))
    except LuaError as error:
        engine.flush()
        print(error, error.traceback, sep="\n", file=sys.stderr)
        return 1
    return 0

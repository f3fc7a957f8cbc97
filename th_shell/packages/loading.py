"""Whether a package that was installed can be loaded: that runs it, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from th_shell.packages.place import search_tree, search_users_tree

_SECONDS = 60

# Starts the process; gets the folders of Python's modules, the tree, and the module.
_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from th_shell.packages.loading import main
main(*sys.argv[2:])
"""


def modules_of(name: str, files: Sequence[str]) -> list[str]:
    """The modules of a package that stand at the top of its tree, else what it is called."""
    names = [file[:-4].removesuffix("/init") for file in files if file.endswith(".lua")]
    return [module for module in names if "/" not in module] or [name]


def why_not(tree: str, module: str) -> str:
    """Why `require` of a module fails; '' where it does not."""
    with tempfile.TemporaryDirectory(prefix="th-install-") as empty:
        command = [sys.executable, "-I", "-c", _START, json.dumps(sys.path), tree, module]
        try:
            done = subprocess.run(
                command,
                cwd=empty,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"it takes longer than {_SECONDS} seconds"
    lines = done.stderr.strip().splitlines() or ["it ends the program"]
    return lines[-1] if done.returncode else ""


def main(tree: str, module: str) -> None:
    """Load a module; exit with the error in a line on the standard error."""
    from th_shell.runtime.shell import Engine, LuaError

    with Engine() as engine:
        search_tree(engine, tree)
        search_users_tree(engine)
        try:
            engine.require(os.fsencode(module))
        except LuaError as error:
            first, *more = error.message.split("\n")
            advice = next((line.strip() for line in more if line.startswith("\t'")), "")
            sys.exit(f"{first} {advice}" if advice else first.rstrip(":"))

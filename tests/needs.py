"""What some tests need and not every machine has, and the command that runs these tests.

scripts/check --torch [VERSION] [FOLDER] [ARGUMENTS…]

Tests say what they need by the mark `needs`: libraries of Python by their names, and nn, which is
taken to be there where the environment has WITH_NN. The command runs them with all of it: PyTorch
of this version, and nn from the checkouts in a folder, as `--reference` takes it, or as Lua or
`th --install` has it. Arguments go to pytest. The exit status is 1 where nn is not there.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.reference.running import Checkouts
from tests.reference.suites import SUITES
from th_shell.packages.place import users_tree

_TORCH = Path(__file__).parents[1] / "scripts" / "_torch"
_NN = next(suite for suite in SUITES if suite.name == "nn")
_MISSING = f"""\
nn is not here: give a folder with the checkouts {" and ".join(_NN.needs)}, as for --reference
(scripts/check --torch [VERSION] FOLDER), or install it (th --install nn)."""


def missing(names: Iterable[str]) -> list[str]:
    """Return which of the things that a test needs are not here."""
    return [name for name in names if not _is_here(name)]


def _is_here(name: str) -> bool:
    return bool(os.environ.get("WITH_NN")) if name == "nn" else find_spec(name) is not None


def main(arguments: Sequence[str]) -> int:
    """Run scripts/check --torch; returns the exit status."""
    words = list(arguments)
    version = words.pop(0) if words and words[0][:1].isdigit() else ""
    torch = f"torch=={version}" if version else "torch"
    has_nn = bool(words) and Path(words[0], "nn").is_dir()
    with tempfile.TemporaryDirectory(prefix="th-nn-") as work:
        wrong = _install(Path(words.pop(0)), Path(work)) if has_nn else ""
        tree = f"{work}/th/lua" if has_nn else users_tree()
        path = f"{tree}/?.lua;{tree}/?/init.lua;{os.environ.get('LUA_PATH', ';;')}"
        environment = {**os.environ, "LUA_PATH": path, "WITH_NN": "1"}
        ask = [sys.executable, "-I", "-m", "th_shell", "-e", "require 'nn'"]
        if wrong or subprocess.run(ask, env=environment, capture_output=True).returncode:
            print(wrong or _MISSING, file=sys.stderr)
            return 1
        return subprocess.run([_TORCH, torch, *words], env=environment).returncode


def _install(folder: Path, work: Path) -> str:
    """Install nn and what it needs from their checkouts; returns what went wrong."""
    checkouts = Checkouts(folder, work)
    return _MISSING if checkouts.missing(_NN) else checkouts.install([_NN])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

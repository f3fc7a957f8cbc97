"""Keeps Python from importing modules from the folder in which th is run."""

from __future__ import annotations

import os
import sys


def forget_folder() -> None:
    """Remove the working directory, which ``python -m`` puts first, from the module path.

    It is kept if it contains this package: that is how a checkout runs without installation.
    """
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False) or not sys.path:
        return
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = os.getcwd()
    if sys.path[0] in ("", here) and not os.path.samefile(here, top):
        del sys.path[0]

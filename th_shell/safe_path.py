"""Keeps Python from importing what happens to lie in the folder where th is run."""

from __future__ import annotations

import os
import sys

__all__ = ["forget_folder"]


def forget_folder() -> None:
    """Take the working directory, which ``python -m`` puts first, from the module path.

    It stays where this package itself lies in it: that is how a checkout runs uninstalled.
    """
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False) or not sys.path:
        return
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = os.getcwd()
    if sys.path[0] in ("", here) and not os.path.samefile(here, top):
        del sys.path[0]

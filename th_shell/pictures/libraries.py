"""The libraries that pictures need: th itself does without them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(module: str, what: str) -> Any:
    """A module. Raises ValueError with what is to be installed where it is missing."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("PIL", "pillow")
        raise ValueError(f"{what} needs {package}: pip install 'th-shell[pictures]'") from None

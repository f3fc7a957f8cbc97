"""Data of a test module in a file beside it: `test_x.toml` has what `test_x.py` asks for."""

from functools import cache
from pathlib import Path
from typing import Any

from th_shell.toml import loads


@cache
def _entries(path: Path) -> dict[str, Any]:
    return loads(path.read_text(encoding="utf-8"))


def data(module: str, name: str) -> Any:
    """Return an entry of a module's file: a text, a dictionary, or rows, as tuples.

    The name is that of the test whose parameters these are, or of the constant of the module.
    """
    entry = _entries(Path(module).with_suffix(".toml"))[name]
    if isinstance(entry, dict):
        return dict(entry)
    if isinstance(entry, str):
        return entry
    return [tuple(row) if isinstance(row, list) else row for row in entry]

"""Reads TOML files, with errors that name the file and the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from th_shell.docs.settings.settings import SettingsError
from th_shell.files import read_file
from th_shell.toml import TOMLDecodeError, loads


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises SettingsError."""
    try:
        return loads(read_file(path).decode())
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8") from None
    except TOMLDecodeError as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None

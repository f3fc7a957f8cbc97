"""Reads those options and settings of pytest for th-docs whose words may be wrong.

`pytest_entry` adds them, and asks for them before tests are collected; `plugin` uses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from th_shell.docs.command.sharding import Shard


def configured_shard(config: pytest.Config) -> Shard | None:
    """The part of the pages that is to run; None for all. Raises pytest.UsageError."""
    if not config.option.th_docs_shard:
        return None
    from th_shell.docs.command.sharding import Shard

    try:
        return Shard.parse(config.option.th_docs_shard)
    except ValueError as error:
        raise pytest.UsageError(f"--th-docs-shard: {error}") from None


def configured_timeout(config: pytest.Config) -> float | None:
    """The seconds that an example may take; None where the setting is not made.

    Raises pytest.UsageError.
    """
    try:
        text = str(config.getini("th_docs_timeout"))
    except ValueError:  # the entry point is not installed, and there is no such setting
        return None
    try:
        seconds = float(text) if text else None
    except ValueError:
        seconds = 0
    if seconds is not None and not seconds > 0:
        raise pytest.UsageError(f"th_docs_timeout: {text!r} is not a positive number of seconds")
    return seconds

"""What an engine gets before people type into it, at a prompt or in a notebook."""

from __future__ import annotations

from runtime import Engine
from th_shell.pictures.door import install

__all__ = ["MOST_SHOWN", "prepare"]

MOST_SHOWN = 1000  # elements; of larger values a part is shown


def prepare(engine: Engine, most_shown: int = MOST_SHOWN) -> None:
    """Let an engine show only a part of large values (0: all of them), draw pictures, and tell by
    `who()` what its variables share.
    """
    engine.set_elision(most_shown)
    engine.use_prompt_who()
    install(engine)

"""What an engine gets before people type into it, at a prompt or in a notebook."""

from __future__ import annotations

from runtime import Engine
from th_shell.config import Config
from th_shell.pictures.door import install


def prepare(engine: Engine, config: Config) -> None:
    """Let an engine show large values, and keep results, as the settings say; draw pictures; and
    tell by `who()` what its variables share.
    """
    engine.set_elision(config.elide)
    engine.keep_results(config.results)
    engine.use_prompt_who()
    install(engine)

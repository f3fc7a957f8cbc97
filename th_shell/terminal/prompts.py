"""The texts that stand before inputs."""

from __future__ import annotations

from th_shell.banner import PROMPT
from th_shell.session.session import Session

__all__ = ["prompt_text"]


def prompt_text(session: Session) -> str:
    """What stands before the next input."""
    if session.config.prompt_number:
        return f"[{len(session.log) + 1}] {PROMPT}"
    return PROMPT

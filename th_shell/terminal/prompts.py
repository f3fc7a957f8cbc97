"""The texts that stand before inputs."""

from __future__ import annotations

from th_shell.session.conversation import Conversation
from th_shell.terminal.language import Language


def prompt_text(session: Conversation, language: Language) -> str:
    """What stands before the next input."""
    if session.config.prompt_number:
        return f"[{len(session.log) + 1}] {language.prompt}"
    return language.prompt

"""`%cd` and `%pwd`: the current folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from th_shell.magics.errors import MagicError

if TYPE_CHECKING:
    from th_shell.session.conversation import Conversation


def change(session: Conversation, text: str) -> None:
    """Change the current folder, by default to the home folder, and tell it."""
    try:
        os.chdir(os.path.expanduser(text or "~"))
    except (OSError, ValueError) as error:
        raise MagicError.of(text, error) from None
    tell(session, "")


def tell(session: Conversation, _: str) -> None:
    """Tell the current folder."""
    try:
        session.write(os.getcwd() + "\n")
    except OSError as error:
        raise MagicError(f"the current folder: {error.strerror}") from None

"""The folder of the user's packages, and how `require` searches it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from th_shell.runtime.shell import Engine

_SEARCH = b"""
local tree = ...
package.path = ('%s;%s/?.lua;%s/?/init.lua'):format(package.path, tree, tree)
"""


def users_tree() -> str:
    """Return the folder that belongs to the user: `~/.local/share/th/lua`."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(home, "th", "lua")


def search_users_tree(engine: Engine) -> None:
    """Let `require` search the user's folder last, where there is one."""
    search_tree(engine, users_tree())


def search_tree(engine: Engine, tree: str) -> None:
    """Let `require` search a folder last, where there is one."""
    if os.path.isdir(tree):
        engine.call(engine.compile(_SEARCH), os.fsencode(tree))

"""An engine as what keeps variables in files, and loads modules anew whose files have changed."""

from __future__ import annotations

import os
from typing import Any

from th_shell.runtime.core.encoding import to_bytes, to_text
from th_shell.runtime.engine.lua_state import LuaState
from th_shell.runtime.errors import check


class Keeping:
    """Variables in files, and reloading. A variable is a local of the session or a global."""

    _lua: LuaState

    def save_variable(self, name: str, path: str) -> bool:
        """Write the value of a variable to a file, which is replaced when the new one is complete.

        Returns False where it has no value. Raises LuaError.
        """
        return _done(self._lua.call(b"save_variable", to_bytes(name), os.fsencode(path)))

    def load_variable(self, name: str, path: str) -> None:
        """Set a variable to what `save_variable` has written; its functions are loaded, too.

        Raises LuaError.
        """
        check(self._lua.call(b"load_variable", to_bytes(name), os.fsencode(path)))

    def set_variable(self, name: str, value: bytes) -> None:
        """Set a variable to a string."""
        self._lua.call(b"set_variable", to_bytes(name), value)

    def changed_modules(self) -> list[str]:
        """The required modules whose files have changed since they were loaded."""
        return list(filter(None, to_text(self._lua.call(b"reloading", b"changed")).split("\n")))

    def reload(self, name: str) -> bool:
        """Load a module anew, in place: see engine/reloading.lua.

        Returns False where no module of this name was loaded from a file of Lua. Raises LuaError:
        then the old module stays.
        """
        return _done(self._lua.call(b"reloading", b"reload", to_bytes(name)))


def _done(result: Any) -> bool:
    if result is not False:
        check(result)
    return result is not False

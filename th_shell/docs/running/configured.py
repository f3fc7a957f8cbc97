"""Makes what runs a page from the page's configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Engine, Starter, lua_engine
from th_shell.docs.settings.configuration import Configuration

__all__ = ["PROTOCOL", "configured_runner"]

#: Stands before a command that is an engine by itself.
PROTOCOL = "protocol:"

_SECONDS = 30.0
_MEMORY = 4 << 30


def configured_runner(starter: Starter, configuration: Configuration) -> Runner:
    """What runs the pages that have this configuration."""
    memory = _MEMORY if configuration.memory is None else configuration.memory
    engine = _engine(configuration.engine or (), memory, configuration.environment)
    seconds = configuration.layer.settings.timeout or _SECONDS
    prelude = _search_code(configuration) + (configuration.prelude or "")
    return Runner(starter, engine, seconds, prelude)


def _engine(words: Sequence[str], memory: int, environment: Mapping[str, str]) -> Engine:
    if not words:
        return Engine(environment=environment, memory=memory)
    if words[0] == PROTOCOL:
        return Engine(words[1:], environment, memory)
    return replace(lua_engine(words, memory), environment=environment)


def _search_code(configuration: Configuration) -> str:
    """Lua code that lets `require` search where the configuration says, on one line.

    An environment variable would be too late for a process that already has Lua.
    """
    paths = (("path", configuration.lua_path), ("cpath", configuration.lua_cpath))
    return "".join(
        f"package.{name} = {_literal(path + ';')} .. package.{name} "
        for name, path in paths
        if path
    )


def _literal(text: str) -> str:
    return '"' + "".join(f"\\{byte:03}" for byte in text.encode("utf-8", "surrogateescape")) + '"'

"""Makes what runs a page from the page's configuration."""

from __future__ import annotations

from dataclasses import replace

from th_shell.docs.reading.languages import LUA, PYTHON
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Engine, Starter, lua_engine, python_engine
from th_shell.docs.settings.configuration import INSTALLED, Configuration

_SECONDS = 30.0
_MEMORY = 4 << 30


def configured_runner(starter: Starter, configuration: Configuration) -> Runner:
    """What runs the pages that have this configuration."""
    preludes = configuration.preludes
    return Runner(
        starter,
        _engine(LUA, configuration),
        configuration.layer.settings.timeout or _SECONDS,
        _search_code(configuration) + preludes.get(LUA, ""),
        _engine(PYTHON, configuration),
        preludes.get(PYTHON, ""),
    )


def _engine(language: str, configuration: Configuration) -> Engine:
    command = configuration.engines.get(language)
    memory = _MEMORY if configuration.memory is None else configuration.memory
    if command and command.speaks_protocol:
        engine = Engine(command.words, memory=memory)
    elif language == PYTHON:
        has_face = configuration.torch != INSTALLED
        engine = python_engine(command.words if command else (), memory, has_face)
    else:
        engine = lua_engine(command.words, memory) if command else Engine(memory=memory)
    return replace(
        engine,
        environment=configuration.environment,
        sandboxed=bool(configuration.sandbox),
        read=configuration.sandbox_read,
    )


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

"""Makes a page's runner from its configuration, and fits it to the page's examples.

Which modules skipped and failing examples lack is decided where the page runs: by its engine.

Pages of a library often leave out its import, as those of PyTorch do: `torch` is there for them as
it is in Lua. So a page that uses such a name, and nowhere gives it a value, has it imported first.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from th_shell.docs.reading import lua_names
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Engine, LostError, Starter, lua_engine, python_engine
from th_shell.docs.settings.settings import INSTALLED, Configuration
from th_shell.patterns import pattern
from th_shell.python_syntax import ALL_NAMES, bound_names, read_names

_SECONDS = 30.0


def configured_runner(starter: Starter, configuration: Configuration) -> Runner:
    """Return the runner of the pages that have this configuration."""
    preludes = configuration.prelude
    return Runner(
        starter,
        {language: _engine(language, configuration) for language in (LUA, PYTHON)},
        configuration.layer.settings.timeout or _SECONDS,
        {**preludes, LUA: _search_code(configuration) + preludes.get(LUA, "")},
    )


def _engine(language: str, configuration: Configuration) -> Engine:
    """Return the engine of a language that a configuration asks for."""
    command = configuration.engine.get(language)
    if language == PYTHON:
        engine = python_engine(command or (), configuration.torch != INSTALLED)
    else:
        engine = lua_engine(command) if command else Engine()
    return replace(
        engine,
        environment=configuration.environment,
        memory=Engine.memory if configuration.memory is None else configuration.memory,
        sandboxed=bool(configuration.sandbox),
        read=configuration.sandbox_read,
    )


def _search_code(configuration: Configuration) -> str:
    """Return Lua code, on one line, that adds the configured search paths of `require`.

    An environment variable would be too late for a process that already has Lua.
    """
    paths = (("path", configuration.lua_path), ("cpath", configuration.lua_cpath))
    own = configuration.own_path
    last = f"package.path = package.path .. {_literal(f';{own}')} " if own else ""
    return last + "".join(
        f"package.{name} = {_literal(path + ';')} .. package.{name} "
        for name, path in paths
        if path
    )


def _literal(text: str) -> str:
    """Return a text as a string literal of Lua."""
    return '"' + "".join(f"\\{byte:03}" for byte in text.encode("utf-8", "surrogateescape")) + '"'


#: By languages, code that prints those of some modules which can be found, and loads none.
_FIND_MODULES = {
    "lua": """\
for name in ([[{names}]]):gmatch('%S+') do
  local found = package.loaded[name] or package.preload[name]
  for _, find in ipairs(package.loaders or package.searchers) do
    local ok, loader = pcall(find, name)
    found = found or (ok and type(loader) == 'function')
  end
  if found then print(name) end
end
""",
    "python": """\
import importlib.util
for name in '''{names}'''.split():
    try:
        found = importlib.util.find_spec(name)
    except ImportError:
        found = None
    if found:
        print(name)
""",
}


def with_marks_decided(examples: Sequence[Example], runner: Runner) -> list[Example]:
    """Return the examples without marks that do not hold."""
    settings = [example.settings for example in examples]
    marks = [mark for s in settings for mark in (s.skip, s.xfail) if mark]
    names = {name for mark in marks for name in mark.unless_module}
    modules_of_language = {
        language: found_modules(runner, language, names)
        for language in {example.language for example in examples}
    }
    return [
        decided(
            example,
            runner.engines[example.language].environment,
            modules_of_language[example.language],
        )
        for example in examples
    ]


def decided(example: Example, environment: Mapping[str, str], modules: Collection[str]) -> Example:
    """Return an example without marks that do not hold.

    environment: variables of the engine beside those of this process. modules: those it finds.
    """
    settings = example.settings
    if not (settings.skip or settings.xfail):
        return example
    variables = {**os.environ, **environment}
    skip, xfail = (
        mark if mark and mark.holds(variables, modules) else None
        for mark in (settings.skip, settings.xfail)
    )
    return replace(example, settings=replace(settings, skip=skip, xfail=xfail))


def found_modules(runner: Runner, language: str, names: Collection[str]) -> frozenset[str]:
    """Return those of some modules that a language's engine can load."""
    if not names:
        return frozenset()
    source = _FIND_MODULES[language].format(names=" ".join(sorted(names))).encode()
    try:
        with closing(runner.starter.start(runner.engines[language], 0)) as run:
            run.ask("begin")
            if prelude := runner.preludes.get(language):
                run.ask("run", prelude.encode("utf-8", "surrogateescape"), runner.seconds)
            return frozenset(run.ask("run", source, runner.seconds).output.split()) & set(names)
    except LostError:
        return frozenset()  # the examples of the page say how


#: By names, the modules that they are usual for.
_USUAL = {"torch": "torch", "np": "numpy"}


#: The packages of Torch7 that set globals of their names.
_PACKAGES = ("image", "nn", "nngraph", "optim")
#: A layer that is called to make a node, and what makes a module of nodes.
_OF_GRAPHS = pattern(r"\bnn\.(?:gModule\b|\w+\([^()\n]*\)[({])")


def with_imports(runner: Runner, examples: Sequence[Example]) -> Runner:
    """Return a runner that first imports the usual modules that the page uses without import."""
    if packages := missing_packages(examples):
        code = runner.preludes.get(LUA, "")
        code += "".join(f"pcall(require, '{name}') " for name in packages)
        runner = replace(runner, preludes={**runner.preludes, LUA: code})
    prelude = runner.preludes.get(PYTHON, "")
    missing = missing_imports(examples, prelude)
    if not missing:
        return runner
    modules = found_modules(runner, PYTHON, set(missing.values()))
    code = "".join(f"import {m} as {n}\n" for n, m in missing.items() if m in modules)
    return replace(runner, preludes={**runner.preludes, PYTHON: code + prelude})


def missing_packages(examples: Sequence[Example]) -> list[str]:
    """Return the packages of Torch7 that a page of Lua uses and never loads, nor what has them."""
    in_lua = [e for e in examples if e.language == LUA and e.kind is not Kind.TEXT]
    sources = [example.source for example in in_lua]
    sources += [hidden_code.text for example in in_lua for hidden_code in example.hidden]
    named = [name for name in _PACKAGES if any(f"{name}." in source for source in sources)]
    is_graph = any(map(_OF_GRAPHS.search, sources))
    if not named or any("require" in source for source in sources):
        return []
    bound = set[str]().union(*map(lua_names.bound_names, sources))
    used = set[str]().union(*map(lua_names.read_names, sources))
    used |= {"nngraph"} if is_graph else set()
    named += ["nngraph"] if is_graph and "nngraph" not in named else []
    return [name for name in named if name in used - bound]


def missing_imports(examples: Sequence[Example], prelude: str = "") -> dict[str, str]:
    """Return the usual modules, by their names, that the page uses and never imports."""
    in_python = [
        e for e in examples if e.language == PYTHON and e.kind is not Kind.TEXT and not e.module
    ]
    sources = [example.source for example in in_python]
    if not any(name in source for source in sources for name in _USUAL):
        return {}
    hidden = [hidden_code.text for example in in_python for hidden_code in example.hidden]
    used = set[str]().union(*map(read_names, sources))
    bound = set[str]().union(*map(bound_names, [prelude, *sources, *hidden]))
    missing = set() if ALL_NAMES in bound else used - bound
    return {name: module for name, module in _USUAL.items() if name in missing}

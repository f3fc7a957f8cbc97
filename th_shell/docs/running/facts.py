"""Decides the conditions of skipped and failing examples where a page runs: by its engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from th_shell.docs.reading.examples import Example
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Engine, LostError
from th_shell.docs.settings.conditions import Facts
from th_shell.docs.settings.settings import Mark

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


def with_conditions(examples: Sequence[Example], runner: Runner) -> list[Example]:
    """The examples without the marks whose conditions are false, and without other conditions."""
    marks = [mark for one in examples for mark in (one.settings.skip, one.settings.xfail)]
    conditions = [mark.condition for mark in marks if mark and mark.condition]
    if not conditions:
        return list(examples)
    names = frozenset(name for condition in conditions for name in condition.modules)
    facts = {
        language: _facts(runner, language, names)
        for language in {example.language for example in examples}
    }
    return [decided(example, facts[example.language]) for example in examples]


def _facts(runner: Runner, language: str, names: Collection[str]) -> Facts:
    """What is so where the examples of a language run. names: of the modules that are asked for."""
    engine = runner.engine_of(language)
    found = found_modules(runner, language, names)
    return Facts(sys.platform, _name(engine), {**os.environ, **engine.environment}, found)


def decided(example: Example, facts: Facts) -> Example:
    """The example without the marks whose conditions are false, and without other conditions."""
    settings = example.settings
    settings = replace(
        settings, skip=_if_true(settings.skip, facts), xfail=_if_true(settings.xfail, facts)
    )
    return replace(example, settings=settings)


def _if_true(mark: Mark | None, facts: Facts) -> Mark | None:
    if mark is None or mark.condition is None:
        return mark
    return replace(mark, condition=None) if mark.condition.holds(facts) else None


def _name(engine: Engine) -> str:
    return Path(engine.command[0]).name if engine.command else "th"


def found_modules(runner: Runner, language: str, names: Collection[str]) -> frozenset[str]:
    """Those of some modules which the programs of a language can load where they run."""
    code = _FIND_MODULES.get(language)
    if not names or not code:
        return frozenset()
    try:
        run = runner.starter.start(runner.engine_of(language), 0)
        try:
            run.ask("begin")
            if prelude := runner.prelude_of(language):
                run.ask("run", prelude.encode("utf-8", "surrogateescape"), runner.seconds)
            source = code.format(names=" ".join(sorted(names))).encode()
            return frozenset(run.ask("run", source, runner.seconds).output.split()) & set(names)
        finally:
            run.close()
    except LostError:
        return frozenset()  # the examples of the page say how

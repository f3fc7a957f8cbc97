"""The imports that pages of Python take for granted.

Pages of a library often leave out its import, as those of PyTorch do: `torch` is there for them as
it is in Lua. So a page that uses such a name, and nowhere gives it a value, has it imported first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.languages import PYTHON
from th_shell.docs.reading.python_syntax import ALL_NAMES, bound_names, read_names
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.facts import found_modules

#: By names, the modules that they are usual for.
_USUAL = {"torch": "torch", "np": "numpy"}


def with_imports(runner: Runner, examples: Sequence[Example]) -> Runner:
    """What runs a page, with the imports that its examples in Python take for granted."""
    missing = _missing(runner, examples)
    if not missing:
        return runner
    found = found_modules(runner, PYTHON, set(missing.values()))
    code = "".join(f"import {m} as {n}\n" for n, m in missing.items() if m in found)
    return replace(runner, python_prelude=code + runner.python_prelude)


def _missing(runner: Runner, examples: Sequence[Example]) -> dict[str, str]:
    """The modules, by their names, that the page uses and never imports."""
    own = [e for e in examples if e.language == PYTHON and e.kind is not Kind.TEXT]
    sources = [example.source for example in own]
    hidden = [one.text for example in own for one in example.hidden]
    used = set[str]().union(*map(read_names, sources))
    bound = set[str]().union(*map(bound_names, [runner.python_prelude, *sources, *hidden]))
    if ALL_NAMES in bound:
        return {}
    return {name: module for name, module in _USUAL.items() if name in used - bound}

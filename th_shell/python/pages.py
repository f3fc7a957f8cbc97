"""Runs the examples of a page at the Python prompt, and says whether each does as the page shows.

They are read and judged as th-docs does it. Each runs once, in the session itself: of what draws
random numbers, and of what builds on it, the layout of the numbers is compared.
"""

from collections.abc import Sequence
from importlib.util import find_spec

import th_shell.docs.library as docs
from th_shell.python.session import PythonSession, error_text, show_error
from th_shell.python_syntax import bound_names, called_names, read_names
from th_shell.session.output import OutputCopy
from th_shell.session.pages import Player, by_layout

#: Functions whose results differ from run to run, or that leave memory as it was.
_DRAWS = frozenset(
    "bernoulli choice empty empty_like multinomial normal perf_counter poisson rand rand_like "
    "randint randn randn_like random randperm sample shuffle time uniform".split()
)


class PythonPlayer(Player):
    """Runs the examples of one page of Python. copy: the output."""

    _session: PythonSession

    def __init__(
        self, session: PythonSession, examples: Sequence[docs.Example], copy: OutputCopy
    ) -> None:
        super().__init__(session, examples, _is_run, copy)
        self._drawn: set[str] = set()  # the names of what depends on chance

    def play(self) -> bool:
        """Run all examples, behind the usual imports that the page leaves out."""
        for name, module in docs.missing_imports(self._all).items():
            if name not in self._session.namespace and find_spec(module):
                statement = f"import {module}" + (f" as {name}" if name != module else "")
                self._write(self._session.echo(statement))
                self._session.evaluate(statement)
        return super().play()

    def _run(self, example: docs.Example) -> docs.Outcome | None:
        error = self._session.evaluate(example.source)
        output = self._output()
        if error is not None:
            show_error(error)
        if isinstance(error, KeyboardInterrupt):
            return None
        return docs.Outcome(output, output, None if error is None else error_text(error))

    def _judged(self, example: docs.Example, outcome: docs.Outcome) -> docs.Result:
        by_chance = self._depends_on_chance(example.source)
        result = self._judging.of_one_run(example, outcome)
        if result.verdict is docs.Verdict.DIFFERS and by_chance and example.expected:
            return by_layout(result, outcome.output)
        return result

    def _depends_on_chance(self, source: str) -> bool:
        depends = bool(called_names(source) & _DRAWS or read_names(source) & self._drawn)
        bound = bound_names(source)
        self._drawn = self._drawn | bound if depends else self._drawn - bound
        return depends


def _is_run(example: docs.Example) -> bool:
    return example.kind is not docs.Kind.TEXT and not docs.unrunnable(example)

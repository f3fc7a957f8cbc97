"""Does in a run of a page what the page does not show: setups, seeds, and teardowns at the end."""

from __future__ import annotations

from collections.abc import Sequence

from th_shell.docs.reading.examples import Example
from th_shell.docs.running.processes import LostError, Run
from th_shell.docs.settings.settings import Hidden


class HiddenCode:
    """The hidden code of a page in one of its runs, which may start again.

    Of a page in several languages it is the code of one: that of the examples which it is hidden
    code of. doing: what is being done, '' where it is nothing hidden.
    """

    def __init__(self, examples: Sequence[Example], seconds: float, language: str) -> None:
        self._hidden = [
            example.hidden if example.language == language else () for example in examples
        ]
        self._seconds = seconds
        self._done = 0  # how many examples have had what comes before them
        self._deadly: set[Hidden] = set()  # what has ended the run
        self.doing = ""

    def restart(self) -> None:
        """Let the page start from its first example again, without what has ended the run."""
        self._done = 0
        self.doing = ""

    def before(self, run: Run, index: int) -> str:
        """Do what comes before an example; how it fails, or ''. Raises LostError.

        That includes what comes before examples above it which are not run.
        """
        todo = self._hidden[self._done : index + 1]
        self._done = index + 1
        every = [one for hidden in todo for one in hidden if one.kind != "teardown"]
        return self._first_problem([self._do(run, one) for one in every])

    def end(self, run: Run) -> str:
        """Do all teardowns; how the first of those that fail does so, or ''."""
        every = [one for hidden in self._hidden for one in hidden]
        try:
            return self._first_problem(
                [self._do(run, one) for one in every if one.kind == "teardown"]
            )
        except LostError as error:
            return f"the process {error} in {self.doing}"

    def _first_problem(self, problems: Sequence[str]) -> str:
        return next((problem for problem in problems if problem), "")

    def _do(self, run: Run, hidden: Hidden) -> str:
        """Do something hidden; how it fails, or ''. Raises LostError."""
        if hidden in self._deadly:
            return ""
        self.doing = name = f"the {hidden.kind} at {hidden.place}"
        request = "seed" if hidden.kind == "seed" else "run"
        try:
            reply = run.ask(request, hidden.text.encode("utf-8", "surrogateescape"), self._seconds)
        except LostError:
            self._deadly.add(hidden)
            raise
        self.doing = ""
        if reply.late:
            return f"{name} was stopped after {self._seconds:g} s"
        return f"{name} fails: {reply.error}" if reply.error is not None else ""

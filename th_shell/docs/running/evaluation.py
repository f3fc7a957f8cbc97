"""Runs a page's examples, several times.

Runs differ in the seed of the random numbers, the values of new memory and its addresses, the clock
and the order of fields in tables; `verdicts` compares their outputs. Each run has an empty folder,
and each example a time limit. If an input ends its process, the page runs again without that input,
so that the outcomes of the others are not lost.

Each run includes the hidden code of the page: setups, seeds, and teardowns at the end.

The shell lines of a page ('$ cat hello.txt') run in the folder of the run: see `shell_lines`.
"""

from __future__ import annotations

import time
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

from th_shell.docs.reading.comment_values import Value
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind, ModuleName, completes
from th_shell.docs.reading.names import read_names
from th_shell.docs.running.page_imports import PageImports
from th_shell.docs.running.page_locals import PageLocals, blocks_with_default_type
from th_shell.docs.running.processes import Engine, LostError, Reply, Run, Starter, python_engine
from th_shell.docs.running.protocol import Message
from th_shell.docs.running.shell_lines import parse_shell_line
from th_shell.docs.settings.settings import Hidden, PageError
from th_shell.runtime.shell import PROCESSORS


@dataclass
class HiddenCode:
    """The hidden code of a page in one of its runs."""

    #: The code of each example; none for examples that the run is not for.
    _hidden: Sequence[Sequence[Hidden]]
    #: The time limit.
    _seconds: float
    #: Code that has ended such runs, and is left out.
    _deadly: set[Hidden]
    #: How many examples have had the code before them.
    _done: int = 0
    #: The code that is running now; '' if none is.
    doing: str = ""

    def before(self, run: Run, index: int) -> str:
        """Run the hidden code before an example; return how it fails, or ''. Raises LostError.

        That includes the hidden code of examples above it which are not run.
        """
        todo = self._hidden[self._done : index + 1]
        self._done = index + 1
        return self._do_all(run, todo, is_end=False)

    def end(self, run: Run) -> str:
        """Run all teardowns; return how the first of those that fail does so, or ''."""
        try:
            return self._do_all(run, self._hidden, is_end=True)
        except LostError as error:
            return f"the process {error} in {self.doing}"

    def _do_all(self, run: Run, hidden: Sequence[Sequence[Hidden]], is_end: bool) -> str:
        """Run the hidden code for the end, or the other; return how the first one fails, or ''."""
        codes = [code for of_example in hidden for code in of_example]
        due = [code for code in codes if (code.kind == "teardown") == is_end]
        return next(filter(None, [self._do(run, code) for code in due]), "")

    def _do(self, run: Run, hidden: Hidden) -> str:
        """Run one piece of hidden code; return how it fails, or ''. Raises LostError."""
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


def ending(how: str, where: str = "this input") -> str:
    """Return the reason of a lost outcome whose process has ended."""
    return f"the process {how} in {where}"


#: The reason of one whose input has ended its process without a fault.
ENDED = ending("ended")
#: The most times that a page is started again after an input has ended its process.
_RESTARTS = 100
#: The most inputs that are sent behind another one. Those behind a failure are sent again.
_MOST_TOGETHER = 100


@dataclass(frozen=True)
class Outcome:
    """The outcome of an input in one run."""

    #: All text that it has printed.
    output: str = ""
    #: The text before the values that the prompt shows.
    printed: str = ""
    #: The message of its error.
    error: str | None = None
    #: Why it has not ended or was not run, or ''.
    lost: str = ""
    #: The input's value as print shows it, where a comment documents it.
    shown: str = ""
    #: The values of the comment's possible readings, as print shows them.
    readings: tuple[str, ...] = ()
    #: Where it has failed or shown nothing: the names that it reads and that have no value; None
    #: where the engine does not tell.
    undefined: frozenset[str] | None = frozenset()
    #: The time that it took.
    seconds: float = field(default=0.0, compare=False)

    @property
    def compared(self) -> str:
        """Return the text to compare: the value if a comment documents it, else the output."""
        return self.shown if self.readings else self.output

    def with_values(self, value: Value, printed: Callable[[str], str]) -> Outcome:
        """Return the outcome with the printed value that a comment is about, and the comment's.

        printed: returns what print shows of an expression.
        """
        shown = printed(value.shown) if value.shown else self.output
        return replace(self, shown=shown, readings=tuple(map(printed, value.codes)))


#: Seconds by which a clock that is put forward goes on at each look: more than most examples take.
#: Neither the seconds nor the minutes of a time are soon the same by that.
_STEP = 366
#: The outcomes of an input in the two runs of its page.
Runs = tuple[Outcome, Outcome]


@dataclass(frozen=True)
class Plan:
    """The settings by which a run differs from other runs."""

    #: The seed of the random numbers.
    seed: int
    #: The byte that new memory is filled with.
    fill: int = 0
    #: Seconds by which the clock is put forward.
    clock: int = 0
    #: Lua's `pairs` has named fields in falling order; else it is rising.
    falling: bool = False
    #: The number of the process that starts the run, which decides the addresses.
    engine: int = 0
    #: Code to run behind examples, by their indices.
    after: Mapping[int, str] = field(default_factory=dict)
    #: Inputs that replace those of the page, by index.
    sources: Mapping[int, str] = field(default_factory=dict)
    #: The outcomes of examples that are not run again, by index.
    lost: Mapping[int, Outcome] = field(default_factory=dict)
    #: The index of the last example to run; None for all.
    last: int | None = None

    def request(self) -> bytes:
        """Return the body of the request `begin`."""
        numbers = {
            "seed": self.seed,
            "fill": self.fill,
            "clock": self.clock,
            "step": _STEP if self.clock else 0,
            "falling": int(self.falling),
        }
        return "".join(f"{name} {number}\n" for name, number in numbers.items()).encode()


#: The two runs of each page. Doubles and integers of bytes 0x3F are ordinary numbers. Time goes on
#: by two years, 100 days, 3 hours and some between them.
FIRST = Plan(1)
SECOND = Plan(20240229, fill=0x3F, clock=71725267, falling=True, engine=1)


def unrunnable(example: Example) -> str:
    """Return why an example is not run; '' if it is run."""
    if example.kind is Kind.TEXT:
        return f"no input: this text does not compile as {example.language.capitalize()}"
    if example.settings.skip:
        return example.settings.skip.reason or "the page says so"
    if example.language == LUA and example.source.startswith("?"):
        return "asks the prompt for help; not Lua"
    if example.kind is Kind.PROMPT and completes(example):
        return "shows how a prompt completes a name; no input"
    if example.kind is Kind.SHELL:
        try:
            parse_shell_line(example.source)
        except ValueError as error:
            return str(error)
    return ""


@dataclass(frozen=True)
class Runner:
    """Runs pages, each language in them by an engine of its own."""

    starter: Starter
    #: The engines by languages; by default those of th-docs.
    engines: Mapping[str, Engine] = field(
        default_factory=lambda: {LUA: Engine(), PYTHON: python_engine()}
    )
    #: The time that an example may take.
    seconds: float = 30
    #: Code to run before each page, by languages.
    preludes: Mapping[str, str] = field(default_factory=dict)

    def evaluate(
        self, examples: Sequence[Example], plans: Sequence[Plan] = (FIRST, SECOND)
    ) -> list[tuple[Outcome, ...]]:
        """Run examples; return for each its outcomes, one for each plan.

        Raises HiddenError and StoppedError. Ctrl-C stops the starter.
        """
        # More at a time would take each other's time, of which an example has only so much.
        with ThreadPoolExecutor(max(2, PROCESSORS)) as pool:
            try:
                results = list(pool.map(lambda plan: self._evaluate(examples, plan), plans))
            except KeyboardInterrupt:
                self.starter.stop()  # the end of the pool would wait for what the page does
                raise
        return [tuple(outcomes[i] for outcomes in results) for i in range(len(examples))]

    def _evaluate(self, examples: Sequence[Example], plan: Plan) -> dict[int, Outcome]:
        """Run examples by one plan, each language and group by itself; return outcomes by index."""
        all_outcomes: dict[int, Outcome] = {}
        sessions: dict[tuple[str, object], list[int]] = {}
        for i, example in enumerate(examples):
            session = example.language, example.module or example.group
            sessions.setdefault(session, []).append(i)
        for (language, _), indices in sessions.items():
            all_outcomes |= _PageRun(self, examples, plan, language, indices).outcomes()
        return all_outcomes


class HiddenError(PageError):
    """The prelude or a teardown of a page has failed; the message says which, and how."""


@dataclass
class _PageRun:
    """One run of a page's examples in one language and group."""

    _runner: Runner
    _examples: Sequence[Example]
    _plan: Plan
    _language: str
    #: The indices of these examples.
    _indices: Sequence[int]
    #: Hidden code that has ended the run.
    _deadly: set[Hidden] = field(default_factory=set)  # hidden code that has ended the run
    #: The module and the group whose namespace is in use; how the module's import has failed.
    _entered: tuple[ModuleName, str] | None = None
    _import_error: str | None = None

    #: Requests that were sent ahead, and the replies to them.
    _sent: deque[Message] = field(default_factory=deque)
    _replies: Iterator[Reply] = field(default_factory=lambda: iter(()))

    def __post_init__(self) -> None:
        self._locals = PageLocals(self._examples)
        self._types = blocks_with_default_type([self._examples[i] for i in self._indices])
        self._imports = PageImports(self._examples, ())

    def outcomes(self) -> dict[int, Outcome]:
        """Run the examples, anew after each that ends its process; return outcomes by index."""
        last = len(self._examples) if self._plan.last is None else self._plan.last
        to_run = [i for i in self._indices if i <= last and i not in self._plan.lost]
        left = [i for i in to_run if not unrunnable(self._examples[i])]
        outcomes = dict(self._plan.lost)
        problem = "has ended its process too often"
        for _ in range(1 + _RESTARTS):
            try:
                run = self._runner.starter.start(self._engine(), self._plan.engine)
            except LostError as error:
                problem = str(error)
                break
            with closing(run):
                killer = self._run(run, left, outcomes)
            if killer is None:
                break
            left.remove(killer)
        lost = Outcome(lost=f"lost: the page {problem} before this input")
        return {i: outcomes.get(i, lost) for i in self._indices}

    def _engine(self) -> Engine:
        """Return the engine; Python's has the seed and the fill of memory in its environment."""
        engine = self._runner.engines[self._language]
        if self._language != PYTHON:
            return engine
        # These must be set before Python starts: the order of sets, and what memory is filled with.
        variables = {
            "PYTHONHASHSEED": str(self._plan.seed),
            "MALLOC_PERTURB_": str(self._plan.fill ^ 0xFF),  # glibc fills with the complement
        }
        return replace(engine, environment={**engine.environment, **variables})

    def _run(self, run: Run, indices: Sequence[int], outcomes: dict[int, Outcome]) -> int | None:
        """Run examples, and add their outcomes; return the index of the one that ended the run."""
        plan, block = self._plan, None
        self._entered = None
        self._sent.clear()
        if self._language == PYTHON:
            self._imports = PageImports(self._examples, self._indices)
        in_group = set(self._indices)
        shown = [e.hidden if i in in_group else () for i, e in enumerate(self._examples)]
        hidden = HiddenCode(shown, self._runner.seconds, self._deadly)
        for index in indices:
            example, start = self._examples[index], time.monotonic()
            try:
                if block is None:
                    run.ask("begin", plan.request())
                    self._run_prelude(run)
                if block != example.block and not self._sent:
                    if ended := self._locals.behind(block):
                        run.ask("run", _encoded(ended), self._runner.seconds)
                    if block in self._types:
                        run.ask("block")
                block = example.block
                problem = hidden.before(run, index)
                if problem:
                    outcomes[index] = Outcome(lost=f"not run: {problem}")
                    continue
                outcomes[index] = self._enter(run, example) or self._outcome(run, index, indices)
                if index in plan.after:
                    run.ask("run", _encoded(plan.after[index]), self._runner.seconds)
                if example.value and outcomes[index].error is None and not outcomes[index].lost:
                    outcomes[index] = self._with_values(run, outcomes[index], example.value)
                outcomes[index] = self._with_undefined(run, outcomes[index], example)
            except LostError as error:
                reason = ending(str(error), hidden.doing or "this input")
                seconds = time.monotonic() - start
                outcomes[index] = Outcome(output=error.output, lost=reason, seconds=seconds)
                return index
        if indices and (problem := hidden.end(run)):
            raise HiddenError(problem)
        return None

    def _run_prelude(self, run: Run) -> None:
        """Run the code before each page. Raises HiddenError and LostError."""
        if prelude := self._runner.preludes.get(self._language):
            reply = run.ask("run", _encoded(prelude), self._runner.seconds)
            if reply.error is not None or reply.late:
                raise HiddenError(f"the prelude fails: {reply.error or 'it takes too long'}")

    def _enter(self, run: Run, example: Example) -> Outcome | None:
        """Begin the namespace of a docstring's group; return how it fails. Raises LostError."""
        if example.module is None:
            return None
        if self._entered != (example.module, example.group):
            self._entered = example.module, example.group
            body = _encoded("\n".join(example.module))
            self._import_error = run.ask("module", body, self._runner.seconds).error
        return None if self._import_error is None else Outcome(error=self._import_error)

    def _outcome(self, run: Run, index: int, indices: Sequence[int]) -> Outcome:
        """Run an example; return its outcome. indices: of all that run. Raises LostError."""
        example = self._examples[index]
        start, seconds = time.monotonic(), example.settings.timeout or self._runner.seconds
        if example.kind is Kind.SHELL:
            reply = run.shell(parse_shell_line(example.source), seconds)
        else:
            exchange = self._imports.before(index) if self._language == PYTHON else ""
            if exchange:
                run.ask("run", _encoded(exchange), seconds)
            self._send_ahead(run, index, indices, seconds)
            reply = self._ask(run, self._request(index), seconds)
        lost = f"was stopped after {seconds:g} s" if reply.late else ""
        taken = time.monotonic() - start
        is_silent = example.kind is Kind.BARE and reply.fails_to_show  # a script prints no values
        error = None if lost or is_silent else reply.error
        return Outcome(reply.output, reply.printed, error, lost, seconds=taken)

    def _ask(self, run: Run, request: Message, seconds: float) -> Reply:
        """Return the reply to a request, which may have been sent already. Raises LostError."""
        if not self._sent:
            return run.ask(*request, seconds)
        sent, reply = self._sent.popleft(), next(self._replies)
        assert sent.body == request.body
        if reply.is_last:
            self._sent.clear()
        return reply

    def _send_ahead(self, run: Run, index: int, indices: Sequence[int], seconds: float) -> None:
        """Send an input with those below it, behind which nothing is to be asked.

        Waiting for a reply to each would take several times the time that most inputs take. Other
        engines of Lua get them one by one.
        """
        if self._sent or self._language == LUA and self._engine().command:
            return
        together, at = [index], bisect(indices, index)
        for i in indices[at : at + _MOST_TOGETHER]:
            if not self._follows(together[-1], i):
                break
            together.append(i)
        if len(together) > 1:
            names = ["shown" if self._examples[i].expected else "input" for i in together]
            self._sent = deque(map(Message, names, map(self._code, together)))
            self._replies = run.ask_each(tuple(self._sent), seconds)

    def _follows(self, last: int, index: int) -> bool:
        """Tell whether nothing is asked between two examples, if the first one shows a value."""
        above, example = self._examples[last], self._examples[index]
        is_asked = bool(above.value) or last in self._plan.after
        has_hidden = any(e.hidden for e in self._examples[last + 1 : index + 1])
        kinds = {above.kind, example.kind}
        if self._language == LUA:
            may_end = above.block in self._types or self._locals.behind(above.block)
            is_alike = Kind.SHELL not in kinds and not (may_end and above.block != example.block)
        else:
            is_alike = kinds == {Kind.PROMPT}
        return is_alike and _place(above) == _place(example) and not (is_asked or has_hidden)

    def _request(self, index: int) -> Message:
        """Return the request that runs an example."""
        example = self._examples[index]
        # A cell of Lua is an input: at the prompt, too, several statements show no value.
        is_cell = example.language == PYTHON and example.kind is not Kind.PROMPT
        return Message("cell" if is_cell else "input", self._code(index))

    def _code(self, index: int) -> bytes:
        """Return the code to run for an example."""
        source = self._plan.sources.get(index, self._examples[index].source)
        return _encoded(self._locals.source(index, source))

    def _with_values(self, run: Run, outcome: Outcome, value: Value) -> Outcome:
        """Return an outcome with the printed value, and those of the comment's readings."""
        ask = partial(run.ask, "input", seconds=self._runner.seconds)
        return outcome.with_values(value, lambda code: ask(_encoded(code)).output)

    def _with_undefined(self, run: Run, outcome: Outcome, example: Example) -> Outcome:
        """Add the names without values that an example reads, if it failed or shows nothing."""
        if example.kind is Kind.SHELL or outcome.lost or self._sent:
            return outcome  # or the engine is at a later example already
        shown = outcome.shown if example.value else outcome.output
        is_told = example.expected or example.value
        if outcome.error is None and not (is_told and shown.strip() in ("", "nil")):
            return outcome
        names = sorted(read_names(example.language, example.source))
        code = _FIND_UNDEFINED[example.language].format(names=" ".join(names))
        printed = run.ask("run", _encoded(code), self._runner.seconds).output.split()
        undefined = frozenset(printed) & frozenset(names)
        return replace(outcome, undefined=undefined if _ANSWERED in printed else None)


_ANSWERED = "th-docs"
#: By languages, code that prints those of some names which have no value, and that it has run. What
#: Penlight calls `data` or `config` is not what a page means by it.
_FIND_UNDEFINED = {
    LUA: f"""\
print('{_ANSWERED}')
for name in ([[{{names}}]]):gmatch('%S+') do
  local ok, value = pcall(function() return _G[name] end)
  if not ok or value == nil or value == package.loaded['pl.' .. name] then print(name) end
end
""",
    PYTHON: f"""\
print('{_ANSWERED}')
for _th_docs_name in '{{names}}'.split():
    try:
        eval(_th_docs_name)
    except Exception:
        print(_th_docs_name)
del _th_docs_name
""",
}


def _place(example: Example) -> tuple[object, ...]:
    """Return the namespace of an example, and its time limit."""
    return example.module, example.group, example.settings.timeout


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

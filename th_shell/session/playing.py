"""Runs the examples of a page in a session, and says of each whether it does as the page shows.

Each input runs once: a session cannot go back. So what depends on chance is found by the source of
the inputs (`chance.py`) and not by a second run. Where such an input does not print the documented
text, it is enough that the numbers in it have the documented layout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import th_shell.docs.library as docs
from th_shell.paragraphs import counted, cut
from th_shell.runtime.shell import DOUBLE, Interrupted, LuaError
from th_shell.session.commands import COMMANDS, is_command
from th_shell.session.look import Look
from th_shell.session.page import Chance, input_of, is_run
from th_shell.session.session import Session, is_exit
from th_shell.session.system_commands import run_command
from th_shell.session.tee import Tee
from th_shell.syntax import Syntax
from th_shell.visible import visible

_SEED = "math.randomseed({0}) torch.manualSeed({0})"
_CUT = "as far as it was copied"
_HINTS = re.compile(r"^hint: .*\n?", re.MULTILINE)
_HANDLE = re.compile(r"file \(0x[0-9a-f]+\)[ \t]*")  # what io.write returns, for a page of Torch7
_SHOWN = 40  # characters of each side of a difference

#: What the summary says of the examples with a verdict, in its order.
_WORDS = {
    docs.Verdict.PASS: "as documented",
    docs.Verdict.LAYOUT: "with the documented layout",
    docs.Verdict.DIFFERS: "different",
    docs.Verdict.ERROR: "failed",
    docs.Verdict.RAN: "without output",
}


class Player:
    """Runs the examples of one page.

    chance: what is known of the inputs of the session so far. tee: what reads the output.
    """

    def __init__(
        self, session: Session, examples: Sequence[docs.Example], chance: Chance, tee: Tee
    ) -> None:
        self._session = session
        self._tee = tee
        self._all = examples
        self._examples = [example for example in examples if is_run(example)]
        self._skipped = sum(e.kind is not docs.Kind.TEXT and not is_run(e) for e in examples)
        self._block = -1
        self._judging = docs.Judging()
        self._chance = chance
        self._found: Counter[docs.Verdict] = Counter()

    def play(self) -> bool:
        """Run all examples; returns False if one of them ends the session."""
        session = self._session
        with self._default_type():
            for example in self._all:
                self._begin_block(example.block)
                self._do_hidden([one for one in example.hidden if one.kind != "teardown"])
                if not is_run(example):
                    continue
                if is_exit(example.source):
                    return False
                if not self._step(example):
                    break
            ends = [one for example in self._all for one in example.hidden]
            self._do_hidden([one for one in ends if one.kind == "teardown"])
            told = summary(self._found, self._skipped, len(self._examples))
            self._write(session.look.faint.format(told) + "\n")
        return True

    def _step(self, example: docs.Example) -> bool:
        """Run and judge one example; returns False if Ctrl-C has stopped it."""
        session = self._session
        if len(self._examples) > 1:
            self._write(session.echo(input_of(example)))
        self._begin()
        outcome, error = self._run(example)
        if error is not None:
            session.show(error)
        if isinstance(error, Interrupted) or session.engine.take_interrupt():
            return False
        if example.value and error is None:
            outcome = self._with_values(example, outcome)
        result = self._judged(example, outcome)
        self._found[result.verdict] += 1
        mark = mark_of(result, session.look)
        if mark:
            is_open = outcome.output[-1:] not in ("", "\n")
            self._write("\n" * is_open + mark + "\n")
        return True

    @contextmanager
    def _default_type(self) -> Iterator[None]:
        """Let each block of a page with several ones have the default type that there was before.

        What a single block sets stays, as if it had been typed.
        """
        self._type_before = self._set_default_type(DOUBLE.tensor_name)
        self._set_default_type(self._type_before)
        self._has_blocks = len({example.block for example in self._examples}) > 1
        try:
            yield
        finally:
            self._begin_block(-1)

    def _begin_block(self, block: int) -> None:
        if self._has_blocks and block != self._block:
            self._set_default_type(self._type_before)
        self._block = block

    def _set_default_type(self, name: str) -> str:
        try:
            return self._session.engine.set_default_type(name)
        except LuaError:
            return ""  # the program has changed torch itself

    def _do_hidden(self, every: Sequence[docs.Hidden]) -> None:
        """Do what the page says is to be done, and does not show."""
        for one in every:
            code = _SEED.format(one.text) if one.kind == "seed" else one.text
            try:
                engine = self._session.engine
                engine.run(engine.compile(code.encode("utf-8", "surrogateescape")))
            except LuaError as error:
                self._write(f"the {one.kind} of the page fails: {visible(error.message)}\n")

    def _begin(self, shown: bool = True) -> None:
        """Let what is written from now on be the output that is read."""
        self._session.engine.flush()
        self._tee.text()
        self._tee.clear(shown)

    def _text(self) -> str:
        """What was written since the last `_begin`."""
        self._session.engine.flush()
        return self._tee.text().decode("utf-8", "surrogateescape")

    def _write(self, text: str) -> None:
        self._session.write(text)
        self._session.engine.flush()

    def _run(self, example: docs.Example) -> tuple[docs.Outcome, LuaError | None]:
        if example.kind is docs.Kind.SHELL:
            shown = run_command(example.source, self._session.write_through)
            self._session.engine.keep(shown)
            return docs.Outcome(self._text()), None
        if example.kind is docs.Kind.PROMPT and is_command(example.source):
            COMMANDS.run(self._session, example.source)
            return docs.Outcome(self._text()), None
        before: list[str] = []
        error = self._session.evaluate(example.source, lambda: before.append(self._text()))
        output = self._text()
        message = None if error is None else error.message
        return docs.Outcome(output, before[0] if before else output, message), error

    def _with_values(self, example: docs.Example, outcome: docs.Outcome) -> docs.Outcome:
        """The outcome with what the value prints of which a comment tells, and what it tells."""

        def printed(code: str) -> str:
            self._begin(shown=False)
            try:
                self._session.engine.enter(f"print({code})".encode("utf-8", "surrogateescape"))
            except LuaError:
                return ""
            finally:
                text = self._text()
                self._begin()
            return text

        assert example.value is not None
        shown = printed(example.value.shown) if example.value.shown else outcome.output
        return replace(outcome, shown=shown, told=tuple(map(printed, example.value.codes)))

    def _judged(self, example: docs.Example, outcome: docs.Outcome) -> docs.Result:
        by_chance = self._chance.affects(example.source)
        if is_command(example.source):
            # th-docs has no commands: to it, this is what a comment prints.
            example = replace(example, source=f"-- {example.source}")
        elif outcome.error is not None:
            # Of an error, its message counts, and not what a prompt says of it.
            example = replace(example, expected=_HINTS.sub("", example.expected))
        elif "write" in example.source and not _HANDLE.search(outcome.output):
            example = replace(example, expected=_HANDLE.sub("", example.expected))
        if outcome.printed != outcome.output and self._hides_value(example, outcome):
            outcome = replace(outcome, output=outcome.printed)
        result = self._judging.of_one_run(example, outcome)
        if result.verdict is not docs.Verdict.DIFFERS or not example.expected:
            return result
        expected, got = example.expected, outcome.output
        note = ""
        if self._type_before != DOUBLE.tensor_name:
            got, note = self._as_double(got), f"in {self._type_before}"
            if docs.agrees(expected, got):
                return replace(result, verdict=docs.Verdict.PASS, note=note)
        is_last = example.line == self._examples[-1].line
        if is_last and docs.agrees(f"{expected}\n...", got):
            return replace(result, verdict=docs.Verdict.PASS, note=_CUT)
        if by_chance and docs.numbers(expected) and docs.numbers(got):
            documented, here = docs.loose_layout(expected), docs.loose_layout(got)
            if documented == here:
                return replace(result, verdict=docs.Verdict.LAYOUT, note=note)
            if is_last and here[: len(documented)] == documented:
                return replace(result, verdict=docs.Verdict.LAYOUT, note=_CUT)
        return result

    def _hides_value(self, example: docs.Example, outcome: docs.Outcome) -> bool:
        """Whether a page shows no value of a call behind statements: Torch7 prints none."""
        code, compiler = example.source, self._session.compiler
        is_statement = compiler.statement(code) is Syntax.COMPLETE
        has_call = is_statement and compiler.expression(code) is not Syntax.COMPLETE
        return has_call and docs.agrees(example.expected, outcome.printed)

    def _as_double(self, text: str) -> str:
        """A printed text with the default type that pages have."""
        name = self._type_before.removeprefix("torch.").removesuffix("Tensor")
        return re.sub(rf"\b{re.escape(name)}(?=Tensor\b|Storage\b)", "Double", text)


def mark_of(result: docs.Result, look: Look) -> str:
    """What is written under an example; '' where there was nothing to compare."""
    if result.verdict is docs.Verdict.PASS:
        return look.good.format(f"{look.held} {result.note}".rstrip())
    if result.verdict is docs.Verdict.LAYOUT:
        return look.good.format(f"{look.layout} {result.note}".rstrip())
    if not result.failed or not result.example.documented and not result.example.value:
        return ""
    value = result.example.value
    expected = result.example.expected or (value.text if value else "")
    page, here = next(iter(docs.changes(expected, result.got)), (expected, result.got))
    return look.bad.format(f"{look.differs} page: {_short(page)} here: {_short(here)}")


def summary(found: Counter[docs.Verdict], skipped: int, all_run: int) -> str:
    """How many examples there were of each verdict. all_run: those that were to be run."""
    total = found.total()
    parts = [f"{found[verdict]} {words}" for verdict, words in _WORDS.items() if found[verdict]]
    parts += [f"{skipped} not run"] * bool(skipped)
    parts += [f"{all_run - total} left"] * (all_run > total)
    inputs = counted(total, "input")
    return f"{inputs}: {', '.join(parts)}" if parts else "no input in this text"


def _short(text: str) -> str:
    return cut(" ".join(visible(text).split()), _SHOWN) or "nothing"

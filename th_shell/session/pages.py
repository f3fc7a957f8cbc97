"""Text that was copied from a page: reads its examples, runs them in a session, and judges each.

It is read as `th-docs` reads pages, so that what is no example is not run. Each input runs once: a
session cannot go back. So what depends on chance is told by the source of the inputs and not by a
second run. Where such an input does not print the documented text, it is enough that the numbers in
it have the documented layout.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import th_shell.docs.library as docs
from th_shell.lines import usual_lines
from th_shell.paragraphs import counted, cut
from th_shell.runtime.shell import DOUBLE, Interrupted, LuaError
from th_shell.session.commands import COMMANDS, is_command
from th_shell.session.conversation import Conversation, PageMarks
from th_shell.session.inputs import FENCE, PROMPT
from th_shell.session.output import OutputCopy
from th_shell.session.page_repairs import repaired
from th_shell.session.random_inputs import Chance
from th_shell.session.session import Session
from th_shell.session.system_commands import run_command
from th_shell.syntax import Syntax
from th_shell.visible import visible

_NAME = "the text"
_CONTINUATION = re.compile(r"\s*(?:>>|\.\.\.?>)")


def read_examples(text: str, compiler: docs.Compiler) -> tuple[list[docs.Example], str]:
    """Return the examples of a page in order, and why its directives are not followed, or ''."""
    lines = usual_lines(text)
    first = next((at for at, line in enumerate(lines) if FENCE.match(line)), None)
    if first is None:
        blocks = list(_blocks(lines, compiler))
        return _cut(docs.PageText(_NAME, "", lines, blocks), compiler)
    if any(PROMPT.match(line) and not _is_quote(line, compiler) for line in lines[:first]):
        lines.insert(0, "```")  # the copy begins within a block
    return _cut(docs.read_text("\n".join(lines), _NAME), compiler)


def _cut(page: docs.PageText, compiler: docs.Compiler) -> tuple[list[docs.Example], str]:
    try:
        _, examples = docs.cut_with_settings(page, compiler, locals_stay=True)
    except docs.SettingsError as error:  # perhaps what a directive holds for was not copied
        return docs.examples_of(page.blocks, compiler, locals_stay=True), str(error)
    return [e if _asks_for_modules(e) else docs.decided(e, {}, ()) for e in examples], ""


def _asks_for_modules(example: docs.Example) -> bool:
    """Tell whether marks of an example ask for modules; it is then skipped."""
    marks = (example.settings.skip, example.settings.xfail)
    return any(mark and mark.unless_module for mark in marks)


def input_of(example: docs.Example) -> str:
    """Return an example's input as it is typed at the prompt."""
    return f"$ {example.source}" if example.kind is docs.Kind.SHELL else example.source


def open_input(examples: Sequence[docs.Example]) -> str:
    """Return the input behind the last prompt, which may go on, or ''.

    It is '' where an output stands under that input.
    """
    for example in reversed(examples):
        is_output = not all(map(_CONTINUATION.match, usual_lines(example.expected)))
        if is_output or example.kind is docs.Kind.SHELL:
            return ""
        if example.kind is docs.Kind.PROMPT:
            return example.source
    return ""


def is_run(example: docs.Example) -> bool:
    """Tell whether the prompt of Lua runs an example."""
    if example.kind is docs.Kind.PROMPT and is_command(example.source):
        return not example.settings.skip
    return example.language == docs.LUA and not docs.unrunnable(example)


def _blocks(lines: Sequence[str], compiler: docs.Compiler) -> Iterator[docs.Block]:
    """Yield the blocks of a page without fences: the lines between paragraphs of prose."""
    inside: list[docs.Line] = []
    is_text = False
    for line in docs.numbered([line.replace("\N{NO-BREAK SPACE}", " ") for line in lines], 1):
        starts = not inside or not inside[-1].text.strip()
        if line.text.strip() and (starts or is_text):
            is_text = _is_text(line.text, compiler)
        if is_text and inside:
            yield _block(inside)
            inside = []
        elif not is_text:
            inside.append(line)
    if inside:
        yield _block(inside)


def _is_text(line: str, compiler: docs.Compiler) -> bool:
    if PROMPT.match(line):
        return _is_quote(line, compiler)
    return compiler.typed(line) is Syntax.WRONG and docs.is_prose(line, ())


def _is_quote(line: str, compiler: docs.Compiler) -> bool:
    """Tell whether a line with a prompt is prose that Markdown quotes."""
    prompt = PROMPT.match(line)
    words = line[prompt.end() :] if prompt else line
    return compiler.typed(words) is Syntax.WRONG and docs.is_prose(words, ())


def _block(lines: Sequence[docs.Line]) -> docs.Block:
    return docs.Block(lines[0].number - 1, lines[-1].number + 1, docs.LUA, tuple(lines))


# -- running and judging

_SEED = "math.randomseed({0}) torch.manualSeed({0})"
_CUT = "as far as it was copied"
_HINTS = re.compile(r"^hint: .*\n?", re.MULTILINE)
_HANDLE = re.compile(r"file \(0x[0-9a-f]+\)[ \t]*")  # what io.write returns, for a page of Torch7
_SHOWN = 40  # characters of each side of a difference
#: The proposals of repairs that are tried for an example.
_MOST_REPAIRS = 8
_TYPE_IS_BACK = "the default type is {0} again, as before each block of a page"

#: The words of the summary for each verdict, in its order.
_WORDS = {
    docs.Verdict.PASS: "as documented",
    docs.Verdict.LAYOUT: "with the documented layout",
    docs.Verdict.DIFFERS: "different",
    docs.Verdict.ERROR: "failed",
    docs.Verdict.DAMAGED: "damaged on the page",
    docs.Verdict.HEALED: "healed by a repair of the page",
    docs.Verdict.RAN: "without output",
}


#: The words for a page that has suffered on its way, behind the mark of an example.
_DAMAGES = {docs.Verdict.DAMAGED: "page damaged", docs.Verdict.HEALED: "page damaged, healed"}


@dataclass
class Player(ABC):
    """Runs the examples of one page in a session of any language, and writes their verdicts.

    is_run: tells which examples are run; the others count as not run. copy: the output.
    """

    _session: Conversation
    _all: Sequence[docs.Example]
    _is_run: Callable[[docs.Example], bool]
    _copy: OutputCopy

    def __post_init__(self) -> None:
        self._examples = [example for example in self._all if self._is_run(example)]
        self._judging = docs.Judging()
        self._verdicts: Counter[docs.Verdict] = Counter()

    def play(self) -> bool:
        """Run all examples; return False if one of them ends the session."""
        for example in self._all:
            self._prepare(example)
            if not self._is_run(example):
                continue
            if self._session.is_exit(example.source):
                return False
            if not self._step(example):
                break
        inputs = sum(example.kind is not docs.Kind.TEXT for example in self._all)
        to_run = len(self._examples)
        text = summary(self._verdicts, inputs - to_run, to_run)
        self._write(self._session.marks.faint.format(text) + "\n")
        return True

    def _prepare(self, example: docs.Example) -> None:  # noqa: B027
        """Do what has to be done before an example; nothing by default."""

    @abstractmethod
    def _run(self, example: docs.Example) -> docs.Outcome | None:
        """Run an example, show its error, and return what it prints; None where Ctrl-C stops it."""

    @abstractmethod
    def _judged(self, example: docs.Example, outcome: docs.Outcome) -> docs.Result:
        """Return the verdict on what an example has printed."""

    def _step(self, example: docs.Example) -> bool:
        """Run and judge one example; return False if Ctrl-C has stopped it."""
        if len(self._examples) > 1:
            self._write(self._session.echo(input_of(example)))
        self._begin()
        outcome = self._run(example)
        if outcome is None:
            return False
        result = self._judged(example, outcome)
        self._verdicts[result.verdict] += 1
        mark = mark_of(result, self._session.marks)
        if mark:
            is_open = outcome.output[-1:] not in ("", "\n")
            self._write(f"\n{mark}\n" if is_open else f"{mark}\n")
        return True

    def _begin(self, shown: bool = True) -> None:
        """Let what is written from now on be the output that is read."""
        self._output()
        self._copy.clear(shown)

    def _output(self) -> str:
        """Return what was written since the last `_begin`."""
        self._session.write_through(b"")
        return self._copy.text().decode("utf-8", "surrogateescape")

    def _write(self, text: str) -> None:
        self._session.write(text)
        self._session.write_through(b"")


class LuaPlayer(Player):
    """Runs the examples of one page of Lua.

    chance: follows what depends on chance through the inputs of the session. Each block of a page
    with several ones has the default type that there was before; what a single block sets stays, as
    if it had been typed.
    """

    _session: Session

    def __init__(
        self, session: Session, examples: Sequence[docs.Example], chance: Chance, copy: OutputCopy
    ) -> None:
        super().__init__(session, examples, is_run, copy)
        self._engine = session.engine
        self._compiler = docs.Compiler(session.engine)
        self._chance = chance
        self._block = -1
        self._has_blocks = len({example.block for example in self._examples}) > 1
        self._type_before = ""
        self._names = frozenset[str]()

    def play(self) -> bool:
        """Run all examples; return False if one of them ends the session."""
        self._type_before = self._set_default_type(DOUBLE.tensor_name)
        self._set_default_type(self._type_before)
        try:
            return super().play()
        finally:
            self._do_hidden(self._all, is_end=True)
            self._begin_block(-1)

    def _prepare(self, example: docs.Example) -> None:
        self._begin_block(example.block)
        self._do_hidden([example], is_end=False)

    def _begin_block(self, block: int) -> None:
        if self._has_blocks and block != self._block:
            if self._set_default_type(self._type_before) not in ("", self._type_before):
                text = _TYPE_IS_BACK.format(self._type_before)
                self._write(self._session.marks.faint.format(text) + "\n")
        self._block = block

    def _set_default_type(self, name: str) -> str:
        """Set the default type; return the one that there was before."""
        try:
            return self._engine.set_default_type(name)
        except LuaError:
            return ""  # the program has changed torch itself

    def _do_hidden(self, examples: Sequence[docs.Example], is_end: bool) -> None:
        """Do what the page says is to be done, and does not show, before examples or at its end."""
        for hidden in (hidden for example in examples for hidden in example.hidden):
            if (hidden.kind == "teardown") is not is_end:
                continue
            code = _SEED.format(hidden.text) if hidden.kind == "seed" else hidden.text
            try:
                self._engine.run(self._engine.compile(code.encode("utf-8", "surrogateescape")))
            except LuaError as error:
                self._write(f"the {hidden.kind} of the page fails: {visible(error.message)}\n")

    def _run(self, example: docs.Example) -> docs.Outcome | None:
        if example.kind is docs.Kind.SHELL:
            self._session.keep(run_command(example.source, self._session.write_through))
            return docs.Outcome(self._output())
        if example.kind is docs.Kind.PROMPT and is_command(example.source):
            COMMANDS.run(self._session, example.source)
            return docs.Outcome(self._output())
        before: list[str] = []
        error = self._session.evaluate(example.source, lambda: before.append(self._output()))
        output = self._output()
        if error is not None:
            self._session.show_error(error)
        if isinstance(error, Interrupted) or self._engine.take_interrupt():
            return None
        message = None if error is None else error.message
        return docs.Outcome(output, before[0] if before else output, message)

    def _printed(self, code: str) -> str:
        """Return what print shows of an expression; '' where it fails."""
        return self._hidden_output(f"print({code})") or ""

    def _hidden_output(self, source: str) -> str | None:
        """Run code that is no input of the session; return what it prints, None where it fails."""
        self._begin(shown=False)
        try:
            self._engine.inputs.enter(source.encode("utf-8", "surrogateescape"))
            return self._output()
        except LuaError:
            return None
        finally:
            self._begin()

    def _judged(self, example: docs.Example, outcome: docs.Outcome) -> docs.Result:
        by_chance = self._chance.affects(example.source)
        result = self._compared(example, outcome, by_chance)
        if result.failed and example.documented:
            result = self._explained(result, outcome, by_chance)
        self._names |= docs.lua_names.bound_names(example.source)
        return result

    def _explained(
        self, result: docs.Result, outcome: docs.Outcome, by_chance: bool
    ) -> docs.Result:
        """Return a failing result as damaged or healed, where it is the page that is damaged.

        Of an example that raises an error, a repaired input is run.
        """
        example = result.example
        for why, new in islice(repaired(example, result.got, self._names), _MOST_REPAIRS):
            new_outcome = outcome if new.source == example.source else self._run_again(new, outcome)
            if new_outcome and not self._compared(new, new_outcome, by_chance).failed:
                if new_outcome is not outcome:
                    self._write(new_outcome.output)
                return replace(result, verdict=docs.Verdict.HEALED, note=why)
        problem = docs.damage(example, result.got, self._compiler)
        return replace(result, verdict=docs.Verdict.DAMAGED, note=problem) if problem else result

    def _run_again(self, example: docs.Example, outcome: docs.Outcome) -> docs.Outcome | None:
        """Run the repaired input of an example that has failed; return None where it fails, too."""
        if outcome.error is None or self._compiler.typed(example.source) is not Syntax.COMPLETE:
            return None
        output = self._hidden_output(example.source)
        return None if output is None else docs.Outcome(output, output)

    def _compared(
        self, example: docs.Example, outcome: docs.Outcome, by_chance: bool
    ) -> docs.Result:
        """Return the verdict on what an example has printed, by the text under it alone."""
        if example.value and outcome.error is None:
            outcome = outcome.with_values(example.value, self._printed)
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
        expected, got = example.expected, outcome.output
        if result.verdict is not docs.Verdict.DIFFERS or not expected:
            return result
        is_last = example.line == self._examples[-1].line
        if is_last and docs.agrees(f"{expected}\n...", got):
            return replace(result, verdict=docs.Verdict.PASS, note=_CUT)
        return by_layout(result, got, is_last) if by_chance else result

    def _hides_value(self, example: docs.Example, outcome: docs.Outcome) -> bool:
        """Tell whether a page leaves out the value of a call behind statements, as Torch7 does."""
        code, compiler = example.source, self._compiler
        is_statement = compiler.statement(code) is Syntax.COMPLETE
        has_call = is_statement and compiler.expression(code) is not Syntax.COMPLETE
        return has_call and docs.agrees(example.expected, outcome.printed)


def by_layout(result: docs.Result, got: str, may_be_cut: bool = False) -> docs.Result:
    """Accept other numbers than the documented ones where their layout is the documented one.

    may_be_cut: so it is where the page shows only the beginning.
    """
    expected = result.example.expected
    if docs.numbers(expected) and docs.numbers(got):
        documented, here = docs.loose_layout(expected), docs.loose_layout(got)
        if documented == here:
            return replace(result, verdict=docs.Verdict.LAYOUT, note="")
        if may_be_cut and here[: len(documented)] == documented:
            return replace(result, verdict=docs.Verdict.LAYOUT, note=_CUT)
    return result


def mark_of(result: docs.Result, marks: PageMarks) -> str:
    """Return the line under an example; '' where there was nothing to compare."""
    if result.verdict is docs.Verdict.PASS:
        return marks.good.format(f"{marks.held} {result.note}".rstrip())
    if result.verdict is docs.Verdict.LAYOUT:
        return marks.good.format(f"{marks.layout} {result.note}".rstrip())
    if result.note and result.verdict in _DAMAGES:
        return marks.bad.format(f"{marks.differs} {_DAMAGES[result.verdict]}: {result.note}")
    if not result.failed or not result.example.documented and not result.example.value:
        return ""
    value = result.example.value
    expected = result.example.expected or (value.text if value else "")
    page, here = next(iter(docs.changes(expected, result.got)), (expected, result.got))
    return marks.bad.format(f"{marks.differs} page: {_short(page)} here: {_short(here)}")


def summary(verdicts: Counter[docs.Verdict], skipped: int, to_run: int) -> str:
    """Say how many examples there were of each verdict. to_run: so many were to be run."""
    total = verdicts.total()
    parts = [
        f"{verdicts[verdict]} {words}" for verdict, words in _WORDS.items() if verdicts[verdict]
    ]
    if skipped:
        parts.append(f"{skipped} not run")
    if to_run > total:
        parts.append(f"{to_run - total} left")
    inputs = counted(total, "input")
    return f"{inputs}: {', '.join(parts)}" if parts else "no input in this text"


def _short(text: str) -> str:
    return cut(" ".join(visible(text).split()), _SHOWN) or "nothing"

"""Writes a forward method: statements whose values have names, and short ones in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from th_shell.runtime.export.graph import Loop, Value
from th_shell.runtime.export.python_text import STEP, WIDTH, broken, free_name, is_name

_PLACE = re.compile(r"\{(\d+)\}")
_LOOSE = re.compile(r" (?:[-+*/@<>]|\*\*|==) |^-")  # operators, which may need brackets around them
_BEFORE, _BEHIND = re.compile(r"(?:[(\[]|, )$"), re.compile(r"^(?:[)\]]|,)")
_AVERAGE = "a_name"  # as long as many names are, before these are known


@dataclass(eq=False)
class Statement:
    """A line of a method, or a loop, which computes values from values."""

    inputs: list[Value]
    outputs: list[Value]
    #: The expression, in which ``{0}`` stands for the first input.
    text: str
    #: The name that the value gets where "x" is taken. Names of one letter, and several with spaces
    #: between, are used as they are.
    word: str
    loop: Loop | None = None
    #: The statements in the loop.
    body: list[Statement] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """Return a word for each output."""
        words = self.word.split()
        return words if len(words) == len(self.outputs) else [self.word] * len(self.outputs)

    @property
    def uses(self) -> list[Value]:
        """Return its inputs, as often as its text names them."""
        if self.loop is not None:
            return self.inputs
        return [self.inputs[int(number)] for number in _PLACE.findall(self.text)]


def forward_lines(
    inputs: Sequence[Value], outputs: Sequence[Value], statements: Sequence[Statement], indent: str
) -> list[str]:
    """Return the lines of the method."""
    places = ", ".join(f"{{{n}}}" for n in range(len(outputs)))
    every = [*_with_lists(statements), Statement(list(outputs), [], places, "")]
    writer = _Writer(_uses(every), len(outputs) > 1)
    arguments = [writer.names.argument(value, len(inputs) == 1) for value in inputs]
    return [f"    def forward(self, {', '.join(arguments)}):", *writer.lines(every, indent)]


def _with_lists(statements: Sequence[Statement]) -> list[Statement]:
    """Return statements in which loops make lists of their results, which are then joined."""
    result: list[Statement] = []
    for each in statements:
        result.append(each)
        if each.loop is not None:
            last, results = each.outputs[: each.loop.states], each.outputs[each.loop.states :]
            lists = [Value(value.graph) for value in results]
            each.outputs, each.body = [*last, *lists], _with_lists(each.body)
            for values, value in zip(lists, results, strict=True):
                result.append(Statement([values], [value], "torch.stack({0})", "x"))
    return result


def _uses(statements: Sequence[Statement]) -> Counter[int]:
    uses: Counter[int] = Counter()
    for each in statements:
        uses.update(id(value) for value in each.uses)
        if each.loop is not None:
            uses.update(id(value) for value in each.loop.body.outputs)
            uses.update(_uses(each.body))
    return uses


class _Writer:
    """Writes statements.

    names: those of the values so far. gives_many: whether several values are returned.
    """

    def __init__(self, uses: Counter[int], gives_many: bool) -> None:
        self.names = _Names(uses)
        self._uses = uses
        self._gives_many = gives_many

    def lines(self, statements: Sequence[Statement], indent: str) -> list[str]:
        """Return the lines of statements, of which one without outputs is what is returned."""
        names, lines = self.names, []
        for each in _merged(statements, self._uses, len(indent)):
            if each.loop is not None:
                lines += self._loop(each, each.loop, indent)
                continue
            text = names.filled(each)
            if not each.outputs:
                if self._gives_many and len(indent) + len("return ") + len(text) > WIDTH:
                    text = f"({text},)"
                return [*lines, broken(f"return {text}", indent)]
            lines.append(broken(f"{names.targets(each)} = {text}", indent))
        return lines

    def _loop(self, statement: Statement, loop: Loop, indent: str) -> list[str]:
        """Return the lines of a loop over the first dimension of sequences.

        It appends its results to lists.
        """
        names, body, count = self.names, loop.body, loop.states
        lines = self._states(statement, loop, indent)
        sequences = [names.name_of(value) for value in statement.inputs[count:]]
        lists = [names.new(value, "outputs") for value in statement.outputs[count:]]
        lines += [f"{indent}{name} = []" for name in lists]
        steps = [
            names.new(value, f"{name}_t")
            for value, name in zip(body.inputs[count:], sequences, strict=True)
        ]
        over = sequences[0] if len(steps) == 1 else f"zip({', '.join(sequences)})"
        lines.append(f"{indent}for {', '.join(steps)} in {over}:")
        inner = self.lines(statement.body, indent + STEP)
        results = [names.name_of(value) for value in body.outputs[count:]]
        pairs = zip(lists, results, strict=True)
        inner += [f"{indent}{STEP}{name}.append({result})" for name, result in pairs]
        inner += self._next_states(loop, indent + STEP)
        held = [*statement.inputs[count:], *loop.outer_values()]
        for value in (*held, *statement.inputs[count:], *body.inputs[count:], *body.outputs):
            names.use(value)
        for value, state in zip(statement.outputs, body.inputs[:count], strict=False):
            names.rename(state, value)
        return [*lines, *inner]

    def _states(self, statement: Statement, loop: Loop, indent: str) -> list[str]:
        """Give the states of a loop names of their own; return the assignments before the loop.

        Values that the loop uses, and does not change, keep their names in it.
        """
        names, lines = self.names, []
        for value in [*statement.inputs[loop.states :], *loop.outer_values()]:
            names.hold(value)
        states = zip(statement.inputs, loop.body.inputs[: loop.states], strict=False)
        for number, (first, state) in enumerate(states):
            old = names.name_of(first)
            names.use(first)
            name = names.new(state, old if names.is_free(old) else state.name)
            if name != old:
                lines.append(f"{indent}{name} = {old}")
            names.bind(state, loop.body.outputs[number])
        return lines

    def _next_states(self, loop: Loop, indent: str) -> list[str]:
        """Return statements for states whose names the new values do not have yet."""
        name_of = self.names.name_of
        pairs = [
            (name_of(state), name_of(last))
            for state, last in zip(loop.body.inputs[: loop.states], loop.body.outputs, strict=False)
        ]
        changed = [(old, new) for old, new in pairs if old != new]
        if not changed:
            return []
        targets, values = zip(*changed, strict=True)
        return [f"{indent}{', '.join(targets)} = {', '.join(values)}"]


def _merged(statements: Sequence[Statement], uses: Counter[int], indent: int) -> list[Statement]:
    """Put expressions that only the next statement uses into it, where there is room."""
    result: list[Statement] = []
    for statement in statements:
        while result and _can_merge(result[-1], statement, uses):
            together = _together(result[-1], statement)
            targets = [f"{word:2}, " for word in statement.words]
            if (
                indent
                + max(len("".join(targets)), len("return "))
                + len(_PLACE.sub(_AVERAGE, together.text))
                > WIDTH
            ):
                break
            result.pop()
            statement = together
        result.append(statement)
    return result


def _can_merge(last: Statement, statement: Statement, uses: Counter[int]) -> bool:
    (value, *more) = last.outputs
    in_loop = last.loop or statement.loop
    return not (more or in_loop or uses[id(value)] != 1) and value in statement.inputs


def _together(inner: Statement, outer: Statement) -> Statement:
    """Return a statement with another one's expression in the place of its value."""
    inputs: list[Value] = []

    def place(value: Value) -> str:
        if value not in inputs:
            inputs.append(value)
        return f"{{{inputs.index(value)}}}"

    def replace(match: re.Match[str]) -> str:
        value = outer.inputs[int(match[1])]
        if value is not inner.outputs[0]:
            return place(value)
        text = _PLACE.sub(lambda each: place(inner.inputs[int(each[1])]), inner.text)
        before, behind = outer.text[: match.start()], outer.text[match.end() :]
        whole = not (before or behind) or _BEFORE.search(before) and _BEHIND.search(behind)
        return text if whole or not _LOOSE.search(_outside(text)) else f"({text})"

    text = _PLACE.sub(replace, outer.text)
    return Statement(inputs, outer.outputs, text, outer.word, outer.loop)


def _outside(text: str) -> str:
    """Return the parts of a text that stand in no brackets."""
    chars, depth = [], 0
    for char in text:
        depth += char in "([{"
        if not depth:
            chars.append(char)
        depth -= char in ")]}"
    return "".join(chars)


class _Names:
    """The names of values in a method; that of a value which is no longer used is free again."""

    def __init__(self, uses: Counter[int]) -> None:
        self._left = Counter(uses)
        self._names: dict[int, str] = {}
        self._live: set[str] = set()
        self._states: dict[int, Value] = {}  # by what takes their names in a loop
        self._state_names: set[str] = set()  # names of states, which nothing else takes

    def argument(self, value: Value, alone: bool) -> str:
        """Return the name of an input of the method."""
        return self._set(value, "x" if alone else value.name or self._free("x"))

    def filled(self, statement: Statement) -> str:
        """Return an expression with the names of its inputs, each of which is used once more."""
        text = _PLACE.sub(
            lambda match: self.name_of(statement.inputs[int(match[1])]), statement.text
        )
        for value in statement.uses:
            self.use(value)
        return text

    def use(self, value: Value) -> None:
        """Note that a value was used."""
        self._left[id(value)] -= 1
        if self._left[id(value)] <= 0:
            self._live.discard(self.name_of(value))

    def hold(self, value: Value) -> None:
        """Keep a value's name until the end of a loop."""
        self._left[id(value)] += 1

    def targets(self, statement: Statement) -> str:
        """Return the names of what a statement computes."""
        keeps_word = " " in statement.word or len(statement.word) == 1
        pairs = zip(statement.outputs, statement.words, strict=True)
        return ", ".join(self._target(value, word, keeps_word) for value, word in pairs)

    def _target(self, value: Value, word: str, keeps_word: bool) -> str:
        if not self._left[id(value)]:
            return "_"
        state = self._states.get(id(value))
        if state is not None and self._left[id(state)] <= 0:
            return self._set(value, self.name_of(state))
        return self.new(value, word if keeps_word or "x" in self._live else "x")

    def new(self, value: Value, base: str) -> str:
        """Return a free name for a value."""
        return self._set(value, self._free(base))

    def bind(self, state: Value, last: Value) -> None:
        """Let what comes after a step have the name of a state, where nothing needs this then."""
        self._states.setdefault(id(last), state)
        self._state_names.add(self.name_of(state))

    def rename(self, state: Value, value: Value) -> None:
        """Give the last value of a state, behind the loop, the state's name."""
        name = self.name_of(state)
        self._state_names.discard(name)
        self._set(value, name)
        if not self._left[id(value)]:
            self._live.discard(name)

    def is_free(self, name: str) -> bool:
        """Tell whether no value has a name and will still be used by it."""
        return name not in self._live | self._state_names

    def name_of(self, value: Value) -> str:
        """Return a value's name."""
        return self._names[id(value)]

    def _set(self, value: Value, name: str) -> str:
        self._names[id(value)] = name
        self._live.add(name)
        return name

    def _free(self, base: str) -> str:
        base = base if is_name(base) else "x"
        for name in (base, "y", "z") if base == "x" else (base,):
            if self.is_free(name):
                return name
        return free_name(base, self._live | self._state_names)

"""Writes a forward method: statements whose values have names, and short ones in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runtime.export.graph import Loop, Value
from runtime.export.python_text import WIDTH, broken, is_name

_PLACE = re.compile(r"\{(\d+)\}")
_LOOSE = re.compile(r" (?:[-+*/@<>]|\*\*|==) |^-")  # operators, which may need brackets around them
_BEFORE, _BEHIND = re.compile(r"(?:[(\[]|, )$"), re.compile(r"^(?:[)\]]|,)")
_ROOM = len("        return ")
_AVERAGE = "a_name"  # as long as many names are, before these are known


@dataclass(eq=False)
class Statement:
    """Values from an expression of values: ``{0}`` stands for the first input."""

    inputs: list[Value]
    outputs: list[Value]
    text: str
    word: str
    loop: Loop | None = None


def forward_lines(
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    statements: Sequence[Statement],
    indent: str,
    keeps_values: bool = False,
) -> list[str]:
    """The lines of the method. keeps_values: told of `pytorch_source`."""
    uses = Counter(id(value) for each in statements for value in each.inputs)
    uses.update(id(value) for value in outputs)
    names = _Names(uses)
    arguments = [names.argument(value, len(inputs) == 1) for value in inputs]
    lines = [f"    def forward(self, {', '.join(arguments)}):"]
    places = ", ".join(f"{{{n}}}" for n in range(len(outputs)))
    every = [*statements, Statement(list(outputs), [], places, "")]
    for statement in every if keeps_values else _merged(every, uses):
        text = names.filled(statement)
        if not statement.outputs:
            if len(outputs) > 1 and len(text) + _ROOM > WIDTH:
                text = f"({text},)"
            return [*lines, broken(f"return {text}", indent)]
        target = ", ".join(names.target(value, statement.word) for value in statement.outputs)
        lines.append(broken(f"{target} = {text}", indent))
        if keeps_values:
            kept = [value for value in statement.outputs if names.is_live(value)]
            lines += [f"{indent}self.seen[{id(value)}] = {names.known(value)}" for value in kept]
    return lines


def _merged(statements: Sequence[Statement], uses: Counter[int]) -> list[Statement]:
    """With what is used once, by the next statement, within that one where there is room."""
    found: list[Statement] = []
    for statement in statements:
        while found:
            last = found[-1]
            value = last.outputs[0]
            if (
                len(last.outputs) > 1
                or uses[id(value)] != 1
                or value not in statement.inputs
                or last.loop
            ):
                break
            together = _together(last, statement)
            if len(_PLACE.sub(_AVERAGE, together.text)) + _ROOM > WIDTH:
                break
            found.pop()
            statement = together
        found.append(statement)
    return found


def _together(inner: Statement, outer: Statement) -> Statement:
    """A statement with another one's expression in the place of its value."""
    inputs: list[Value] = []

    def place(value: Value) -> str:
        if value not in inputs:
            inputs.append(value)
        return f"{{{inputs.index(value)}}}"

    def replace(found: re.Match[str]) -> str:
        value = outer.inputs[int(found[1])]
        if value is not inner.outputs[0]:
            return place(value)
        text = _PLACE.sub(lambda each: place(inner.inputs[int(each[1])]), inner.text)
        before, behind = outer.text[: found.start()], outer.text[found.end() :]
        whole = not (before or behind) or _BEFORE.search(before) and _BEHIND.search(behind)
        return text if whole or not _LOOSE.search(_outside(text)) else f"({text})"

    text = _PLACE.sub(replace, outer.text)
    return Statement(inputs, outer.outputs, text, outer.word, outer.loop)


def _outside(text: str) -> str:
    """What of a text stands in no brackets."""
    kept, depth = [], 0
    for char in text:
        depth += char in "([{"
        if not depth:
            kept.append(char)
        depth -= char in ")]}"
    return "".join(kept)


class _Names:
    """The names of values in a method; that of a value which is no longer used is free again."""

    def __init__(self, uses: Counter[int]) -> None:
        self._left = Counter(uses)
        self._names: dict[int, str] = {}
        self._live: set[str] = set()

    def argument(self, value: Value, alone: bool) -> str:
        """The name of an input of the method."""
        name = "x" if alone else value.name or self._free("x")
        return self._set(value, name)

    def filled(self, statement: Statement) -> str:
        """An expression with the names of its inputs, each of which is used once more."""
        text = _PLACE.sub(lambda found: self.known(statement.inputs[int(found[1])]), statement.text)
        for value in statement.inputs:
            self._left[id(value)] -= 1
            if self._left[id(value)] <= 0:
                self._live.discard(self.known(value))
        return text

    def target(self, value: Value, word: str) -> str:
        """The name of a new value."""
        if not self._left[id(value)]:
            return "_"
        return self._set(value, self._free("x" if "x" not in self._live else word))

    def is_live(self, value: Value) -> bool:
        """Whether a value has a name."""
        return id(value) in self._names

    def known(self, value: Value) -> str:
        return self._names[id(value)]

    def _set(self, value: Value, name: str) -> str:
        self._names[id(value)] = name
        self._live.add(name)
        return name

    def _free(self, base: str) -> str:
        base = base if is_name(base) else "x"
        for name in (base, "y", "z") if base == "x" else (base,):
            if name not in self._live:
                return name
        number = 2
        while f"{base}{number}" in self._live:
            number += 1
        return f"{base}{number}"

"""Writes a forward method: statements whose values have names, and short ones in one line."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from th_shell.runtime.export.graph import Loop, Value
from th_shell.runtime.export.python_text import (
    BODY,
    STEP,
    WIDTH,
    broken,
    free_name,
    is_name,
    with_comment,
)

_PLACE = re.compile(r"\{(\d+)\}")
_OPERATOR = re.compile(r" ([-+*/@<>]|\*\*|==) ")
_ENDS, _BEGINS = re.compile(r" ([-+*/@<>]|\*\*|==) $"), re.compile(r"^ ([-+*/@<>]|\*\*|==) ")
#: How tightly operators bind; a sign, and what needs no brackets.
_BINDING = {"==": 0, "<": 0, ">": 0, "+": 1, "-": 1, "*": 2, "/": 2, "@": 2, "**": 4}
_SIGN, _WHOLE = 3, 5
_BEFORE, _BEHIND = re.compile(r"(?:[(\[]|, )$"), re.compile(r"^(?:[)\]]|,)")


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
    #: The loop, whose steps the method `step` takes.
    loop: Loop | None = None

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


def method_lines(
    name: str,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    statements: Sequence[Statement],
    sizes_of: Callable[[Value], str],
) -> list[str]:
    """Return the lines of a method. sizes_of: a value's sizes for comments; "" for none."""
    places = ", ".join(f"{{{n}}}" for n in range(len(outputs)))
    every = [*_with_lists(statements), Statement(list(outputs), [], places, "")]
    writer = _Writer(_uses(every), outputs, sizes_of)
    arguments = [writer.names.argument(value, len(inputs) == 1) for value in inputs]
    taken = ", ".join(["self", *[f"{each}: Tensor" for each in arguments]])
    given = "Tensor" if len(outputs) == 1 else f"tuple[{', '.join(['Tensor'] * len(outputs))}]"
    sizes = _argument_sizes(dict(zip(arguments, map(sizes_of, inputs), strict=True)))
    head = f"{broken(f'def {name}({taken})', STEP, len(f' -> {given}:'))} -> {given}:"
    return [head, *sizes, *writer.lines(every, BODY)]


def _argument_sizes(arguments: Mapping[str, str]) -> list[str]:
    """Return a comment with the sizes that are known."""
    names: dict[str, list[str]] = {}
    for name, sizes in arguments.items():
        names.setdefault(sizes, []).append(name)
    texts = [f"{', '.join(alike)}: {sizes}" for sizes, alike in names.items() if sizes]
    lines = [f"{BODY}# {'; '.join(texts)}"]
    return lines if texts and len(lines[0]) <= WIDTH else [f"{BODY}# {text}" for text in texts]


def _with_lists(statements: Sequence[Statement]) -> list[Statement]:
    """Return statements in which loops make lists of their results, which are then joined."""
    result: list[Statement] = []
    for each in statements:
        result.append(each)
        if each.loop is not None:
            results = each.outputs
            each.outputs = [Value(value.graph) for value in results]
            for values, value in zip(each.outputs, results, strict=True):
                result.append(Statement([values], [value], "torch.stack({0})", "x"))
    return result


def _uses(statements: Sequence[Statement]) -> Counter[int]:
    return Counter(id(value) for each in statements for value in each.uses)


class _Writer:
    """Writes statements.

    names: those of the values so far. returned: what the method returns.
    """

    def __init__(
        self, uses: Counter[int], returned: Sequence[Value], sizes_of: Callable[[Value], str]
    ) -> None:
        self._returned = returned
        self.names = _Names(uses)
        self._sizes_of = sizes_of
        self._uses = uses
        self._gives_many = len(returned) > 1

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
                sizes = "" if self._gives_many else self._sizes_of(self._returned[0])
                return [*lines, with_comment(broken(f"return {text}", indent), sizes)]
            line = broken(f"{names.targets(each)} = {text}", indent)
            lines.append(with_comment(line, self._comment(each)))
        return lines

    def _comment(self, statement: Statement) -> str:
        """Return the sizes of a value, where they are others than those of the inputs."""
        value = statement.outputs[0]
        is_new = all(each.shape != value.shape for each in statement.inputs)
        return self._sizes_of(value) if is_new and len(statement.outputs) == 1 else ""

    def _loop(self, statement: Statement, loop: Loop, indent: str) -> list[str]:
        """Return the lines of a loop over the first dimension of sequences.

        It gives each step to a method, and appends its results to lists.
        """
        names, lines = self.names, []
        states: list[str] = []
        for value, state in zip(statement.inputs, loop.body.inputs[: loop.states], strict=False):
            name = names.name_of(value)
            if value.node is None or name in states:  # it has another use
                lines.append(f"{indent}{(new := names.new(state, state.name))} = {name}")
                name = new
            states.append(name)
        others = [names.name_of(value) for value in statement.inputs[loop.states :]]
        sequences = others[: len(loop.body.inputs) - loop.states]
        lists = [names.new(value, "outputs") for value in statement.outputs]
        lines += [f"{indent}{name} = []" for name in lists]
        steps = [names.new(Value(loop.body), f"{name}_t") for name in sequences]
        over = sequences[0] if len(steps) == 1 else f"zip({', '.join(sequences)})"
        lines.append(f"{indent}for {', '.join(steps)} in {over}:")
        places = dict(zip(map(id, loop.body.outputs), states, strict=False))
        results = [
            places.get(id(each)) or places.setdefault(id(each), names.new(each, "output"))
            for each in loop.results
        ]
        targets = ", ".join([places[id(each)] for each in loop.step_outputs])
        taken = ", ".join([*steps, *states, *others[len(steps) :]])
        lines.append(broken(f"{targets} = self.step({taken})", indent + STEP))
        pairs = zip(lists, results, strict=True)
        lines += [f"{indent}{STEP}{name}.append({result})" for name, result in pairs]
        for last, name in zip(loop.body.outputs, states, strict=False):
            if places[id(last)] != name:  # two states go on with one value
                lines.append(f"{indent}{STEP}{name} = {places[id(last)]}")
        for value in statement.inputs:
            names.use(value)
        return lines


def _merged(statements: Sequence[Statement], uses: Counter[int], indent: int) -> list[Statement]:
    """Put expressions that one statement uses, once, into it, where there is room."""
    result: list[Statement] = []
    made: dict[int, Statement] = {}
    for statement in statements:
        for value in statement.inputs[::-1] if statement.loop is None else ():
            inner = made.get(id(value))
            if inner is None or uses[id(value)] != 1 or not _is_short(inner, statement, indent):
                continue
            result.remove(inner)
            statement = _together(inner, statement)
        result.append(statement)
        if statement.loop is None and len(statement.outputs) == 1:
            made[id(statement.outputs[0])] = statement
    return result


def _is_short(inner: Statement, outer: Statement, indent: int) -> bool:
    """Tell whether two statements as one have room in a line."""
    if not outer.outputs and len(outer.inputs) > 1 and len(inner.word) == 1 and inner.word != "x":
        return False  # a state is returned by its name
    targets = [f"{word:2}, " for word in outer.words]
    whole = _together(inner, outer)
    text = _PLACE.sub(lambda match: _guessed_name(whole.inputs[int(match[1])]), whole.text)
    return indent + max(len("".join(targets)), len("return ")) + len(text) <= WIDTH


def _guessed_name(value: Value) -> str:
    """Return a name as long as a value's will be."""
    word = value.node.word if value.node else value.name
    is_letter = all(len(each) == 1 for each in word.split()) and word != "x"
    return "x" if is_letter or value.name == "x" else "a_name"


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
        return f"({text})" if _needs_brackets(text, before, behind) else text

    text = _PLACE.sub(replace, outer.text)
    return Statement(inputs, outer.outputs, text, outer.word)


def _needs_brackets(text: str, before: str, behind: str) -> bool:
    """Tell whether a text needs brackets between others, to be computed in the same order."""
    if not (before or behind) or _BEFORE.search(before) and _BEHIND.search(behind):
        return False
    binding = min((_BINDING[sign] for sign in _OPERATOR.findall(_outside(text))), default=_WHOLE)
    binding = min(binding, _SIGN) if text[0] == "-" else binding
    left, right = _ENDS.search(before), _BEGINS.match(behind)
    if behind[:1] in (".", "["):
        return binding < _WHOLE
    signed = before[-1:] == "-"
    outer_left = _BINDING[left[1]] if left else _SIGN if signed else -1
    return binding <= outer_left or right is not None and binding < _BINDING[right[1]]


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

    def argument(self, value: Value, alone: bool) -> str:
        """Return the name of an input of the method."""
        return self._set(value, "x" if alone else self._free(value.name or "x"))

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

    def targets(self, statement: Statement) -> str:
        """Return the names of what a statement computes."""
        keeps_word = " " in statement.word or len(statement.word) == 1
        pairs = zip(statement.outputs, statement.words, strict=True)
        return ", ".join(self._target(value, word, keeps_word) for value, word in pairs)

    def _target(self, value: Value, word: str, keeps_word: bool) -> str:
        if not self._left[id(value)]:
            return "_"
        return self.new(value, word if keeps_word or "x" in self._live else "x")

    def new(self, value: Value, base: str) -> str:
        """Return a free name for a value."""
        return self._set(value, self._free(base))

    def is_free(self, name: str) -> bool:
        """Tell whether no value has a name and will still be used by it."""
        return name not in self._live

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
        return free_name(base, self._live)

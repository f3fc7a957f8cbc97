"""Runs the language of CMake: variables, lists, texts, conditions, loops, functions and macros.

What further commands do stands in `cmake_commands.py` and `cmake_lists.py`. Commands that are not
known, as those that find or build libraries, do nothing. The behaviour is that of CMake's manual,
cmake-language(7).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"#\[(?P<comment_level>=*)\[.*?\](?P=comment_level)\]|#[^\n]*|\s+"
    r"|(?P<word>[^\s()#\"\\]+(?:\\.[^\s()#\"\\]*)*|(?:\\.[^\s()#\"\\]*)+)"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bracket>[()])',
    re.S,
)
_LONG = re.compile(r"\[(?P<level>=*)\[\n?(?P<text>.*?)\](?P=level)\]", re.S)
_VARIABLE = re.compile(r"\$(?:ENV)?\{([^${}]*)\}")
_ESCAPED = re.compile(r"\\(.)", re.S)
_FALSE = re.compile(r"(?:0|off|no|false|n|ignore|notfound|.*-notfound)?", re.I)
_TRUE = re.compile(r"1|on|yes|true|y|-?[1-9]\d*", re.I)
#: The words by which blocks end, and those that part them.
_ENDS = {f"end{name}" for name in ("if", "foreach", "while", "function", "macro")}
_PARTS = ("elseif", "else")

MOST_COMMANDS = 100_000  # a loop may have no end
LONGEST = 1 << 20  # characters of a variable, which may double with each line


class Stop(Exception):
    """Ends a loop, a function or a file: its argument is 'break', 'continue' or 'return'."""


class Word(str):
    """An argument as it is written."""

    #: True if it stands in quotes: then it is one argument, and no name of a variable.
    is_quoted = False

    @classmethod
    def quoted(cls, text: str) -> Word:
        """Return an argument that stands in quotes."""
        word = cls(text)
        word.is_quoted = True
        return word


@dataclass
class Command:
    """A call of a command; for `if` and the like, with what is between it and its end."""

    name: str
    words: list[Word]
    body: list[Command] = field(default_factory=list)


def parse(text: str) -> list[Command]:
    """Return the commands of a file; what cannot be read ends it."""
    return _blocks(iter(list(_commands(text))))[0]


def _commands(text: str) -> Iterator[Command]:
    name, words, depth = "", list[Word](), 0
    for token in _tokens(text):
        is_bracket = token in ("(", ")") and not token.is_quoted
        if depth == 0 and not is_bracket:
            name = token
        elif is_bracket:
            depth += 1 if token == "(" else -1
            if depth == 0:
                yield Command(name.lower(), words)
                words = []
            elif depth > 1 or token == ")":
                words.append(token)
        else:
            words.append(token)


def _tokens(text: str) -> Iterator[Word]:
    at = 0
    while at < len(text):
        if long := _LONG.match(text, at):
            yield Word.quoted(long["text"].replace("\\", "\\\\").replace("$", "\\$"))
            at = long.end()
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            return
        at = match.end()
        if match["quoted"] is not None:
            yield Word.quoted(match["quoted"])
        elif match["word"] or match["bracket"]:
            yield Word(match["word"] or match["bracket"])


def _blocks(commands: Iterator[Command]) -> tuple[list[Command], Command | None]:
    """Return commands with their bodies, up to one that ends or parts a block; and that one."""
    body: list[Command] = []
    for command in commands:
        if command.name in _ENDS or command.name in _PARTS:
            return body, command
        body.append(command)
        if f"end{command.name}" in _ENDS:
            command.body, end = _blocks(commands)
            while end and end.name in _PARTS:
                body.append(end)
                end.body, end = _blocks(commands)
    return body, None


class Interpreter:
    """Runs commands, in scopes of variables."""

    def __init__(self, acts: Mapping[str, Callable[[Interpreter, list[str]], None]]) -> None:
        """Make an interpreter.

        acts: what commands do, by their names: each is called with the interpreter and the values
        of its arguments.
        """
        #: The variables of a file and of those that it adds, and of the functions that run.
        self.scopes: list[dict[str, str]] = [{}]
        self._acts = acts
        self._functions: dict[str, Command] = {}
        self._left = MOST_COMMANDS

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables of the innermost scope."""
        return self.scopes[-1]

    def run(self, commands: Sequence[Command]) -> None:
        """Run commands. Raises Stop."""
        was_true = False
        for command in commands:
            self._count()
            if command.name in ("if", *_PARTS):
                was_true = was_true and command.name != "if"
                if not was_true and (command.name == "else" or self._is_true(command.words)):
                    was_true = True
                    self.run(command.body)
            else:
                self._call(command)

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Stop("return")

    def _call(self, command: Command) -> None:
        name, words = command.name, command.words
        if name in ("function", "macro"):
            self._functions.update({word.lower(): command for word in words[:1]})
        elif name == "foreach":
            self._loop(self._items(*self.values(words)), command.body)
        elif name == "while":
            self._loop(iter(lambda: self._is_true(words), False), command.body)
        elif name in ("break", "continue", "return"):
            raise Stop(name)
        elif name in self._functions:
            self._call_function(self._functions[name], self.values(words))
        elif name in self._acts and (values := self.values(words)):
            # Other arguments than there should be, or names too long for a file.
            with suppress(IndexError, KeyError, ValueError, OSError):
                self._acts[name](self, values)

    def values(self, words: Sequence[Word]) -> list[str]:
        """Return the values of arguments; those without quotes are taken apart at semicolons."""
        values: list[str] = []
        for word in words:
            value = self.expand(word)
            values += [value] if word.is_quoted else elements(value)
        return values

    def expand(self, text: str) -> str:
        """Put the values of variables into a text, the inner ones first."""
        text = text.replace("\\$", "\0")
        while match := _VARIABLE.search(text):
            self._count()
            value = self.variables.get(_plain(match[1]), "")
            value = value.replace("$", "\0").replace("\\", "\1")  # which are not read again
            text = (text[: match.start()] + value + text[match.end() :])[:LONGEST]
        unescaped = _ESCAPED.sub(lambda c: {"n": "\n", "t": "\t"}.get(c[1], c[1]), text)
        return _plain(unescaped)

    # -- blocks

    def _items(self, name: str = "", *values: str) -> Iterator[None]:
        """Set the variable of a `foreach` to one value after the other."""
        items = list(values)
        if items[:1] == ["RANGE"]:
            first, last, step = _range_of([*map(number, items[1:])])
            items = [str(item) for item in range(first, last + 1, max(step, 1))[:MOST_COMMANDS]]
        elif items[:2] == ["IN", "LISTS"]:
            items = [e for name in items[2:] for e in elements(self.variables.get(name, ""))]
        elif items[:2] == ["IN", "ITEMS"]:
            items = items[2:]
        for item in items:
            self.variables[name] = item
            yield

    def _loop(self, turns: Iterator[object], body: Sequence[Command]) -> None:
        for _ in turns:
            self._count()
            try:
                self.run(body)
            except Stop as stop:
                if stop.args[0] == "break":
                    return
                if stop.args[0] == "return":
                    raise

    def _call_function(self, function: Command, values: Sequence[str]) -> None:
        names = [str(word) for word in function.words[1:]]
        given = dict(zip(names, values, strict=False))
        given |= {f"ARGV{i}": value for i, value in enumerate(values)}
        given |= {"ARGC": str(len(values)), "ARGV": ";".join(values)}
        given["ARGN"] = ";".join(values[len(names) :])
        hidden = {name: self.variables[name] for name in given if name in self.variables}
        if function.name == "function":
            self.scopes.append(dict(self.variables))
        self.variables.update(given)
        try:
            self.run(function.body)
        except Stop:
            pass
        finally:
            if function.name == "function":
                self.scopes.pop()
            else:  # a macro, whose other variables stay
                for name in given:
                    self.variables.pop(name, None)
                self.variables.update(hidden)

    # -- conditions

    def _is_true(self, words: Sequence[Word]) -> bool:
        """Return the value of a condition: OR binds less than AND, and that less than NOT."""
        left = list(words)

        def either() -> bool:
            value = both()
            while left and left[0] == "OR":
                left.pop(0)
                value = both() or value
            return value

        def both() -> bool:
            value = single()
            while left and left[0] == "AND":
                left.pop(0)
                value = single() and value
            return value

        def single() -> bool:
            word = left.pop(0) if left else Word()
            if word == "NOT" and not word.is_quoted:
                return not single()
            if word == "(" and not word.is_quoted:
                value = either()
                left.pop(0) if left else None
                return value
            if left and (test := _TESTS.get(word)):
                return test(self, self.expand(left.pop(0)))
            if len(left) > 1 and (compare := _COMPARISONS.get(left[0].removeprefix("VERSION_"))):
                left.pop(0)
                return compare(self._operand(word), self._operand(left.pop(0)))
            return self._is_constant_true(word)

        return either()

    def _operand(self, word: Word) -> str:
        value = self.expand(word)
        return value if word.is_quoted else self.variables.get(value, value)

    def _is_constant_true(self, word: Word) -> bool:
        value = self.expand(word)
        if not word.is_quoted and not _TRUE.fullmatch(value):
            value = self.variables.get(value, "")
            return not _FALSE.fullmatch(value)
        return bool(_TRUE.fullmatch(value))


# -- conditions


def elements(text: str) -> list[str]:
    """Return the elements of a list that are not empty."""
    return [element for element in text.split(";") if element]


def _plain(text: str) -> str:
    """Put back the characters that `expand` has hidden."""
    return text.replace("\0", "$").replace("\1", "\\")


def _range_of(numbers: Sequence[int]) -> tuple[int, int, int]:
    """Return the first and last number and the step of a `foreach` by what stands behind RANGE."""
    if len(numbers) < 2:
        return 0, sum(numbers), 1
    return numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 1


def number(text: str) -> int:
    """Return the whole number that a text is; 0 for other texts."""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else 0


def matches(text: str, pattern: str) -> bool:
    """Tell whether a regular expression is found in a text; False for one that is none."""
    with suppress(re.error):
        return re.search(pattern, text) is not None
    return False


def _version(text: str) -> list[int]:
    return [*map(number, text.split("."))]


_TESTS: Mapping[str, Callable[[Interpreter, str], bool]] = {
    "DEFINED": lambda run, name: name in run.variables,
    "EXISTS": lambda _, path: os.path.exists(path),
    "IS_DIRECTORY": lambda _, path: os.path.isdir(path),
    "IS_ABSOLUTE": lambda _, path: path.startswith("/"),
    "COMMAND": lambda run, name: name.lower() in run._functions,
    "TARGET": lambda *_: False,
}
_COMPARISONS: Mapping[str, Callable[[str, str], bool]] = {
    "STREQUAL": lambda a, b: a == b,
    "STRLESS": lambda a, b: a < b,
    "STRGREATER": lambda a, b: a > b,
    "MATCHES": matches,
    "EQUAL": lambda a, b: _version(a) == _version(b),
    "LESS": lambda a, b: _version(a) < _version(b),
    "GREATER": lambda a, b: _version(a) > _version(b),
    "LESS_EQUAL": lambda a, b: _version(a) <= _version(b),
    "GREATER_EQUAL": lambda a, b: _version(a) >= _version(b),
    "IN_LIST": lambda a, b: a in elements(b),
}

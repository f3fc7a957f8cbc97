"""Python's text: literals, calls, and lines that are broken as formatters of Python do it."""

import builtins
from collections.abc import Collection
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from th_shell.runtime.export.graph import Call
from th_shell.runtime.export.parameters import Parameter

WIDTH = 88  # of a line
STEP = "    "
BODY = STEP * 2  # the indentation of a method's statements
_OPENING, _CLOSING = "([{", ")]}"


_IMPORTED = frozenset(["F", "Tensor", "nn", "self", "torch"])
_BUILTINS = frozenset(dir(builtins))
_OF_MODULES = frozenset(  # attributes that nn.Module has
    "apply bfloat16 buffers children compile cpu cuda double eval extra_repr float forward half "
    "modules parameters state_dict to train training type zero_grad".split()
)


def is_name(text: str) -> bool:
    """Tell whether a variable may have this name."""
    return _is_identifier(text) and text not in _BUILTINS


def _is_identifier(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text) and text not in _IMPORTED


def is_attribute(text: str) -> bool:
    """Tell whether an attribute of a module, and an argument, may have this name."""
    return _is_identifier(text) and text not in _OF_MODULES


def free_name(base: str, *taken: Collection[str], between: str = "") -> str:
    """Return a name that is not taken yet: the base, or with a number behind it, from 2 on."""
    name, number = base, 2
    while any(name in each for each in taken):
        name, number = f"{base}{between}{number}", number + 1
    return name


@dataclass(frozen=True)
class Formula:
    """A number that is written as an expression."""

    text: str


def literal(value: Any) -> str:
    """Return a value as Python's text."""
    if isinstance(value, Call):
        return call_text(value)
    if isinstance(value, Formula):
        return value.text
    if isinstance(value, tuple):
        inner = ", ".join(map(literal, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, str):
        return f'"{value}"'
    if value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value)


def call_text(call: Call) -> str:
    """Return a call in one line."""
    shown = [
        literal(value) if name in call.plain else f"{name}={literal(value)}"
        for name, value in call.named.items()
        if name not in call.defaults or call.defaults[name] != value
    ]
    return f"{call.function}({', '.join(shown)})"


def parameter_text(name: str, parameter: Parameter, sizes: str) -> str:
    """Return the statement that makes a parameter, or a buffer, an attribute."""
    if parameter.trained:
        return f"self.{name} = nn.Parameter(torch.empty({sizes}))"
    dtype = parameter.dtype("float32").name
    kind = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    return f'self.register_buffer("{name}", torch.empty({sizes}{kind}))'


def with_comment(line: str, comment: str) -> str:
    """Return a line, which may be several, with a comment if there is one, and room for it."""
    whole = f"{line}  # {comment}"
    return whole if comment and len(whole.rpartition("\n")[2]) <= WIDTH else line


def broken(text: str, indent: str, used: int = 0) -> str:
    """Return a statement's text in lines that are not too long.

    Where it is, or has a comma behind the last argument, each argument of the last call gets a
    line of its own. used: characters behind the text.
    """
    if len(indent) + len(text) + used <= WIDTH and ",)" not in text.replace("(,)", ""):
        return indent + text
    parts = _last_call(text)
    if parts is None:
        return indent + text
    start, arguments, end = parts
    room = WIDTH - len(indent) - len(STEP)
    if len(arguments) == 1 and not text.endswith(",)") and len(arguments[0]) <= room:
        inner = broken(arguments[0], indent + STEP)
        return f"{indent}{start}\n{inner}\n{indent}{end}"
    lines = [broken(argument, indent + STEP, 1) + "," for argument in arguments]
    return "\n".join([indent + start, *lines, indent + end])


def _last_call(text: str) -> tuple[str, list[str], str] | None:
    """Split a text at its last outer pair of brackets.

    Returns the text up to the opening bracket, the arguments in the brackets, and the text from the
    closing bracket on; None where there are no brackets with arguments.
    """
    last = max(text.rfind(bracket) for bracket in _CLOSING)
    first, depth = last, 1
    while depth and first > 0:
        first -= 1
        depth += (text[first] in _CLOSING) - (text[first] in _OPENING)
    arguments = split_arguments(text[first + 1 : last]) if last > first else []
    return (text[: first + 1], arguments, text[last:]) if arguments else None


def split_arguments(text: str) -> list[str]:
    """Split arguments at the commas that stand in no brackets."""
    arguments, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in _OPENING) - (char in _CLOSING)
        if char == "," and depth == 0:
            arguments.append(text[start:place].strip())
            start = place + 1
    arguments.append(text[start:].strip())
    return [argument for argument in arguments if argument]

"""Makes up pages whose examples hold, with outputs in the many ways that authors write them."""

import random
from collections.abc import Callable
from textwrap import indent

_PLACES = ("", "", " ", "  ")


def made_up_page(chance: random.Random) -> tuple[str, str]:
    """A page of some examples: its text, and how its name ends."""
    language, kinds = chance.choice([("lua", _LUA), ("python", _PYTHON)])
    code = "".join(chance.choice(kinds)(chance) for _ in range(chance.randint(4, 12)))
    if chance.random() < 0.3:
        margin = " " * chance.randint(2, 5)
        return f"Title\n=====\n\n.. code:: {language}\n\n{indent(code, margin)}\nThe end.\n", ".rst"
    ends = chance.choice(["\n", "\n", "\r\n"])
    return f"# A page\n\n```{language}\n{code}```\n\nThe end.\n".replace("\n", ends), ".md"


def _arithmetic(chance: random.Random) -> str:
    a, b = chance.randint(2, 40), chance.randint(2, 40)
    return f"> {a} * {b}\n{chance.choice(_PLACES)}{a * b}\n"


def _fraction(chance: random.Random) -> str:
    a, b = chance.randint(1, 9), chance.choice([3, 7, 9, 11])
    digits = chance.choice([2, 3, 4, 6])
    shown = f"{a / b:.{digits}f}" if a % b else str(a // b)
    return f"> {a} / {b}\n{chance.choice(_PLACES)}{shown}\n"


def _printed(chance: random.Random) -> str:
    values = [str(chance.choice([chance.randint(-9, 99), 1.5, -0.25])) for _ in range(3)]
    space = chance.choice([" ", "  ", "    ", "\t"])
    comment = chance.choice(["", "", "  -- three of them"])
    return f"print({', '.join(values)})\n{space.join(values)}{comment}\n"


def _loop(chance: random.Random) -> str:
    count, word = chance.randint(2, 6), chance.choice(["a", "apple", "nan"])
    space = chance.choice([" ", "   ", "\t"])
    lines = [f"{n}{space}{word}" for n in range(1, count + 1)]
    if count > 3 and chance.random() < 0.3:
        lines[1:-1] = ["..."]
    rows = "\n".join(lines)
    return f"> for i = 1, {count} do print(i, '{word}') end\n{rows}\n"


def _tensor(chance: random.Random) -> str:
    rows = [[chance.randint(-20, 20) for _ in range(3)] for _ in range(chance.randint(1, 4))]
    code = ", ".join(f"{{{', '.join(map(str, row))}}}" for row in rows)
    width = max(len(str(abs(n))) for row in rows for n in row) + 1
    space = chance.choice(["as printed", "wider", " ", "  "])
    printed = lines = [" ".join(f"{n:{width}}" for n in row) for row in rows]
    if space == "wider":
        lines = ["".join(f"{n:{width + 1}}" for n in row) for row in rows]
    elif space != "as printed":
        lines = [space.join(map(str, row)) for row in rows]
    if {line.strip() for line in lines} & {line.strip() for line in printed}:
        lines = printed  # else a line would tell of others what is not so
    of = chance.choice(["size", "dimension"])
    shape = f"[torch.DoubleTensor of {of} {len(rows)}x3]"
    between = chance.choice(["", "\n"])
    return f"> torch.Tensor{{{code}}}\n" + "\n".join(lines) + f"\n{shape}\n{between}"


def _table(chance: random.Random) -> str:
    items = chance.sample(["one", "two", "three", "four"], chance.randint(1, 4))
    code = ", ".join(f"'{item}'" for item in items)
    rows = "\n".join(f'  {n} : "{item}"' for n, item in enumerate(items, 1))
    return f"> {{{code}}}\n{{\n{rows}\n}}\n"


def _python_value(chance: random.Random) -> str:
    number = chance.choice([0.5, 1 / 3, 12, -7, 1e-7])
    value = chance.choice([[1, number, 3], {"a": number, "b": 2}, (number, "text"), number])
    return f">>> {value!r}\n{value!r}\n"


def _python_lines(chance: random.Random) -> str:
    lines = chance.choices(["one", "", "two 2", "  three", "x"], k=chance.randint(1, 4))
    shown = "\n".join(line or "<BLANKLINE>" for line in lines)
    return f">>> for line in {lines!r}:\n...     print(line)\n{shown}\n"


def _python_object(chance: random.Random) -> str:
    number = chance.randint(1, 99)
    return f">>> print(object(), {number})\n<object object at ...> {number}\n"


_Kind = Callable[[random.Random], str]
_LUA: list[_Kind] = [_arithmetic, _fraction, _printed, _loop, _tensor, _table]
_PYTHON: list[_Kind] = [_python_value, _python_lines, _python_object]

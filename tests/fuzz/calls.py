"""Random calls of everything that can be called, with arguments of every kind and class.

Most arguments are what the form asks for, so that the implementations are reached.
"""

from collections.abc import Sequence
from random import Random

from tests.data_files import data
from tests.fuzz.cases import Case
from tests.fuzz.operations import Operation, operations
from tests.fuzz.values import HUGE, Values

_FITTING = 0.75  # the share of calls all of whose arguments are what the form asks for
_STATEMENTS = 30

_MODES = ("'r'", "'w'", "'rw'", "'r'", "'x'")
_FORMATS = ("'*a'", "'*l'", "'abc'", "'*'")
_CALLBACKS = tuple(data(__file__, "_CALLBACKS"))


def make(rng: Random) -> Case:
    """A program of some tensors and many calls."""
    dtype = rng.choice(("Double", "Double", "Double", "Float", "Float", "Long", "Int"))
    if rng.random() < 0.2:
        dtype = rng.choice(("Short", "Char", "Byte", "Half"))
    values = Values(rng, dtype)
    lines = [_declared(values, f"v[{i}]", ndim) for i, ndim in enumerate((1, 2, 2, 3), 1)]
    other = rng.choice(("Double", "Float", "Long", "Byte", "Half"))
    lines.append(_declared(values, "v[5]", 2, other))
    lines.append("v[6] = torch.MemoryFile() v[6]:writeObject({1, torch.ones(2)}) v[6]:seek(1)")
    lines += [_statement(values, 2) for _ in range(_STATEMENTS)]
    return Case.of_lines(lines)


def _declared(values: Values, name: str, ndim: int, dtype: str | None = None) -> str:
    dtype = dtype or values.dtype
    return f"try(function() {values.declare(name, dtype, ndim)} end)"


def _statement(values: Values, depth: int) -> str:
    rng = values.rng
    chance = rng.random()
    target = f"v[{rng.randint(7, 12)}]"
    if chance < 0.04:
        return f"use(v[{rng.randint(1, 12)}])"
    if chance < 0.05:
        return "collectgarbage()"
    if chance < 0.06:
        return f"finally(function() return {call(values, _chosen(values))} end)"
    if chance < 0.08:
        # Memory is written: at both ends of whatever is there.
        body = "if t:nElement() < 1e8 then t:fill(1) t[t:nElement()] = 2 end"
        return f"try(function() local t = v[{rng.randint(1, 12)}] {body} end)"
    if chance < 0.10:
        return f"{target} = try(function() return {_indexed(values)} end)"
    if chance < 0.11 and depth:
        body = " ".join(_statement(values, 0) for _ in range(3))
        result = rng.choice(("x", "nil", "1", "x + 1", "{}"))
        # A few times only: what grows a tensor, such as a full convolution with itself, would
        # grow it for each element.
        few = "calls = calls + 1 if calls > 3 then return x end"
        callback = f"function(x) {few} {body} return {result} end"
        applied = f"v[{rng.randint(1, 5)}]:apply({callback})"
        counted = f"called(function() return calls end, {applied})"
        return f"try(function() local calls = 0 return {counted} end)"
    return f"{target} = try(function() return {call(values, _chosen(values))} end)"


def _chosen(values: Values) -> Operation:
    rng = values.rng
    all_of_them = operations()
    # Those of the program's class have tensors that fit.
    for _ in range(4):
        operation = rng.choice(all_of_them)
        if operation.dtype == values.dtype:
            break
    return operation


def _indexed(values: Values) -> str:
    rng = values.rng
    tensor = values.tensor()
    index = rng.choice(
        (
            values.number("index"),
            values.any(),
            rng.choice(HUGE),
            f"{{{values.number('index')}, {{1, {values.number('index')}}}}}",
            f"{{{{}}, {values.any()}}}",
            f"{{{{{values.number('long')}, {values.number('long')}}}}}",
            "{1, 1}",
            f"{tensor}:gt(1)",
        )
    )
    if rng.random() < 0.4:
        return f"(function() local t = {tensor} t[{index}] = {values.any()} end)()"
    operator = rng.choice(("+", "-", "*", "/", "%", "^", "==", "..", "<"))
    if rng.random() < 0.4:
        return f"{tensor} {operator} {rng.choice((values.tensor(), '2', values.any()))}"
    return f"({tensor})[{index}]"


def call(values: Values, operation: Operation, fitting: float = _FITTING) -> str:
    """A call of an operation, with fitting or spoiled arguments."""
    given = arguments(values, operation, operation.arguments)
    if values.rng.random() > fitting:
        given = values.spoiled(given)
    if operation.function.endswith(("Storage.new", "torch.Storage")):
        given = _without_address(given)
    return f"{operation.function}({', '.join(given)})"


def arguments(values: Values, operation: Operation, words: Sequence[str]) -> list[str]:
    """Fitting arguments for words of an operation's form, some of the optional ones left out."""
    given: list[str] = []
    for word in words:
        if word.startswith("["):
            if values.rng.random() < 0.5:
                continue
            word = word[1:-1]
        given.append(_argument(values, operation, word))
    return given


def _without_address(arguments: list[str]) -> list[str]:
    # Two numbers, a size and an address, are raw memory, and the program's own affair.
    known = arguments and arguments[0].startswith(("torch.", "'f")) or len(arguments) < 2
    return arguments if known else arguments[:1]


def _argument(values: Values, operation: Operation, word: str) -> str:
    rng = values.rng
    word = word.rstrip(".").strip() if word not in ("sz1 ...",) else word
    if word.startswith("{"):
        if rng.random() < 0.02:
            return f"many({values.tensor()}, {rng.choice((70, 1000, 8000))})"
        count = rng.randint(0, 4)
        tensors = [values.tensor(word.strip("{}+").removesuffix("Tensor")) for _ in range(count)]
        return f"{{{', '.join(tensors)}}}"
    if word == "T" or word == "Tensor":
        dtype = operation.dtype if word == "T" else rng.choice(("Double", "Float", "Byte", "Half"))
        return values.tensor(dtype)
    if "Tensor" in word:
        name, _, ndim = word.partition("~")
        return values.tensor(name.removesuffix("Tensor"), int(ndim[0]) if ndim else None)
    if word.startswith("(LongStorage") or word in ("sz1 ...", "sz1", "sizes"):
        return values.size_list()
    if word.startswith("("):
        return f"'{rng.choice(word[1:-1].split('|'))}'"
    if word.startswith("LongStorage"):
        sizes = ", ".join(str(rng.choice(values.sizes)) for _ in range(rng.randint(0, 3)))
        return f"torch.LongStorage{{{sizes}}}"
    return _plain(values, operation, word)


def _plain(values: Values, operation: Operation, word: str) -> str:
    rng = values.rng
    if word.endswith("Storage"):
        return values.storage(word.removesuffix("Storage") or operation.dtype)
    choices = {
        "boolean": ("true", "false"),
        "shared": ("true", "false"),
        "shm": ("false",),
        "Generator": ("torch.Generator()", "torch._gen"),
        "function": _CALLBACKS,
        "string": ("'abc'", "''", "'torch.DoubleTensor'", "'torch.FloatTensor'", "'4\\n1\\n1\\n'"),
        "mode": ("'binary'", "'ascii'", "'x'"),
        "filemode": _MODES,
        "format": _FORMATS,
        "path": ("'f1'", "'f2'", "'f3'"),
        "command": ("'true'", "'cat'", "'echo 1 2'"),
        "file": ("v[6]", "v[6]", "torch.MemoryFile()", "torch.DiskFile('f4', 'rw')"),
        "timer": ("torch.Timer()",),
        "table": ("{}", "{torch.LongTensor{1}, torch.Tensor{1}}"),
        "permutation": ("2, 1", "1", "1, 2, 3", "3, 1, 2"),
        "index..": ("2, 1", "1", "1, 2, 3", "3, 1, 2"),
    }
    if word in choices:
        return rng.choice(choices[word])
    if word == "any":
        return rng.choice((values.any(), values.tensor(), values.number("index")))
    if word in ("counted", "written"):
        return rng.choice((values.number("long"), values.storage(rng.choice(("Int", "Double")))))
    if word in ("offset", "size", "index", "long", "int"):
        return values.number("index" if word in ("index", "offset") else "long")
    return values.number("real")

"""Wrong calls of PyTorch's functions, made of their signatures: each error is one of our own.

Arguments have the types that the signatures tell, but any shapes, sizes and numbers, and `out` may
lie in an argument's memory. A finding is an error that no ``raise`` of the face's made, since
then a library has words that PyTorch has not; or a call of more than a second.
"""

import linecache
import random
import time
import warnings
from collections import Counter
from collections.abc import Callable
from random import Random
from types import TracebackType
from typing import Any

import th_shell.torch as torch
from tests.data_files import data
from th_shell.torch.calls.schema import Parameter
from th_shell.torch.calls.table import ROWS, SUBMODULE

#: What expressions refer to: elements in which several arguments may lie.
SETUP = "v, w = torch.arange(1., 13), torch.arange(12)"
_TENSORS = tuple(data(__file__, "_TENSORS"))
_INTS = (-4, -1, 0, 0, 1, 1, 2, 2, 3, 3, 7, 1000)
_HUGE = (2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64)
_NUMBERS = ("0", "1", "2", "-1", "0.5", "-2.5", "3.0", "1e300", "float('nan')", "float('inf')")
_TEXTS = "x fro nuc sum amax mean prod left right reduced L gelsd floor trunc ij".split()
_TYPES = "float64 float32 float16 int64 int32 int16 uint8 bool".split()


def _int(rng: Random) -> str:
    return str(rng.choice(_HUGE if rng.random() < 0.1 else _INTS))


def _several(element: Callable[[Random], str]) -> Callable[[Random], str]:
    return lambda rng: f"({''.join(f'{element(rng)}, ' for _ in range(rng.randint(0, 3)))})"


def _tensor(rng: Random) -> str:
    return rng.choice(_TENSORS)


#: An expression for a parameter of each type; others are given only where they have to be.
VALUES: dict[str, Callable[[Random], str]] = {
    "Tensor": _tensor,
    "tuple of Tensors": _several(_tensor),
    "int": _int,
    "tuple of ints": _several(_int),
    "Number": lambda rng: rng.choice((*_NUMBERS, _int(rng))),
    "float": lambda rng: rng.choice(_NUMBERS),
    "bool": lambda rng: rng.choice(("True", "False")),
    "str": lambda rng: repr(rng.choice(_TEXTS)),
    "torch.dtype": lambda rng: f"torch.{rng.choice(_TYPES)}",
    "tuple of Scalars": _several(lambda rng: rng.choice(_NUMBERS)),
    "object": lambda rng: rng.choice((_tensor, _int, _several(_int)))(rng),
}
#: Functions that read files, or change what all calls share.
_LEFT_OUT = ("from_file", "seed")


def expression(rng: Random) -> str:
    """A call of a function or method, whose row is chosen by chance."""
    name = rng.choice(sorted(name for name in ROWS if not name.endswith(_LEFT_OUT)))
    row = rng.choice(ROWS[name])
    parts = []
    for at, parameter in enumerate(row.schema.parameters):
        given = _argument(rng, parameter)
        if given is None and parameter.default is None:
            return expression(rng)
        if given is None:
            continue
        by_name = parameter.keyword_only or len(parts) < at
        parts.append(f"{parameter.name}={given}" if by_name else given)
    owner, _, attribute = name.rpartition(".")
    if owner == "Tensor":
        return f"({_tensor(rng)}).{attribute}({', '.join(parts)})"
    if attribute.startswith(SUBMODULE):
        attribute = attribute.replace("_", ".", 1)
    return f"torch.{attribute}({', '.join(parts)})"


def _argument(rng: Random, parameter: Parameter) -> str | None:
    make = VALUES.get(parameter.kind)
    is_needed = parameter.default is None
    if make is None or (not is_needed and rng.random() < 0.6):
        return None if not parameter.nullable or not is_needed else "None"
    return make(rng)


def wrong(error: BaseException) -> str:
    """What is wrong with an error; '' where it was raised in the face's own words."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    if place is None or _is_raised(place):
        return ""
    where = f"{place.tb_frame.f_code.co_filename.rpartition('runtime/')[2]}:{place.tb_lineno}"
    return f"{type(error).__name__}: {error} ({where})"


def _is_raised(place: TracebackType) -> bool:
    code = place.tb_frame.f_code
    line = linecache.getline(code.co_filename, place.tb_lineno).lstrip()
    folders = ("runtime/pytorch/", "th_shell/torch/")  # the second is a link to the first
    return any(f in code.co_filename for f in folders) and line.startswith("raise")


def call(text: str) -> str:
    """Run one call; returns what is wrong with it, or ''."""
    names: dict[str, Any] = {"torch": torch}
    exec(SETUP, names)
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(text, names)
        except Exception as error:
            found = wrong(error)
            if found:
                return found
    took = time.monotonic() - start
    return f"took {took:.1f} seconds" if took > 1 else ""


def work(seed: str, seconds: float) -> dict[str, int]:
    """Call, for some seconds."""
    torch.linalg.det(torch.ones(1, 1)).erf()  # loads scipy before calls are timed
    rng, end = random.Random(seed), time.monotonic() + seconds
    done: Counter[str] = Counter(calls=0)
    while time.monotonic() < end:
        text = expression(rng)
        found = call(text)
        if found:
            print(f"FINDING {text}: {found}")
        done["calls"] += 1
    return dict(done)

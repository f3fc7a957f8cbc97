"""Element-wise functions against plain Python: types × layouts × destinations."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.runtime.ops.model import (
    DESTINATIONS,
    Function,
    call,
    check_call,
    destination,
    draw_tensor,
    each,
    elements,
    numbers,
    shapes,
)
from th_shell.runtime.calls.table import ALL, FLOATS, TABLE
from th_shell.runtime.core.dtypes import BYTE, LONG, Array, DType

EXAMPLES = settings(deadline=None, max_examples=10)


def is_whole(a: Any) -> bool:
    return isinstance(a, int)


def quotient(a: Any, b: Any) -> Any:
    if is_whole(a):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    with np.errstate(all="ignore"):
        return float(np.float64(a) / b)


def fmod(a: Any, b: Any) -> Any:
    if is_whole(a):
        return a - b * quotient(a, b)
    return math.fmod(a, b) if b and math.isfinite(a) and not math.isnan(b) else math.nan


def remainder(a: Any, b: Any) -> Any:
    if is_whole(a):
        return a - b * (a // b)
    ratio = quotient(a, b)
    product = b * math.floor(ratio) if math.isfinite(ratio) else b * ratio
    return a - product if b else math.nan


def power(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):  # of arrays: of one number and 0.5, numpy takes the square root
        return float(np.power(np.full(1, float(a)), np.full(1, float(b)))[0])


def shift_right(a: int, b: int, dtype: DType) -> int:
    return (a % (1 << 8 * dtype.size)) >> b


def finite(function: Function) -> Function:
    def model(a: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(np.float64(a)))

    return model


def round_away(a: float) -> float:
    return math.copysign(math.floor(abs(a) + 0.5), a) if math.isfinite(a) else a


WITH_NUMBER: dict[str, Function] = {
    "add": lambda a, v: a + v,
    "csub": lambda a, v: a - v,
    "mul": lambda a, v: a * v,
    "div": quotient,
    "fmod": fmod,
    "mod": fmod,
    "remainder": remainder,
    "cmax": lambda a, v: a if a > v else v,
    "cmin": lambda a, v: a if a < v else v,
}
WITH_TENSOR: dict[str, Function] = {
    "add": lambda a, b: a + b,
    "csub": lambda a, b: a - b,
    "cmul": lambda a, b: a * b,
    "cdiv": quotient,
    "cfmod": fmod,
    "cmod": fmod,
    "cremainder": remainder,
    "cmax": WITH_NUMBER["cmax"],
    "cmin": WITH_NUMBER["cmin"],
}
COMPARISONS: dict[str, Function] = {
    "lt": lambda a, b: a < b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
BITS: dict[str, Function] = {
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
}
SHIFTS = ("lshift", "rshift")
UNARY: dict[str, Function] = {
    **{
        name: finite(getattr(np, numpy))
        for name, numpy in {
            "acos": "arccos",
            "asin": "arcsin",
            "atan": "arctan",
            **{n: n for n in ("ceil", "cos", "cosh", "exp", "floor", "log", "log1p", "sin")},
            **{n: n for n in ("sinh", "sqrt", "tan", "tanh", "trunc")},
        }.items()
    },
    "cinv": lambda a: quotient(1.0, a),
    "frac": lambda a: a - math.trunc(a) if math.isfinite(a) else math.nan,
    "neg": lambda a: -a,
    "round": round_away,
    "rsqrt": finite(lambda a: 1 / np.sqrt(a)),
    "sigmoid": finite(lambda a: 1 / (1 + np.exp(-a))),
    "abs": abs,
    "sign": lambda a: (a > 0) - (a < 0),
}
OTHERS = {"pow", "cpow", "atan2", "lerp", "clamp", "addcmul", "addcdiv"}
DIVIDE = ("div", "cdiv", "fmod", "mod", "remainder", "cfmod", "cmod", "cremainder", "addcdiv")


def types_of(name: str) -> tuple[DType, ...]:
    return tuple(d for d in ALL if any(d in row.types and row.function for row in TABLE[name]))


def is_divisor(value: Any) -> bool:
    return value not in (0, -1)  # -1: the quotient of the least number is undefined in C


@st.composite
def problems(draw: st.DrawFn, name: str, tensors: int, scalars: int) -> tuple[Any, ...]:
    """Tensors of one size and numbers, the last a divisor where the function divides."""
    dtype = draw(st.sampled_from(types_of(name)))
    sizes = draw(shapes())
    values = numbers(dtype)
    last = values.filter(is_divisor) if name in DIVIDE and not dtype.is_float else values
    count = tensors + scalars
    kinds = [values] * (count - 1) + [last]
    xs = [draw_tensor(draw, dtype, sizes, of=kinds[i]) for i in range(tensors)]
    return dtype, xs, [draw(kind) for kind in kinds[tensors:]], draw(st.sampled_from(DESTINATIONS))


def check(
    name: str, kind: str, dtype: DType, sources: list[Any], args: list[Any], want: Any
) -> None:
    """A call whose result has the first source's sizes and type."""
    t = sources[0]
    expected = elements(want, dtype).reshape(t.sizes)
    check_call(name, [destination(kind, dtype, t.sizes, sources[-1])], args, [expected])


def jumps(name: str, a: Any, b: Any) -> bool:
    """Whether rounding decides about a remainder: a quotient of floats is nearly whole."""
    if "remainder" not in name or np.asarray(a).dtype != np.float32:
        return False
    with np.errstate(all="ignore"):
        ratio = np.asarray(a, np.float64) / np.asarray(b, np.float64)
        exact = ratio == np.floor(np.asarray(a) / np.asarray(b, np.float32))
        return bool(((np.abs(ratio - np.rint(ratio)) <= 1e-6 * np.abs(ratio)) & ~exact).any())


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", WITH_NUMBER)
@EXAMPLES
@given(st.data())
def test_with_a_number(name: str, data: st.DataObject) -> None:
    dtype, (x,), (value,), kind = data.draw(problems(name, 1, 1))
    value = float(dtype.numpy.type(value)) if dtype.is_float else value
    assume(not jumps(name, x.array, value))
    check(name, kind, dtype, [x], [x, value], each(WITH_NUMBER[name], x.array, value))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", WITH_TENSOR)
@EXAMPLES
@given(st.data())
def test_with_a_tensor(name: str, data: st.DataObject) -> None:
    dtype, (x, y), _, kind = data.draw(problems(name, 2, 0))
    assume(not jumps(name, x.array, y.array))
    check(name, kind, dtype, [x, y], [x, y], each(WITH_TENSOR[name], x.array, y.array))


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["add", "csub"])
@EXAMPLES
@given(st.data())
def test_scaled(name: str, data: st.DataObject) -> None:
    dtype, (x, y), (value,), kind = data.draw(problems(name, 2, 1))
    sign = 1 if name == "add" else -1
    with np.errstate(all="ignore"):
        value = float(dtype.numpy.type(value)) if dtype.is_float else value
        want = each(lambda a, b: a + sign * value * b, x.array, y.array)
    check(name, kind, dtype, [x, y], [x, value, y], want)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("of_tensors", [False, True], ids=["number", "tensor"])
@EXAMPLES
@given(st.data())
def test_comparison(name: str, of_tensors: bool, data: st.DataObject) -> None:
    dtype, (x, y), (value,), kind = data.draw(problems(name, 2, 1))
    value = float(dtype.numpy.type(value)) if dtype.is_float else value
    other = y if of_tensors else value
    want = each(COMPARISONS[name], x.array, y.array if of_tensors else value)
    result = BYTE if kind == "fresh" else dtype
    expected = elements(want, result).reshape(x.sizes)
    given = [destination(kind, result, x.sizes, x)]
    if given[0] is None:
        expected = elements(want, BYTE).reshape(x.sizes)
    check_call(name, given, [x, other], [expected])


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", BITS)
@EXAMPLES
@given(st.data())
def test_bits(name: str, data: st.DataObject) -> None:
    dtype, (x, y), (value,), kind = data.draw(problems(name, 2, 1))
    assume(not dtype.is_float)
    check(name, kind, dtype, [x], [x, value], each(BITS[name], x.array, value))
    x, y = (x, y) if kind != "source" else (y, x)
    want = each(BITS[name], x.array, y.array)
    check(f"c{name}", kind, dtype, [x, y], [x, y], want)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SHIFTS)
@EXAMPLES
@given(st.data())
def test_shifts(name: str, data: st.DataObject) -> None:
    dtype, (x,), _, kind = data.draw(problems(name, 1, 0))
    places = data.draw(st.integers(0, 7))
    if dtype.is_float:
        factor = 2.0**places if name == "lshift" else 2.0**-places
        want = each(lambda a: a * factor, x.array)
    elif name == "lshift":
        want = each(lambda a: a << places, x.array)
    else:
        want = each(lambda a: shift_right(a, places, dtype), x.array)
    y = type(x).of(np.full(x.sizes, places, dtype.numpy))
    check(f"c{name}", "fresh", dtype, [x, y], [x, y], want)
    check(name, kind, dtype, [x], [x, places], want)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", UNARY)
@EXAMPLES
@given(st.data())
def test_function(name: str, data: st.DataObject) -> None:
    dtype, (x,), _, kind = data.draw(problems(name, 1, 0))
    check(name, kind, dtype, [x], [x], each(UNARY[name], x.array))


@EXAMPLES
@given(st.data())
def test_powers(data: st.DataObject) -> None:
    dtype, (x, y), (value,), kind = data.draw(problems("pow", 2, 1))
    value = data.draw(st.sampled_from([value, 0, 1, 2, 3, 0.5, -0.5, -1, -2]))
    value = float(dtype.numpy.type(value))
    # For 1/2 the reference, too, takes the square root: nan of -inf, and -0 of -0.
    special = np.isinf(x.array) | (x.array == 0)
    assume(value not in (0.5, -0.5) or not special.any())
    check("pow", kind, dtype, [x], [x, value], each(power, x.array, value))
    check("pow", kind, dtype, [y], [value, y], each(power, value, y.array))


@EXAMPLES
@given(st.data())
def test_element_wise_powers(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    sizes, kind = data.draw(shapes()), data.draw(st.sampled_from(DESTINATIONS))
    small = st.integers(0, 5) if not dtype.is_float else numbers(dtype, special=False)
    x, y = (draw_tensor(data.draw, dtype, sizes, of=small) for _ in range(2))
    want = [v if math.isfinite(v) else math.nan for v in each(power, x.array, y.array)]
    assume(dtype.is_float or max(want) < np.iinfo(dtype.numpy).max)
    assume(np.isfinite(elements(want, dtype)).all())
    check("cpow", kind, dtype, [x, y], [x, y], want)


@EXAMPLES
@given(st.data())
def test_angles_and_ways_between(data: st.DataObject) -> None:
    dtype, (x, y, z), (weight,), kind = data.draw(problems("lerp", 3, 1))
    weight = float(dtype.numpy.type(weight))
    with np.errstate(all="ignore"):
        want = each(lambda a, b: a + weight * (b - a), x.array, y.array)
    check("lerp", "fresh", dtype, [x, y], [x, y, weight], want)
    check("atan2", kind, dtype, [z, y], [z, y], each(math.atan2, z.array, y.array))


@EXAMPLES
@given(st.data())
def test_clamp(data: st.DataObject) -> None:
    dtype, (x,), (low, high), kind = data.draw(problems("clamp", 1, 2))
    low, high = (float(dtype.numpy.type(v)) if dtype.is_float else v for v in (low, high))
    want = each(lambda a: low if a < low else high if a > high else a, x.array)
    check("clamp", kind, dtype, [x], [x, low, high], want)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
@EXAMPLES
@given(st.data())
def test_scaled_products(name: str, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(types_of(name)))
    sizes, kind = data.draw(shapes()), data.draw(st.sampled_from(DESTINATIONS))
    small = numbers(dtype, special=False)
    x, y = (draw_tensor(data.draw, dtype, sizes, of=small) for _ in range(2))
    z = draw_tensor(data.draw, dtype, sizes, of=small.filter(lambda v: abs(v) > 0.01))
    value = data.draw(st.integers(-3, 3) if dtype is not BYTE else st.integers(0, 3))

    def model(a: Any, b: Any, c: Any) -> Any:
        return a + (value * b * c if name == "addcmul" else quotient(value * b, c))

    want = each(model, x.array, y.array, z.array)
    check(name, kind, dtype, [x, y, z], [x, value, y, z], want)


@pytest.mark.parametrize("name", ["fill", "zero"])
@EXAMPLES
@given(st.data())
def test_set_all(name: str, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    x = draw_tensor(data.draw, dtype, data.draw(shapes()))
    args = [data.draw(numbers(dtype))] if name == "fill" else []
    outside = type(x)(x.storage, 0, (len(x.storage.data),), (1,)).array  # type: ignore[union-attr]
    before, inside = outside.copy(), np.zeros(outside.shape, bool)
    np.lib.stride_tricks.as_strided(
        inside[x.offset :], x.sizes, tuple(s * inside.itemsize for s in x.strides)
    )[...] = True
    assert call(name, x, *args) == [x]
    want: Array = elements(args or [0], dtype)
    np.testing.assert_array_equal(outside, np.where(inside, want, before))


@pytest.mark.parametrize(
    ("name", "args", "want"),
    [
        ("sin", [0.5], math.sin(0.5)),
        ("abs", [-2.5], 2.5),
        ("round", [-2.5], -3.0),
        ("sigmoid", [0.0], 0.5),
        ("pow", [2, 10], 1024.0),
        ("atan2", [1, -1], math.atan2(1, -1)),
        ("lerp", [1, 3, 0.25], 1.5),
    ],
)
def test_of_numbers(name: str, args: list[float], want: float) -> None:
    assert call(name, *args) == [pytest.approx(want, rel=1e-15)]


def test_all_functions_have_a_model() -> None:
    modules = {
        f"th_shell.runtime.ops.{name}" for name in ("_by_formula", "pointwise", "compare", "bits")
    }
    names = {n for n, rows in TABLE.items() if rows[0].implementation.__module__ in modules}
    modelled = {*WITH_NUMBER, *WITH_TENSOR, *COMPARISONS, *UNARY, *OTHERS}
    modelled |= {f"{c}{name}" for name in (*BITS, *SHIFTS) for c in ("", "c")}
    assert names - modelled == {"equal", "all", "any"}  # reductions
    assert modelled - names <= {"abs", "add"}  # whose first rows are HalfTensor's
    assert types_of("pow") == FLOATS and LONG in types_of("abs")

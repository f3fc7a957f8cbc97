"""Functions of floats: in all ways the C library's, or the nearest float, bit for bit."""

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.conftest import Lua
from th_shell.runtime.compute import libm
from th_shell.runtime.core.platform import c_function

_NAMES = sorted(libm._NAMES)


def _c_function(name: str, count: int) -> Callable[..., float]:
    call: Any = c_function(f"{libm._NAMES[name]}f")
    call.restype, call.argtypes = ctypes.c_float, [ctypes.c_float] * count
    return call  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", _NAMES)
def test_floats_are_the_c_librarys(name: str) -> None:
    made = libm.function(name)
    inputs = np.random.default_rng(1).uniform(0.01, 1, (made.nin, 3000)).astype("f")
    call = _c_function(name, made.nin)
    expected = np.array([call(*x) for x in inputs.T.tolist()], "f")
    assert made(*inputs).tobytes() == expected.tobytes()
    doubles = inputs.astype("d")
    assert made(*doubles).tobytes() == getattr(np, name)(*doubles).tobytes()
    assert libm.function("add") is np.add


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("missing", "cannot be called: the process has no such function"),
        ("another", "does not give what it gives elsewhere"),
        ("no doubles", "cannot be called: numpy's loop for doubles is missing"),
    ],
)
def test_without_the_c_librarys_functions(
    broken: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TH_DEBUG", "1")
    if broken == "missing":
        monkeypatch.setitem(libm._NAMES, "exp", "expx")
    elif broken == "another":
        c_loop = libm.c_loop
        monkeypatch.setattr(libm, "c_loop", lambda _, types: c_loop("sinf", types))
    else:
        monkeypatch.setattr(libm, "inner_loop", lambda *_: None)
    assert libm.function.__wrapped__("exp") is np.exp
    called = "expxf" if broken == "missing" else "expf"
    told = "numpy's is used, whose last digits are others"
    assert capsys.readouterr().err == f"th: the C library's {called} {reason}; {told}\n"


# Of these numbers, numpy's own functions have other results on some processor.
@pytest.mark.sample(14)
@pytest.mark.parametrize("count", [1, 50, 20_000, 200_000], ids=["one", "few", "more", "many"])
@pytest.mark.parametrize("layout", ["x", "x:view(-1, 5):t()", "torch.repeatTensor(x, 2, 1):t()"])
@pytest.mark.parametrize("name", ["exp", "tanh", "pow"])
def test_floats_in_all_ways(lua: Lua, name: str, layout: str, count: int) -> None:
    number = {"exp": 0.0953101798, "tanh": 0.9, "pow": 1.1}[name]
    more = (2.3,) if name == "pow" else ()
    if name in libm.IN_DOUBLES:
        expected = float(np.float32(math.tanh(np.float32(number))))
    else:
        expected = _c_function({"pow": "power"}.get(name, name), 1 + len(more))(number, *more)
    lua(f"x = torch.FloatTensor({5 * count}):fill({number}) x = {layout}")
    numbers = "".join(f", {n}" for n in more)
    lua(f"y = torch.{name}(x{numbers}) z = x:clone() z.{name}(z, x{numbers})")
    lua("a = {y:min(), y:max(), z:min(), z:max()}")
    assert (
        lua("for i = 1, 4 do print(('%.17g'):format(a[i])) end").split() == [f"{expected:.17g}"] * 4
    )


@pytest.mark.parametrize("name", ["acos", "asin", "atan", "atan2", "tan", "tanh"])
def test_nearest_floats(lua: Lua, name: str) -> None:
    more = ", -x" if name == "atan2" else ""
    lua(f"function f(x) return torch.{name}(x{more}) end")
    lua("function wrong(x) return f(x):ne(f(x:double()):float()):sum() end")
    lua("x, sum = torch.FloatTensor(20000):uniform(-1, 1), 0")
    lua("for i = 1, 20 do sum = sum + wrong(x:narrow(1, i, 1)) + wrong(x:narrow(1, i, i)) end")
    assert lua("print(sum, wrong(x), wrong(x:view(-1, 5):t()))").split() == ["0"] * 3


@pytest.mark.parametrize("p", [0.5, 1.5, 3])
def test_norms_are_of_floats(lua: Lua, p: float) -> None:
    raised, numbers = _c_function("power", 2), (1.1, 2.7, 3.3, 0.4)
    expected = raised(sum(raised(x, p) for x in numbers), 1 / p)
    lua("x = torch.FloatTensor{1.1, 2.7, -3.3, 0.4}")
    assert float(lua(f"print(('%.17g'):format(x:norm({p})))")) == expected
    assert float(lua(f"print(('%.17g'):format(x:norm({p}, 1)[1]))")) == expected


def test_powers_of_ten_are_of_floats(lua: Lua) -> None:
    raised = _c_function("power", 2)
    lua("x = torch.FloatTensor():logspace(-2, 2, 65) s = torch.FloatTensor():linspace(-2, 2, 65)")
    exponents = map(float, lua("for i = 1, 65 do print(('%.17g'):format(s[i])) end").split())
    found = lua("for i = 1, 65 do print(('%.17g'):format(x[i])) end").split()
    assert list(map(float, found)) == [raised(10, x) for x in exponents]

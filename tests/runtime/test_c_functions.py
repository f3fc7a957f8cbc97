"""C functions that are called by their addresses: each is checked, and can be done without."""

import ctypes
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.compute import c_functions, formula_calls, libm, self_check
from th_shell.runtime.host import numpy_functions
from th_shell.runtime.ops.linalg import _lapack
from th_shell.runtime.shell import Engine

TOP = Path(__file__).parent.parent.parent

ADDRESS = ctypes.c_void_p
LOOP = ctypes.CFUNCTYPE(None, *[ADDRESS] * 4)

AddressOf = Callable[[Any], int]


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What is printed for TH_DEBUG since the last look."""
    monkeypatch.setenv("TH_DEBUG", "1")
    return lambda: capsys.readouterr().err


def address(function: Any) -> int:
    value = ctypes.cast(function, ADDRESS).value
    assert value
    return value


# -- numpy's inner loops

SIGNATURES = [
    *((ufunc, "dd->d") for ufunc in (np.add, np.divide, np.power, np.arctan2, np.matmul)),
    *((ufunc, "d->d") for ufunc in (np.exp, np.floor, np.tanh)),
    *((np.multiply, signature) for signature in ("ff->f", "BB->B", "bb->b", "ll->l", "ee->e")),
    *((np.less, signature) for signature in ("dd->?", "BB->?", "hh->?")),
]


@pytest.mark.parametrize(("ufunc", "signature"), SIGNATURES)
def test_loops_are_found(ufunc: np.ufunc, signature: str) -> None:
    found = c_functions.inner_loop.__wrapped__(ufunc, signature)
    assert found is not None and found[0] != 0


def test_no_data_is_no_reason_to_do_without_a_loop() -> None:
    assert c_functions._loop_of(np.add, np.add.types.index("dd->d")) == (
        c_functions.inner_loop(np.add, "dd->d")
    )
    found = c_functions.inner_loop(np.add, "dd->d")
    assert found is not None and found[1] == 0  # numpy's additions need none


def test_a_loop_that_numpy_has_not(notes: Callable[[], str]) -> None:
    at = np.add.types.index("dd->d")
    structure = c_functions._UFunc.from_address(id(np.add) + object.__basicsize__)
    before = structure.functions[at]
    try:
        structure.functions[at] = None
        assert c_functions.inner_loop.__wrapped__(np.add, "dd->d") is None
    finally:
        structure.functions[at] = before
    line = "th: numpy's loop add dd->d is done without: there is no such function\n"
    assert notes() == line


def doubles(at: int, count: int, step: int) -> np.ndarray[Any, np.dtype[Any]]:
    memory = (ctypes.c_double * (count * step // 8)).from_address(at)
    return np.frombuffer(memory, np.float64)[:: step // 8]


def loop_that(change: Callable[[Any, Any, int], Any], contiguous: bool = False) -> Any:
    """An inner loop of two operands with something wrong about it."""

    @LOOP
    def loop(operands: int, count: int, steps: int, _: int) -> None:
        n = ctypes.c_ssize_t.from_address(count).value
        places = list((ctypes.c_ssize_t * 3).from_address(operands))
        apart = [8] * 3 if contiguous else list((ctypes.c_ssize_t * 3).from_address(steps))
        a, b, out = (doubles(at, n, s) for at, s in zip(places, apart, strict=True))
        with np.errstate(all="ignore"):
            out[...] = change(a, b, n)

    return loop


WRONG_LOOPS = {
    "right": loop_that(lambda a, b, n: a + b),
    "another function": loop_that(lambda a, b, n: a - b),
    "elements always side by side": loop_that(lambda a, b, n: a + b, contiguous=True),
    "no negative zero": loop_that(lambda a, b, n: a + b + 0.0),
    "no nan": loop_that(lambda a, b, n: np.nan_to_num(a + b, posinf=np.inf, neginf=-np.inf)),
    "no infinity": loop_that(lambda a, b, n: np.clip(a + b, -1e300, 1e300)),
    "not all elements": loop_that(lambda a, b, n: np.where(np.arange(n) < n - 1, a + b, 0)),
    "one operand twice": loop_that(lambda a, b, n: a + a),
}


@pytest.mark.parametrize("name", WRONG_LOOPS)
def test_wrong_loops_are_not_used(
    name: str, monkeypatch: pytest.MonkeyPatch, notes: Callable[[], str]
) -> None:
    found = (address(WRONG_LOOPS[name]), 0)
    monkeypatch.setattr(c_functions, "_loop_of", lambda *_: found)
    right = name == "right"
    assert c_functions.inner_loop.__wrapped__(np.add, "dd->d") == (found if right else None)
    line = "th: numpy's loop add dd->d is done without: it does not compute what numpy does\n"
    assert notes() == ("" if right else line)


def test_a_wrong_product_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = LOOP(lambda *_: None)
    monkeypatch.setattr(c_functions, "_loop_of", lambda *_: (address(sums), 0))
    assert c_functions.inner_loop.__wrapped__(np.matmul, "dd->d") is None


# -- conversions of floats


@pytest.mark.parametrize("widens", [True, False])
def test_a_wrong_conversion_is_not_used(
    widens: bool, monkeypatch: pytest.MonkeyPatch, notes: Callable[[], str]
) -> None:
    find = c_functions.conversion.__wrapped__
    right = find(widens)
    assert right is None or not self_check.conversion_is_right(not widens, right)
    monkeypatch.setattr(c_functions, "conversion_is_right", lambda *_: False)
    assert find(widens) is None
    assert "LAPACK's" in notes()


CONVERSIONS = data(__file__, "CONVERSIONS")


def test_floats_are_converted_without_lapack(lua: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = lua.run(CONVERSIONS)
    for module in (formula_calls, numpy_functions):
        monkeypatch.setattr(module, "conversion", lambda widens: None)
    engine = Engine()
    engine.run(engine.compile(CONVERSIONS.encode(), b"=lua"))
    engine.close()
    assert lua.output() == expected


def test_nothing_is_printed_unasked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TH_DEBUG", raising=False)
    monkeypatch.setattr(c_functions, "_loop_of", lambda *_: None)
    assert c_functions.inner_loop.__wrapped__(np.add, "dd->d") is None
    assert capsys.readouterr().err == ""


# -- BLAS and LAPACK


@pytest.mark.parametrize("itemsize", [4, 8])
def test_blas_and_lapack_are_found(itemsize: int) -> None:
    assert c_functions.blas.__wrapped__("axpy", itemsize)
    assert c_functions.blas.__wrapped__("gemm", itemsize)
    assert c_functions.blas.__wrapped__("gemv", itemsize)
    assert c_functions.lapack.__wrapped__("getrs", itemsize)
    assert _lapack._routines.__wrapped__(itemsize)


@pytest.mark.parametrize("itemsize", [4, 8])
def test_a_function_that_does_nothing_is_not_used(
    itemsize: int, monkeypatch: pytest.MonkeyPatch, notes: Callable[[], str]
) -> None:
    nothing = {n: ctypes.CFUNCTYPE(None, *[ADDRESS] * n)(lambda *_: None) for n in range(6, 16)}
    counts = {"axpy": 6, "gemm": 13, "gemv": 11, "getrs": 9, "gebrd": 11, "orgbr": 10, "bdsqr": 15}

    def find(name: str, _: int) -> tuple[int, int]:
        return address(nothing[counts[name]]), counts[name]

    class Library:
        def __getattr__(self, name: str) -> Any:
            found = re.fullmatch("scipy_[sd](.*)_64_", name)
            return nothing[counts[found[1]]] if found else None

    monkeypatch.setattr(c_functions, "_find", find)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    monkeypatch.setattr(_lapack, "lapack_call", c_functions.lapack_call.__wrapped__)
    assert c_functions.blas.__wrapped__("axpy", itemsize) is None
    assert c_functions.blas.__wrapped__("gemm", itemsize) is None
    assert c_functions.blas.__wrapped__("gemv", itemsize) is None
    assert c_functions.lapack.__wrapped__("getrs", itemsize) is None
    assert _lapack._routines.__wrapped__(itemsize) is None
    names = (
        "BLAS's axpy",
        "BLAS's gemm",
        "BLAS's gemv",
        "LAPACK's getrs",
        "LAPACK's gebrd, orgbr or bdsqr",
    )
    lines = notes().splitlines()
    assert [line for line in lines if line.endswith("it does not compute what numpy does")] == [
        f"th: {n} is done without: it does not compute what numpy does" for n in names
    ]


def test_a_function_with_larger_whole_numbers_is_not_used(
    monkeypatch: pytest.MonkeyPatch, notes: Callable[[], str]
) -> None:
    monkeypatch.setattr(c_functions, "_capsule", lambda _: (b"void (long *, d *, d *)", 1))
    assert c_functions.lapack.__wrapped__("getrs", 8) is None
    line = "th: scipy's LAPACK: getrs is done without: there is no such function\n"
    assert notes() == line


def test_a_function_that_scipy_has_not(notes: Callable[[], str]) -> None:
    assert c_functions._find("nosuch", 8) == (None, 0)
    assert notes() == "th: scipy's LAPACK: nosuch is done without: there is no such function\n"


# -- numpy's sort


def test_the_sort_is_found() -> None:
    found = c_functions.sorter.__wrapped__()
    assert found is not None and found[0] != 0


def test_a_sort_that_does_nothing_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, ctypes.c_ssize_t, ADDRESS)(lambda *args: 0)
    monkeypatch.setattr(c_functions, "_sorter", lambda: (address(nothing), 0))
    assert c_functions.sorter.__wrapped__() is None


def test_signs_of_zeros_and_nans_count() -> None:
    zero, nan, one = np.zeros(1), np.full(1, np.nan), np.ones(1)
    assert self_check.same(nan, -nan) and self_check.same(-zero, -zero)
    for a, b in ((zero, -zero), (zero, nan), (nan, one), (one, -one)):
        assert not self_check.same(a, b)


# -- the C library's functions


@pytest.mark.parametrize("name", ["exp", "log", "tan"])
def test_pythons_functions_are_the_c_librarys(name: str) -> None:
    x = np.random.default_rng(1).uniform(0, 1, (7, 30))
    slow, fast = libm._one_by_one(name), getattr(libm, name)
    assert isinstance(fast, np.ufunc)
    assert slow(x).tobytes() == fast(x).tobytes() and slow(x).shape == x.shape
    assert float(slow(0.25)) == float(fast(0.25)) == getattr(math, name)(0.25)
    extremes = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e4, -1e4, -1.0])
    with np.errstate(all="ignore"):
        assert self_check.same(slow(extremes), fast(extremes))


@pytest.mark.parametrize("broken", ["missing", "another", "in the last bit"])
def test_without_the_c_librarys_functions(
    broken: str, monkeypatch: pytest.MonkeyPatch, notes: Callable[[], str]
) -> None:
    def make(name: str) -> Any:
        if broken == "missing":
            raise AttributeError(f"undefined symbol: {name}")
        if broken == "another":
            return np.sqrt
        return lambda x: np.nextafter(np.log(x), 0)

    monkeypatch.setattr(libm, "_ufunc", make)
    found = libm._find("log")
    x = np.linspace(0.1, 1, 1000)
    assert found(x).tolist() == [math.log(value) for value in x.tolist()]
    reason = "cannot be called: undefined symbol: log"
    reason = reason if broken == "missing" else "is not the one that Python has"
    assert notes() == f"th: the C library's log {reason}; Python's is used, which is slow\n"


def test_without_the_c_librarys_cosine(
    monkeypatch: pytest.MonkeyPatch, notes: Callable[[], str]
) -> None:
    def almost(pairs: Any) -> None:
        np.exp(pairs, out=pairs)
        pairs.real = np.nextafter(pairs.real, 2)

    angles = np.linspace(0, 6.2, 1000)
    fast, slow = 1j * angles, 1j * angles
    libm.replace_by_cosine_and_sine(fast)
    monkeypatch.setattr(libm, "_turn_by_exp", almost)
    libm._find_turn()(slow)
    assert fast.tobytes() == slow.tobytes()
    assert notes().startswith("th: numpy's exp does not give the C library's cosine;")


# -- what is done without all of them has the same results

SAME_BITS = data(__file__, "SAME_BITS")
# BLAS may round products and sums otherwise.
CLOSE = data(__file__, "CLOSE")
CHILD = data(__file__, "CHILD")


def results(tmp_path: Path, which: str, source: str) -> list[Any]:
    folder = tmp_path / which
    folder.mkdir()
    command = [sys.executable, "-c", CHILD, which, str(folder), source]
    env = {**os.environ, "TH_DEBUG": "1"}
    run = subprocess.run(command, cwd=TOP, env=env, timeout=120, text=True, capture_output=True)
    assert run.returncode == 0 and run.stdout == "", run.stderr
    assert ("done without" in run.stderr) == (which == "without")
    files = sorted(folder.iterdir(), key=lambda path: int(path.name))
    return [np.fromfile(path) for path in files]


@pytest.mark.thorough
def test_the_same_bits_without(tmp_path: Path) -> None:
    found, expected = (results(tmp_path, name, SAME_BITS) for name in ("without", "with"))
    assert len(found) == len(expected) == 24
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert a.tobytes() == b.tobytes(), i


@pytest.mark.thorough
def test_the_same_results_without_blas_and_lapack(tmp_path: Path) -> None:
    found, expected = (results(tmp_path, name, CLOSE) for name in ("without", "with"))
    assert len(found) == len(expected) == 9
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-11), i

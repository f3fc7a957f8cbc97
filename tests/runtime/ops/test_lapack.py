"""Linear algebra: the reference's answers, what results mean, layouts and aliases."""

import os
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_python
from tests.transcripts import Entry, cases, wrong
from th_shell.runtime.calls.plans import Plans
from th_shell.runtime.compute import blas_threads
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT, INT, Array, DType
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.host import numpy_functions
from th_shell.runtime.ops.linalg import _lapack

entry = Plans().entry

TYPES = (DOUBLE, FLOAT)
LAYOUTS = ("rows", "columns", "narrowed")
RESULTS = ("empty", "fitting", "columns", "other", "spread")


@pytest.mark.parametrize("programs", cases("lapack"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""


def matrix(values: Array, layout: str = "rows") -> Tensor:
    """A tensor of these values; its type follows theirs."""
    cls = TENSOR_CLASSES[(FLOAT if values.dtype == np.float32 else DOUBLE).index]
    if layout == "columns":
        return cls.of(values.T.copy()).transpose(0, 1)
    if layout == "narrowed":
        wide = cls.of(np.concatenate([values, values], 1))
        return wide.narrow(1, values.shape[1], values.shape[1])
    return cls.of(values.copy())


def result(like: Array, kind: str) -> Tensor:
    """A destination for a result of this shape and type."""
    empty = matrix(like)
    if kind == "empty":
        return type(empty)()
    if kind == "other":
        return type(empty).new((3,))
    if like.ndim == 1 or kind == "fitting":
        return empty
    return matrix(like, "columns" if kind == "columns" else "narrowed")


def call(name: str, *args: object) -> None:
    answer = entry(name, None)(*args)
    assert not isinstance(answer, bytes), answer


def close(actual: Array, wanted: Array) -> None:
    accuracy = 2e-4 if actual.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(actual, wanted, rtol=accuracy, atol=accuracy)


@st.composite
def matrices(draw: st.DrawFn, *, square: bool = False) -> tuple[Array, str]:
    rows = draw(st.integers(1, 6))
    columns = rows if square else draw(st.integers(1, 6))
    random = np.random.default_rng(draw(st.integers(0, 999)))
    values = random.uniform(-1, 1, (rows, columns)) + 3 * np.eye(rows, columns)
    return values.astype(draw(st.sampled_from(TYPES)).numpy), draw(st.sampled_from(LAYOUTS))


kinds = st.sampled_from(RESULTS)
every_case = settings(deadline=None, max_examples=60)


@pytest.mark.thorough
@every_case
@given(matrices(square=True), st.integers(1, 3), kinds, kinds)
def test_gesv_solves(given_a: tuple[Array, str], count: int, kind1: str, kind2: str) -> None:
    values, layout = given_a
    sides = np.arange(len(values) * count, dtype=values.dtype).reshape(-1, count)
    a, b = matrix(values, layout), matrix(sides, layout)
    x, lu = result(sides, kind1), result(values, kind2)
    call("gesv", x, lu, b, a)
    close(values @ x.array, sides)
    assert lu.sizes == a.sizes
    close(a.array, values)
    close(b.array, sides)


@pytest.mark.thorough
@every_case
@given(matrices(), kinds, kinds)
def test_gels_minimises(given_a: tuple[Array, str], kind1: str, kind2: str) -> None:
    values, layout = given_a
    sides = np.arange(len(values) * 2, dtype=values.dtype).reshape(-1, 2)
    wanted = np.linalg.lstsq(values, sides, rcond=None)[0]
    x, factors = result(wanted, kind1), result(values, kind2)
    call("gels", x, factors, matrix(sides, layout), matrix(values, layout))
    close(x.array, wanted)


@pytest.mark.thorough
@every_case
@given(matrices(square=True), kinds, st.sampled_from("UL"))
def test_cholesky(given_a: tuple[Array, str], kind: str, part: str) -> None:
    values, layout = given_a
    values = values @ values.T + np.eye(len(values), dtype=values.dtype)
    a, factor = matrix(values, layout), result(values, kind)
    call("potrf", factor, a, part.encode())
    f = factor.array
    close(f.T @ f if part == "U" else f @ f.T, values)
    sides = np.ones((len(values), 2), values.dtype)
    x, inverse = result(sides, kind), result(values, kind)
    call("potrs", x, matrix(sides), factor, part.encode())
    close(values @ x.array, sides)
    call("potri", inverse, factor, part.encode())
    close(values @ inverse.array, np.eye(len(values)))
    pivots = TENSOR_CLASSES[INT.index]()
    call("pstrf", factor, pivots, a, part.encode())
    order = pivots.array - 1
    f = factor.array
    close(f.T @ f if part == "U" else f @ f.T, values[np.ix_(order, order)])


@pytest.mark.thorough
@every_case
@given(matrices(square=True), kinds, st.sampled_from("UL"), st.sampled_from("NT"), st.booleans())
def test_trtrs_solves(
    given_a: tuple[Array, str], kind: str, part: str, trans: str, unit: bool
) -> None:
    values, layout = given_a
    sides = np.ones((len(values), 2), values.dtype)
    x, copy = result(sides, kind), result(values, kind)
    options = (part.encode(), trans.encode(), b"U" if unit else b"N")
    call("trtrs", x, copy, matrix(sides, layout), matrix(values, layout), *options)
    triangle = np.triu(values) if part == "U" else np.tril(values)
    if unit:
        np.fill_diagonal(triangle, 1)
    close((triangle if trans == "N" else triangle.T) @ x.array, sides)
    close(copy.array, values)


@pytest.mark.thorough
@every_case
@given(matrices(square=True), kinds, kinds)
def test_eigenvalues(given_a: tuple[Array, str], kind1: str, kind2: str) -> None:
    values, layout = given_a
    symmetric = values + values.T
    e, v = result(values[0], kind1), result(values, kind2)
    call("symeig", e, v, matrix(symmetric, layout), b"V")
    close(symmetric @ v.array, v.array * e.array)
    assert (np.diff(e.array) >= 0).all()
    e = result(np.ones((len(values), 2), values.dtype), kind1)
    call("eig", e, v, matrix(values, layout), b"V")
    real, imaginary = e.array.T
    close(np.sort(real), np.sort(np.linalg.eigvals(values).real))
    simple = imaginary == 0
    close(values @ v.array[:, simple], v.array[:, simple] * real[simple])


@pytest.mark.thorough
@every_case
@given(matrices(), kinds, kinds, kinds, st.sampled_from("AS"))
def test_singular_values(
    given_a: tuple[Array, str], kind1: str, kind2: str, kind3: str, job: str
) -> None:
    values, layout = given_a
    left, _, right = np.linalg.svd(values, full_matrices=job == "A")
    k = min(values.shape)
    u, s, v = result(left, kind1), result(values[0, :k], kind2), result(right.T, kind3)
    call("svd", u, s, v, matrix(values, layout), job.encode())
    assert (u.sizes, v.sizes) == (left.shape, right.T.shape)
    close(u.array[:, :k] * s.array @ v.array[:, :k].T, values)
    close(v.array.T @ v.array, np.eye(v.sizes[1]))


@pytest.mark.thorough
@every_case
@given(matrices(), kinds, kinds)
def test_qr(given_a: tuple[Array, str], kind1: str, kind2: str) -> None:
    values, layout = given_a
    a, k = matrix(values, layout), min(values.shape)
    q, r = result(values[:, :k], kind1), result(values[:k], kind2)
    call("qr", q, r, a)
    close(q.array @ r.array, values)
    close(q.array.T @ q.array, np.eye(k))
    whole = q.array.copy()
    factors, tau = result(values, kind1), result(values[0, :k], kind2)
    call("geqrf", factors, tau, a)
    product = result(values, kind2)
    call("ormqr", product, factors, tau, a, b"L", b"T")
    close(np.triu(product.array)[:k], r.array)
    call("orgqr", factors, factors, tau)
    close(factors.array[:, :k], whole)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_inverse_of_itself_keeps_its_layout(dtype: DType, layout: str) -> None:
    values = np.array([[4, 1, 0], [2, 5, 1], [0, 1, 3]], dtype.numpy)
    a = matrix(values, layout)
    strides, storage = a.strides, a.storage
    call("inverse", a, a)
    close(a.array @ values, np.eye(3))
    assert (a.strides, a.storage) == (strides, storage)


def test_results_that_are_sources() -> None:
    values = np.array([[4.0, 1, 0], [2, 5, 1], [0, 1, 3]])
    sides = np.arange(9.0).reshape(3, 3)
    a, b = matrix(values), matrix(sides)
    call("gesv", a, b, b, a)  # each into the other's source
    close(values @ a.array, sides)
    b = matrix(sides)
    view = b.select(1, 0)
    call("gesv", b, TENSOR_CLASSES[DOUBLE.index](), view, matrix(values))
    close(values @ b.array, sides[:, :1])


Failure = tuple[str, Callable[[Tensor, Tensor], tuple[object, ...]], bytes]
FAILURES: tuple[Failure, ...] = (
    ("gesv", lambda r, s: (r, r, s, s), b"Lapack Error in gesv : U(2,2) is zero, singular U."),
    ("inverse", lambda r, s: (r, s), b"Lapack Error getrf : U(2,2) is 0, U is singular"),
    (
        "potrf",
        lambda r, s: (r, s),
        b"Lapack Error in potrf : the leading minor of order 2 is not positive definite",
    ),
    (
        "orgqr",
        lambda r, s: (r, s, matrix(np.ones(3))),
        b"Lapack Error in orgqr : Illegal Argument 2",
    ),
    (
        "ormqr",
        lambda r, s: (r, s, matrix(np.ones(3)), s),
        b"Lapack Error in ormqr : Illegal Argument 5",
    ),
    (
        "ormqr",
        lambda r, s: (r, matrix(np.ones((3, 1))), matrix(np.ones(1)), s),
        b"Lapack Error in ormqr : Illegal Argument 6",
    ),
)


@pytest.mark.parametrize(("name", "arguments", "message"), FAILURES)
def test_failure_changes_nothing(
    name: str, arguments: Callable[[Tensor, Tensor], tuple[object, ...]], message: bytes
) -> None:
    r, singular = matrix(np.arange(5.0)), matrix(np.ones((2, 2)))
    assert entry(name, None)(*arguments(r, singular)) == b"\0" + message
    assert r.array.tolist() == [0, 1, 2, 3, 4]
    assert singular.array.tolist() == [[1, 1], [1, 1]]


@pytest.mark.thorough
def test_threads_are_set_of_a_library_that_is_loaded_while_another_thread_sets_them() -> None:
    code = data(
        __file__, "test_threads_are_set_of_a_library_that_is_loaded_while_another_thread_sets_them"
    )
    run = run_python("-c", code, check=True)
    assert run.stdout == "[3] [3, 3]\n"


@pytest.mark.thorough
def test_the_environment_says_how_many_threads_large_products_have() -> None:
    code = data(__file__, "test_the_environment_says_how_many_threads_large_products_have")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    run = run_python("-c", code, check=True, env=environment)
    assert run.stdout == "1 2 2\n"


@pytest.mark.parametrize("call", ["torch.inverse(y)", "torch.mm(y, y)"])
def test_blas_is_not_called_without_room_for_its_buffers(
    lua: Lua, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("Cannot allocate memory")

    lua("y = torch.eye(300)")
    with monkeypatch.context() as patched:
        patched.setattr(blas_threads.mmap, "mmap", refuse)
        blas_threads.check_room.cache_clear()
        _lapack._routine.cache_clear()
        assert lua.error(call) == "$ Torch: not enough memory. Buy new RAM!"
    assert float(lua(f"{call}:sum() / {call}:size(1)")) == 1


def test_blas_is_not_given_to_lua_without_room_for_its_buffers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Once it was, the buffers are there, and Lua's calls of it ask no more.
    def refuse(*_: object) -> None:
        raise OSError("Cannot allocate memory")

    with monkeypatch.context() as patched:
        patched.setattr(blas_threads.mmap, "mmap", refuse)
        blas_threads.check_room.cache_clear()
        with pytest.raises(MemoryError):
            numpy_functions.loop_for_lua(b"matmul", b"dd->d")
    assert numpy_functions.loop_for_lua(b"matmul", b"dd->d")


@pytest.mark.parametrize(("call", "message"), data(__file__, "test_errors_of_new_results"))
def test_errors_of_new_results(lua: Lua, call: str, message: str) -> None:
    assert lua.error(f"torch.{call}") == message

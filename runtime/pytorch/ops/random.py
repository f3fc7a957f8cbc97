"""New tensors of random numbers. PyTorch's documentation: torch, Random sampling.

What is wrong with a call is said before any number is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import default_dtype, dtype, int64
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, broadcast
from th_shell.torch.calls.schema import NEW, OUT, Kind, Out
from th_shell.torch.calls.table import op
from th_shell.torch.ops.creation import check_sizes, fill_number, type_for
from th_shell.torch.ops.random_in_place import (
    bernoulli_,
    bernoulli_each_,
    normal_,
    uniform_,
    whole_,
)
from th_shell.torch.streams.distributions import draw_apart, draw_with_replacement
from th_shell.torch.streams.generator import Source, words_of
from th_shell.torch.streams.uniform import permutation
from th_shell.torch.tensors.large_arrays import empty_tensor
from th_shell.torch.tensors.layouts import empty_like_array
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, resize, resize_to

Fill = Callable[..., Tensor]
#: Further parameters of functions that take sizes, and of those that take the sizes of a tensor.
_OPTIONS = f"torch.Generator generator = None, Tensor out = None, torch.dtype dtype = None, {NEW}"
_LIKE = f"torch.Generator generator = None, torch.dtype dtype = None, {NEW}"


def _new(size: Shape, usual: dtype, dtype: Kind = None, out: Out = None) -> Tensor:
    """Return a new tensor, or the given one with new sizes. usual: the type if the call gives none.

    Raises RuntimeError where the given one has another type than the call asks for.
    """
    check_sizes(size)
    kind = type_for(dtype, out, usual)
    if out is None:
        return empty_tensor(size, kind.numpy)
    if out.sizes != size:
        resize(out, size)
    return out


def _drawn(
    fill: Fill,
    size: Shape,
    usual: dtype,
    *parameters: Any,
    generator: Source = None,
    **options: Any,
) -> Tensor:
    """Return a tensor of some sizes that a method has filled."""
    return fill(_new(size, usual, **options), *parameters, generator=generator)


def _drawn_like(
    fill: Fill, input: Tensor, *parameters: Any, generator: Source = None, **options: Any
) -> Tensor:
    """Return a tensor of another one's sizes and order in memory that a method has filled."""
    kind: Kind = options.get("dtype") or input.dtype
    assert kind is not None
    return fill(wrap(empty_like_array(input, kind.numpy)), *parameters, generator=generator)


# -- uniform and normal


def _register(name: str, fill: Fill, numbers: str) -> None:
    @op(name=name, more=_OPTIONS)
    def of_sizes(size: Shape, **options: Any) -> Tensor:
        return _drawn(fill, size, default_dtype(), **options)

    @op(name=f"{name}_like", more=_LIKE, method=False)
    def alike(input: Tensor, **options: Any) -> Tensor:
        return _drawn_like(fill, input, **options)

    of_sizes.__doc__ = f"Return a tensor of {numbers}."
    alike.__doc__ = f"Return a tensor of the same sizes, of {numbers}."


_register("rand", uniform_, "numbers uniform in [0, 1)")
_register("randn", normal_, "normal numbers with mean 0 and standard deviation 1")


# -- whole numbers


@op(
    f"randint(int high, tuple of ints size, *, {_OPTIONS})",
    f"randint(int low, int high, tuple of ints size, *, {_OPTIONS})",
)
def randint(low: int, high: Any, size: Any = None, **options: Any) -> Tensor:
    """Return a tensor of whole numbers from low, 0 by default, to high - 1."""
    if size is None:
        low, high, size = 0, low, high
    return _drawn(whole_, size, int64, low, high, **options)


@op(
    f"randint_like(Tensor input, int high, *, {_LIKE})",
    f"randint_like(Tensor input, int low, int high, *, {_LIKE})",
    method=False,
)
def randint_like(input: Tensor, low: int, high: int | None = None, **options: Any) -> Tensor:
    """Return a tensor of the same sizes, of whole numbers from low, 0 by default, to high - 1."""
    low, high = (0, low) if high is None else (low, high)
    return _drawn_like(whole_, input, low, high, **options)


@op(more=NEW)
def randperm(n: int, *, generator: Source = None, out: Out = None, dtype: Kind = None) -> Tensor:
    """Return the numbers 0 to n - 1 in random order."""
    kind = dtype or (int64 if out is None else out.dtype)
    check_sizes((n,))
    fill_number(n - 1, kind)
    result = _new((n,), int64, dtype, out)
    words = words_of(generator)
    with words.lock:
        result.array[...] = permutation(words, n)
    return result


# -- normal numbers with means and deviations of their own


_DRAWN = f"torch.Generator generator = None, {OUT}"


@op(
    f"normal(Tensor mean, Tensor std, *, {_DRAWN})",
    f"normal(Tensor mean, float std = 1.0, *, {_DRAWN})",
    f"normal(float mean, Tensor std, *, {_DRAWN})",
)
def normal(mean: Any, std: Any = 1.0, *, generator: Source = None, out: Out = None) -> Tensor:
    """Return a tensor of normal numbers, each with a mean and a standard deviation of its own."""
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    means, deviations = (x.array if isinstance(x, Tensor) else np.asarray(x) for x in (mean, std))
    require((deviations >= 0).all(), "normal expects all elements of std >= 0.0")
    shape = broadcast(means.shape, deviations.shape)
    result = wrap(np.empty(shape, tensors[0].dtype.numpy)) if out is None else out
    resize_to(result, shape)
    array = normal_(result, 0.0, 1.0 if isinstance(std, Tensor) else std, generator=generator).array
    with np.errstate(all="ignore"):
        if isinstance(std, Tensor):
            array[...] = cast(array * deviations, array.dtype)
        array[...] = cast(array + means, array.dtype)
    return result


@op(name="normal", more=_OPTIONS)
def normal_of_sizes(mean: float, std: float, size: Shape, **options: Any) -> Tensor:
    """Return a tensor of normal numbers."""
    return _drawn(normal_, size, default_dtype(), mean, std, **options)


# -- drawn with given probabilities


@op()
def bernoulli(input: Tensor, *, generator: Source = None, out: Out = None) -> Tensor:
    """Return a tensor of 1 and 0; input has the probability of 1 for each element."""
    result = _new(input.sizes, input.dtype, None, out)
    return bernoulli_each_(result, input, generator=generator)


@op(name="bernoulli")
def bernoulli_alike(input: Tensor, p: float, *, generator: Source = None) -> Tensor:
    """Return a tensor of the sizes of input, of 1, with probability p, and 0."""
    array = input.array
    return bernoulli_(wrap(np.empty(array.shape, array.dtype)), p, generator=generator)


@op(more=f"torch.Generator generator = None, {OUT}")
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, **options: Any
) -> Tensor:
    """Return positions drawn for each row of input, whose elements are their probabilities.

    input: a vector or a matrix; the sum of a row may be any positive number. replacement: whether
    a position may come again. Returns int64, a vector of num_samples or a matrix of the rows by
    num_samples.
    """
    out = options.get("out")
    _check_counts(input, num_samples, replacement, out)
    array = input.array
    shape = (*array.shape[:-1], num_samples)
    if 0 not in shape:
        _check_probabilities(array)
    drawn = _draw(array, shape, replacement, options.get("generator"))
    result = _new(shape, int64, int64, out)
    result.array[...] = drawn
    return result


def _check_counts(input: Tensor, count: int, replacement: bool, out: Out) -> None:
    array, kind = input.array, input.dtype
    require(0 < array.ndim <= 2, "prob_dist must be 1 or 2 dim")
    takes = "multinomial only supports floating-point dtypes for input, got: {}"
    require(kind.is_floating_point, takes, kind.scalar)
    if out is not None:
        message = "multinomial expects Long tensor out, got: {}"
        require(out.dtype is int64, message, out.dtype.scalar)
    require(count > 0, "cannot sample n_sample <= 0 samples")
    few = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
    require(replacement or count <= array.shape[-1], few)
    require(array.shape[-1] <= 1 << 24, "number of categories cannot exceed 2^24")


def _check_probabilities(array: Array) -> None:
    wrong = "probability tensor contains either `inf`, `nan` or element < 0"
    require(((array >= 0) & (array < np.inf)).all(), wrong)
    none = "invalid multinomial distribution (sum of probabilities <= 0)"
    require(array.any(axis=-1).all(), none)


def _draw(array: Array, shape: Shape, replacement: bool, generator: Source) -> Array:
    if 0 in shape:
        return np.empty(shape, np.int64)
    words = words_of(generator)
    with words.lock:
        if not replacement or shape[-1] == 1:  # PyTorch: a single draw is the same either way
            return draw_apart(words, array, shape[-1]).copy()
        rows = array.reshape(-1, array.shape[-1])
        return draw_with_replacement(words, rows, shape[-1]).reshape(shape)

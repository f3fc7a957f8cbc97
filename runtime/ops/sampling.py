"""Manual, Random Numbers and Math Functions: permutations, and draws from given probabilities."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.table import FLOATS, op, with_destination
from th_shell.runtime.compute.generator import Generator, chosen
from th_shell.runtime.compute.lua_kernels import draw_slots, pair_slots, shuffle
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.ops._operands import store

_BLOCK = 1 << 15  # numbers drawn at a time: they fit into the processor's cache
_WORDS = 2.0**32  # how many different words of 32 bits there are

# -- permutations


@op("randperm", *with_destination("*T* [Generator] long"), small="random.randperm")
def randperm(r: Tensor, generator: Generator | None, n: int) -> None:
    """r = a vector of the numbers 1 to n in random order."""
    if n <= 0:
        raise ArgError(1, "must be strictly positive")
    numbers = _permutation(chosen(generator), n)
    r.resize((n,))
    r.array[...] = numbers


def _permutation(generator: Generator, n: int) -> Array:
    """The numbers 1 to n, each of which was swapped in turn with itself or a later one."""
    order = np.arange(1, n + 1, dtype=np.int32)
    for start in range(0, n - 1, _BLOCK):
        left = np.arange(n - start, max(n - start - _BLOCK, 1), -1.0)
        words = generator.uniform(len(left))
        words *= _WORDS
        # The remainders words % left in floating point, which is exact for these and faster.
        quotients = words / left
        np.floor(quotients, out=quotients)
        quotients *= left
        words -= quotients
        shuffle(order, words.astype(np.int32), start)
    return order


# -- probabilities


@op(
    "multinomial",
    *with_destination("*LongTensor* [Generator] T int [boolean=false]"),
    FLOATS,
    small="random.multinomial",
)
def multinomial(
    r: Tensor, generator: Generator | None, p: Tensor, count: int, replace: bool
) -> None:
    """r = count indices for each row of p, drawn with the row's elements as probabilities.

    p is a vector or a matrix; a row's sum may be any positive number. r is a vector of count, or
    a matrix of the rows x count. Raises ArgError where count is not positive, or greater than the
    number of probabilities if they are drawn without replacement.
    """
    if p.ndim < 2:
        _check_has_rows(p, 1)
        rows = p.array[np.newaxis]
    else:
        # Torch7: of more than two dimensions, the first two are read.
        rows = p.array.reshape(*p.sizes[:2], -1)[:, :, 0]
    if count <= 0:
        raise ArgError(2, "cannot sample n_sample < 0 samples")
    if not replace and count > rows.shape[1]:
        raise ArgError(2, "cannot sample n_sample > prob_dist:size(1) samples without replacement")
    cumulative = _cumulative(rows)
    uniform = chosen(generator).uniform(len(rows) * count).reshape(len(rows), count)
    drawn = draw_slots(cumulative, uniform, replace)
    store(r, (drawn if p.ndim > 1 else drawn[0]) + np.int64(1))


def _check_has_rows(p: Tensor, ndim: int) -> None:
    if p.ndim < ndim:
        raise ArgError(2, f"dimension 1 out of range of {p.ndim}D tensor")


def _cumulative(rows: Array) -> Array:
    cumulative: Array = rows.cumsum(axis=1, dtype=np.float64)
    totals = cumulative[:, -1:].copy()
    if not (totals > 0).all():
        raise ArgError(2, "invalid multinomial distribution (sum of probabilities <= 0)")
    cumulative /= totals
    return np.ascontiguousarray(cumulative)


# -- the alias method


@op(
    "multinomialAliasSetup_",
    "T *LongTensor* *T*",
    "T [*LongTensor*] [*T*]",
    FLOATS,
)
def alias_setup(p: Tensor, aliases: Tensor, q: Tensor) -> None:
    """The tables of the alias method for the distribution p: aliases and q.

    An index is drawn uniformly, and kept with the probability q[index]; otherwise aliases[index]
    is taken. Both tables are vectors as long as p.
    """
    shares = np.multiply(p.flat, p.nelement, dtype=p.dtype.numpy)
    filled_by = pair_slots(shares)
    if not shares.size or not shares.min() > 0:
        raise ArgError(2, "q_min is less than 0")
    if shares.max() > 1:
        shares /= shares.max()
    # Torch7: an alias of index 1 (0 here) counts as no alias.
    shares[filled_by == 0] = 1
    store(aliases, filled_by + np.int64(1))
    store(q, shares)


_DRAWS = 1 << 16  # drawn at a time, which bounds the memory for intermediate results


@op("multinomialAlias_", *with_destination("*LongTensor* [Generator] LongTensor T"), FLOATS)
def alias_draw(r: Tensor, generator: Generator | None, aliases: Tensor, q: Tensor) -> None:
    """r = indices drawn with the tables of multinomialAliasSetup_; r is not resized."""
    if not 0 < aliases.nelement <= q.nelement:
        sizes = f"J: {describe(aliases.sizes)}, q: {describe(q.sizes)}"
        raise TorchError(f"size mismatch, {sizes}")
    count = r.nelement
    alias_indices, chances = aliases.flat - 1, q.flat
    # Where no draw can fail, no memory for all of them is needed, in which to wait for the last.
    in_place = bool(((chances >= 0) & (chances <= 1)).all())
    in_place &= r.is_contiguous and r.storage is not aliases.storage
    out = r.flat if in_place else np.empty(count, np.int64)
    for start in range(0, count, _DRAWS):
        part = out[start : start + _DRAWS]
        draws = chosen(generator).uniform(2 * part.size)
        index = (draws[0::2] * aliases.nelement).astype(np.int64)
        threshold = chances[index]
        if not ((threshold >= 0) & (threshold <= 1)).all():
            raise ArgError(1, "must be >= 0 and <= 1")
        part[...] = np.where(draws[1::2] <= threshold, index + 1, alias_indices[index])
    # Torch7: every call subtracts 1 from the aliases, and does not add it again.
    aliases.array[...] -= 1
    if not in_place:
        r.array[...] = out.reshape(r.array.shape)

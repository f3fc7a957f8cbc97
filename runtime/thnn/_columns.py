"""Products of weights with the columns of images, which all convolutions are made of.

The columns of an image are a matrix. Its rows are the places in the kernel, for one plane after
the other; its columns are the places of the kernel's window. An element is what lies under that
place of the kernel there, 0 outside of the image. `correlate` multiplies weights with columns,
`spread` computes what the gradient of that is, `weigh` multiplies sources with columns, which gives
weights.

Arrays are of one type, do not overlap, and each of their samples is contiguous: images are samples
x planes x size, maps (what a convolution makes of planes) samples x maps x places, columns samples
x rows x places. Where columns are only rows x places, they are memory for those of the last sample.
Weights are maps x rows of columns; or kinds x maps x rows, of samples that are of these kinds by
turns.
Threads share the samples out, and parts of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import ceil, prod

import numpy as np

from th_shell.runtime.compute.bulk import multiply_vector
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import Sizes
from th_shell.runtime.thnn._jobs import blas, count_threads, refuse_recording, run

#: Elements that follow each other in columns, up to which their numbers are listed, and elements of
#: a plane's columns up to which they are.
_RUN, _LISTED = 64, 8192


@dataclass(frozen=True)
class Windows:
    """The places of a kernel on images of some size: numbers for depth, height and width.

    padding: how far before the image the first window begins. count: how many places there are.
    """

    size: Sizes
    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    count: Sizes

    @classmethod
    @lru_cache(256)
    def of(
        cls,
        size: Sizes,
        kernel: Sizes,
        stride: Sizes,
        padding: Sizes,
        dilation: Sizes,
        count: Sizes,
    ) -> Windows:
        """Windows for numbers of one to three dimensions, the last one the width."""

        def fill(numbers: Sizes, missing: int = 1) -> Sizes:
            return (missing,) * (3 - len(numbers)) + numbers

        steps = fill(stride), fill(padding, 0), fill(dilation)
        return cls(fill(size), fill(kernel), *steps, fill(count))

    @cached_property
    def taps(self) -> int:
        """The number of places in the kernel."""
        return prod(self.kernel)

    @cached_property
    def places(self) -> int:
        """The number of places of the window."""
        return prod(self.count)

    @cached_property
    def geometry(self) -> Array:
        """The numbers as jobs take them (thnn/columns.lua)."""
        same_rows = self.size[2] == self.count[2] and self.stride[1:] == (1, 1)
        numbers = [*self.size, *self.stride, *self.count, int(same_rows), self.kernel[2], 0]
        rows_follow = self.stride[1] == self.dilation[1] == 1
        for place in product(*map(range, self.kernel)):
            first = [k * d - p for k, d, p in zip(place, self.dilation, self.padding, strict=True)]
            y, x = (self._inside(d, first[d]) for d in (1, 2))
            if x[0] == x[1]:
                y = (0, 0)
            numbers += [*first, *x, *y, int(place[1] > 0 and rows_follow)]
        run = self.count[2] * (self.count[1] if same_rows or rows_follow else 1)
        if run > _RUN or self.taps * self.places > _LISTED:
            return np.array(numbers, np.int32)
        numbers[11] = len(numbers)
        taps = np.array(numbers[12:]).reshape(-1, 8)
        return np.concatenate([numbers, *self._lists(taps, same_rows)]).astype(np.int32)

    def _lists(self, taps: Array, same_rows: bool) -> list[Array]:
        """Numbers of elements of a plane's columns and of the plane, behind where they are.

        Three lists of pairs: those that are the same; what is added to columns, and what to the
        plane then, where columns are added to it.
        """
        depth, height, width = self.count
        at = np.arange(self.taps * self.places).reshape(self.taps, *self.count)
        t, y, x = np.indices((depth, height, width))
        z, row, column = (
            i * s + taps[:, d, None, None, None]
            for d, (i, s) in enumerate(zip((t, y, x), self.stride, strict=True))
        )
        x0, x1, y0, y1 = (taps[:, i, None, None, None] for i in range(3, 7))
        inside = (z >= 0) & (z < self.size[0]) & (y >= y0) & (y < y1) & (x >= x0) & (x < x1)
        image = (z * self.size[1] + row) * self.size[2] + column
        lists = [at[inside], image[inside]]
        if same_rows:
            lists += [*np.empty((2, 0), int), *lists]
        else:  # the last rows of places go to the plane, others to the columns of the tap above
            above = (taps[:, 7, None, None, None] != 0) & np.ones(at.shape, bool)
            below, last = above & (y < height - 1), inside & (~above | (y == height - 1))
            moved = at[::-1][below[::-1]]
            up = moved - self.kernel[2] * self.places + width
            lists += [up, moved, at[::-1][last[::-1]], image[::-1][last[::-1]]]
        return [np.array([len(part) for part in lists[::2]]), *lists]

    def _inside(self, dim: int, first: int) -> tuple[int, int]:
        """The range of places of the window where what is at ``first`` in it is in the image."""
        stride, count = self.stride[dim], self.count[dim]
        start = min(max(-(first // stride), 0), count)
        stop = min((self.size[dim] - 1 - first) // stride + 1, count)
        return start, max(start, stop)


# -- products


#: Bytes of columns up to which a thread keeps them.
_SCRATCH = 1 << 22
#: Multiplications after which Ctrl-C is looked for.
_INTERRUPT = 4_000_000_000
#: Bytes of sums up to which they are computed for chunks of samples, and added up then.
_SUMS = 1 << 20


def _slices(samples: int, work: int, kinds: int = 1) -> Iterator[slice]:
    """Slices of samples of so many multiplications each, between which Ctrl-C is looked for."""
    step = max(_INTERRUPT // max(work * kinds, 1), 1) * kinds
    return (slice(at, min(at + step, samples)) for at in range(0, samples, step))


def _step(samples: Array) -> int:
    """Return the distance of an array's samples, in elements."""
    return samples.strides[0] // samples.itemsize


def _run(
    job: str,
    windows: Windows,
    at: slice,
    image: Array | None,
    planes: int,
    columns: Array,
    positions: int,
    work: int,
    **job_parameters: float | Array,
) -> None:
    """Do a job for all parts of a slice of the samples.

    image: None where a job needs none. work: the multiplications for the slice.
    """
    parameters = {
        "geometry": windows.geometry,
        "image": 0 if image is None else image[at],
        "imageStep": 0 if image is None else _step(image),
        "columns": columns[at] if columns.ndim == 3 else columns,
        "columnStep": _step(columns) if columns.ndim == 3 else 0,
        "planes": planes,
        "taps": windows.taps,
        "places": windows.places,
        "last": at.stop - at.start - 1,
        **job_parameters,
    }
    run(job, positions, at_a_time=1, work=work // 10, **parameters)


def unfold(windows: Windows, image: Array, columns: Array) -> None:
    """columns = the columns of images, of all samples."""
    _run_by_plane("nn_unfold", windows, image, columns)


def fold(windows: Windows, columns: Array, image: Array) -> None:
    """Add the columns of images, of all samples, to them."""
    _run_by_plane("nn_fold", windows, image, columns, axpy=blas("axpy", image.itemsize))


def _run_by_plane(job: str, windows: Windows, image: Array, columns: Array, **more: int) -> None:
    """Do a job for each plane of all samples."""
    planes = image.shape[1]
    for at in _slices(len(image), columns[0].size):
        positions = planes * (at.stop - at.start)
        _run(job, windows, at, image, planes, columns, positions, columns[at].size, **more)


def correlate(
    windows: Windows,
    image: Array,
    weight: Array,
    bias: Array | int,
    out: Array,
    columns: Array,
) -> None:
    """out = bias + weight * the columns of images, which get into ``columns``.

    bias: 0 where there is none.
    """
    *_, maps, depth = weight.shape
    kinds = weight.size // (maps * depth)
    height = windows.places // windows.count[2]
    each = maps * depth * windows.places
    for at in _slices(len(image), each, kinds):
        work = each * (at.stop - at.start)
        rows = ceil(height / _parts(at, work, depth * columns.itemsize * windows.places, columns))
        blocks = ceil(height / rows)
        _run(
            "nn_correlate",
            windows,
            at,
            image,
            image.shape[1],
            columns,
            blocks * (at.stop - at.start),
            work,
            gemm=blas("gemm", image.itemsize),
            weight=weight,
            bias=bias,
            out=out[at],
            outStep=_step(out),
            maps=maps,
            kinds=kinds,
            rows=rows,
            blocks=blocks,
        )


def spread(
    windows: Windows,
    source: Array,
    weight: Array,
    bias: Array | int,
    image: Array,
    columns: Array,
) -> None:
    """image = bias + the columns transposed(weight) * source, added up.

    source: maps. bias: one for each plane of a sample. columns: as in `correlate`; they get the
    products.
    """
    *_, maps, depth = weight.shape
    kinds = weight.size // (maps * depth)
    planes = image.shape[1]
    each = maps * depth * windows.places
    for at in _slices(len(image), each, kinds):
        work = each * (at.stop - at.start)
        size = depth * columns.itemsize * windows.places
        group = ceil(planes / _parts(at, work, size, columns))
        groups = ceil(planes / group)
        _run(
            "nn_spread",
            windows,
            at,
            image,
            planes,
            columns,
            groups * (at.stop - at.start),
            work,
            gemm=blas("gemm", image.itemsize),
            axpy=blas("axpy", image.itemsize),
            weight=weight,
            bias=bias,
            source=source[at],
            sourceStep=_step(source),
            maps=maps,
            kinds=kinds,
            group=group,
            groups=groups,
        )


def weigh(
    windows: Windows,
    image: Array | None,
    source: Array,
    out: Array,
    scale: float,
    columns: Array,
) -> None:
    """out += scale * source * transposed(columns), added up over the samples.

    image: None where its columns are in ``columns`` already. source: maps. out: as weights are.
    """
    *_, maps, depth = out.shape
    kinds = out.size // (maps * depth)
    planes = depth // windows.taps
    each = maps * depth * windows.places
    for at in _slices(len(source), each, kinds):
        samples, work = at.stop - at.start, each * (at.stop - at.start)
        threads = count_threads(work // 10)
        shared = kinds == 1 and threads * out.nbytes <= _SUMS
        reach = ceil(samples / threads) if shared else samples
        chunk, chunks = (reach, ceil(samples / reach)) if kinds == 1 else (1, kinds)
        sums = np.empty((chunks, maps, depth), out.dtype) if chunks > kinds else out
        least = 1 if columns.ndim == 3 else depth * out.itemsize * windows.places // _SCRATCH
        group = ceil(planes / max(threads // chunks, least, 1))
        groups = ceil(planes / group)
        _run(
            "nn_weigh",
            windows,
            at,
            image,
            planes,
            columns,
            groups * chunks,
            work,
            gemm=blas("gemm", out.itemsize),
            out=sums,
            source=source[at],
            sourceStep=_step(source),
            maps=maps,
            group=group,
            groups=groups,
            chunk=chunk,
            reach=reach,
            apart=kinds,
            samples=samples,
            alpha=scale,
            beta=float(sums is out),
        )
        if sums is not out:
            out += sums.sum(axis=0)


def _parts(at: slice, work: int, size: int, columns: Array) -> int:
    """Into how many parts the work for each of some samples is divided.

    So many that all threads have some, and that columns which nobody asks for, of ``size`` bytes,
    need not be in memory as a whole.
    """
    threads = count_threads(work // 10)
    least = 1 if columns.ndim == 3 else size // _SCRATCH
    return int(max(ceil(threads / (at.stop - at.start)), least, 1))


def add_sums(sums: Array, source: Array, scale: float) -> None:
    """sums += scale * the sums over the places and samples of maps.

    sums: contiguous. scale: it is rounded to the elements' type.
    """
    samples, maps, places = source.shape
    if source.size < LARGE:
        run(
            "nn_add_sums",
            maps,
            work=source.size,
            sums=sums,
            source=source,
            samples=samples,
            places=places,
            sourceStep=_step(source),
            alpha=scale,
        )
        return
    refuse_recording("BLAS adds up")
    ones = np.ones(places, source.dtype)
    rows = source.reshape(-1, places)
    row_sums = np.empty(len(rows), source.dtype)
    if not multiply_vector(rows, ones, row_sums):
        np.matmul(rows, ones, out=row_sums)
    sums += sums.dtype.type(scale) * row_sums.reshape(len(source), -1).sum(axis=0)

"""Views with the dimensions in another order.

PyTorch's documentation: torch, Indexing, Slicing, Joining, Mutating Ops.
"""

from __future__ import annotations

from typing import Any

from runtime.pytorch.base.shapes import Shape, listed, wrap_dim
from runtime.pytorch.base.warn import warn
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import IntOrShape
from runtime.pytorch.ops.views import becoming, in_place
from runtime.pytorch.tensors.layouts import strided
from runtime.pytorch.tensors.tensor import Tensor, view_of


def _permuted(input: Tensor, order: Any) -> Tensor:
    array = input.array
    if array.size:
        return view_of(input, array.transpose(order))
    strides = input.strides
    return strided(input, tuple(array.shape[d] for d in order), tuple(strides[d] for d in order))


@op()
def permute(input: Tensor, dims: Shape) -> Tensor:
    """A view whose dimensions are those of the tensor in the order of dims."""
    ndim = input.array.ndim
    if len(dims) != ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal "
            f"to len(dims) = {len(dims)}"
        )
    order = [wrap_dim(dim, ndim) for dim in dims]
    if len(set(order)) < ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permuted(input, order)


@op("swapaxes(Tensor input, int axis0, int axis1)")
@op(name="transpose swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions exchanged."""
    array = input.array
    ndim = array.ndim
    if not (0 <= dim0 < ndim and 0 <= dim1 < ndim):
        dim0, dim1 = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    if not array.size or not ndim:
        order = list(range(ndim))
        if ndim:
            order[dim0], order[dim1] = dim1, dim0
        return _permuted(input, order)
    return view_of(input, array.swapaxes(dim0, dim1))


def _t(input: Tensor, name: str) -> Tensor:
    array = input.array
    if array.ndim > 2:
        raise RuntimeError(
            f"{name}() expects a tensor with <= 2 dimensions, but self is {array.ndim}D"
        )
    if array.size:
        return view_of(input, array.T)
    return _permuted(input, range(array.ndim)[::-1])


@op()
def t(input: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged; tensors of fewer dimensions as they are."""
    return _t(input, "t")


@op(function=False)
def t_(input: Tensor) -> Tensor:
    """Exchange the rows and columns of a matrix."""
    input.become(_t(input, "t_"))
    return input


in_place(transpose, "transpose_ swapdims_")
op("swapaxes_(Tensor input, int axis0, int axis1)", function=False)(becoming(transpose))


@op(name="movedim moveaxis")
def movedim(input: Tensor, source: IntOrShape, destination: IntOrShape) -> Tensor:
    """A view with one dimension, or some, at other positions; the others keep their order."""
    if isinstance(source, int):
        source, destination = (source,), (destination,)
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({listed(source)} dims) should "
            f"contain the same number of dims as destination ({listed(destination)} dims)"
        )
    ndim = input.array.ndim
    origins = [wrap_dim(dim, ndim) for dim in source]
    places = [wrap_dim(dim, ndim) for dim in destination]
    for name, given, dims in (("source", source, origins), ("destination", destination, places)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({listed(given)})")
    if not ndim:
        return _permuted(input, ())
    to = dict(zip(places, origins, strict=True))
    others = iter([dim for dim in range(ndim) if dim not in origins])
    return _permuted(input, [to[dim] if dim in to else next(others) for dim in range(ndim)])


# -- matrices and batches of them


def _warn_of_no_dimension(name: str) -> None:
    advice = "Consider using x.conj()."
    if name in ("T", "mT"):
        advice = "This function is the identity in these cases."
    owner = "" if name == "adjoint()" else "Tensor."
    warn(f"{owner}{name} is deprecated on 0-D tensors. {advice}")


def _matrices(input: Tensor, name: str) -> Tensor:
    ndim = input.array.ndim
    if not ndim:
        _warn_of_no_dimension(name)
    if ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. "
            f"Got {ndim}-D tensor."
        )
    return transpose(input, -2, -1) if ndim else view_of(input, input.array)


@op()
def adjoint(input: Tensor) -> Tensor:
    """Matrices with rows and columns exchanged: no tensor here has complex elements."""
    return _matrices(input, "adjoint()")


def _read_T(self: Tensor) -> Tensor:  # noqa: N802 (the attribute's name)
    ndim = self.array.ndim
    if not ndim:
        _warn_of_no_dimension("T")
    elif ndim != 2:
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )
    return _permuted(self, range(ndim)[::-1])


def _read_H(self: Tensor) -> Tensor:  # noqa: N802
    ndim = self.array.ndim
    if not ndim:
        _warn_of_no_dimension("H")
    elif ndim != 2:
        batches = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{batches}"
        )
    return _permuted(self, range(ndim)[::-1])


for _name, _read in (
    ("T", _read_T),
    ("H", _read_H),
    ("mT", lambda self: _matrices(self, "mT")),
    ("mH", lambda self: _matrices(self, "mH")),
):
    setattr(Tensor, _name, property(_read))

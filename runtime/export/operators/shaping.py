"""Operators that change shapes, take parts of tensors, and join them; they compute nothing."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

from th_shell.runtime.export.graph import BATCH, Call, Dim, Emitter, Shape, Value
from th_shell.runtime.export.operators import SIZE, moved, node, plain, replaced, reshaped, total


def contiguous(x: Value) -> Value:
    """Return a tensor, or a copy where its elements do not lie in their order."""
    return x if x.view is None or x.view.is_contiguous else x.copied()


def flatten(x: Value, start: int = 1) -> Value:
    """Make all dimensions from `start` on one."""
    if x.shape is not None and x.rank == start + 1:
        return x
    shape = (*x.shape[:start], total(x.shape[start:])) if x.shape is not None else None
    call = Call("nn.Flatten", {"start_dim": start}, {"start_dim": 1}, ("start_dim",))
    text = f"{{0}}.flatten({start})"

    to_onnx = plain("Flatten") if start == 1 else plain("Reshape", [*[0] * start, -1])
    return moved(x, to_onnx, shape or (None,) * (start + 1), text, layer=call)


def reshape(x: Value, sizes: Sequence[Dim], batch: bool = True) -> Value:
    """Give a tensor other sizes, of which one may be -1.

    batch: whether they are those of a sample, and the first dimension stays.
    """
    numbers = [int(size) for size in sizes if isinstance(size, int)]
    assert len(numbers) == len(sizes)
    x_shape = x.shape or ()
    count = total(x_shape[int(batch) :]) if x.shape is not None else None
    of_sample = numbers if batch else numbers[1:] if numbers[:1] == [-1] else []
    if x_shape and of_sample and -1 not in of_sample and BATCH not in x_shape[1:]:
        x.graph.fit(x_shape[1:], prod(of_sample))  # of other sizes nn makes other samples
    if (
        batch
        and len(numbers) == 1
        and len(x_shape) > 2
        and (-1 in numbers or count in (*numbers, None))
    ):
        result = flatten(x)
        if -1 not in numbers:
            result.shape = (x_shape[0], *numbers)
        return result
    product = prod(size for size in numbers if size != -1)
    fill = count // product if -1 in numbers and isinstance(count, int) and product else None
    shape: Shape = tuple([fill if size == -1 else size for size in numbers])
    if batch:
        return _reshape_samples(x, numbers, shape)
    if (
        x_shape
        and numbers[:1] == [-1]
        and count is None
        and total(numbers[1:]) == total(x_shape[1:])
    ):
        shape = (x_shape[0], *shape[1:])
    text = f"{{0}}.reshape({', '.join(map(str, numbers))})"
    return moved(x, plain("Reshape", numbers), shape, text)


def _reshape_samples(x: Value, numbers: Sequence[int], shape: Shape) -> Value:
    x_shape = x.shape or (BATCH,)
    call = None
    if len(x_shape) == 2:
        call = Call("nn.Unflatten", {"dim": 1, "size": tuple(numbers)}, {}, ("dim", "size"))
    first, many = ("{0}.size(0)", 0) if -1 in numbers else ("-1", -1)
    *inner, last = numbers
    sizes = [first, *map(str, inner), f"{SIZE}{last}" if last > 0 else "-1"]
    text = f"{{0}}.reshape({', '.join(sizes)})"
    to_onnx = plain("Reshape", [many, *numbers])
    return moved(x, to_onnx, (x_shape[0], *shape), text, layer=call)


MERGED = "{0}.flatten(0, 1)"
UNMERGED = "{0}.unflatten(0, {1}.shape[:2])"


def merge(x: Value, count: int, dim: int = 0) -> Value:
    """Make several dimensions one, by default the first ones."""

    def to_onnx(e: Emitter, name: str) -> Any:
        before = [e.op("Shape", name, end=dim)] if dim else []
        behind = e.op("Shape", name, start=dim + count)
        return e.op("Reshape", name, e.op("Concat", *before, e.ints(-1), behind, axis=0))

    stop, shape = dim + count, x.shape
    if shape is not None:
        shape = (*shape[:dim], total(shape[dim:stop]), *shape[stop:])
    return moved(x, to_onnx, shape, f"{{0}}.flatten({dim}, {stop - 1})")


def unmerge(x: Value, like: Value, count: int) -> Value:
    """Part the first dimension as the first `count` dimensions of another tensor."""

    def to_onnx(e: Emitter, name: str, like_name: str) -> Any:
        first = e.op("Slice", e.op("Shape", like_name), e.ints(0), e.ints(count))
        behind = e.op("Slice", e.op("Shape", name), e.ints(1), e.ints(2**62))
        return e.op("Reshape", name, e.op("Concat", first, behind, axis=0))

    text = f"{{0}}.unflatten(0, {{1}}.shape[:{count}])"
    is_known = x.shape is not None and like.shape is not None
    shape = (*(like.shape or ())[:count], *(x.shape or ())[1:]) if is_known else None
    value = node([x, like], to_onnx, shape, text, kind=x.kind)
    value.lie_within(x, get=partial(unmerge, like=like.current, count=count), put=reshaped)
    return value


def with_samples(x: Value, rank: int, apply: Callable[[Value], Value]) -> Value:
    """Apply a function of tensors of a rank to one that may lack the dimension of samples."""
    if x.shape is None or x.rank != rank - 1:
        return apply(x)
    return squeeze(apply(unsqueeze(x, 0)), 0)


def for_samples(x: Value, like: Value) -> Value:
    """Return a tensor once for each sample of another one."""
    sizes = x.sizes(*range(x.rank))

    def to_onnx(e: Emitter, name: str, like_name: str) -> Any:
        many = e.op("Slice", e.op("Shape", like_name), e.ints(0), e.ints(1))
        return e.op("Expand", name, e.op("Concat", many, e.ints(*sizes), axis=0))

    text = f"{{0}}.expand({{1}}.size(0), {', '.join(['-1'] * x.rank)})"
    many = like.shape[0] if like.shape is not None else BATCH
    return node([x, like], to_onnx, (many, *sizes), text, kind=x.kind)


def permute(x: Value, order: Sequence[int]) -> Value:
    """Put dimensions in another order."""
    shape = tuple([x.shape[dim] for dim in order]) if x.shape is not None else None
    moving = [dim for dim, old in enumerate(order) if dim != old]
    if not moving:
        return x
    text = f"{{0}}.permute({', '.join(map(str, order))})"
    if len(moving) == 2:
        text = f"{{0}}.transpose({moving[0]}, {moving[1]})"
    back = sorted(range(len(order)), key=order.__getitem__)
    lies = {"put": lambda whole, part: permute(part, back), "is_contiguous": False}
    return moved(x, plain("Transpose", perm=list(order)), shape, text, lies)


def transpose(x: Value, first: int, second: int) -> Value:
    """Exchange two dimensions."""
    order = list(range(x.rank))
    order[first], order[second] = order[second], order[first]
    return permute(x, order)


def squeeze(x: Value, dim: int) -> Value:
    """Remove a dimension of size 1."""
    return moved(x, plain("Squeeze", [dim]), replaced(x.shape, dim), f"{{0}}.squeeze({dim})")


def unsqueeze(x: Value, dim: int) -> Value:
    """Insert a dimension of size 1."""
    shape = (*x.shape[:dim], 1, *x.shape[dim:]) if x.shape is not None else None
    return moved(x, plain("Unsqueeze", [dim]), shape, f"{{0}}.unsqueeze({dim})")


def expand(x: Value, dim: int, size: int) -> Value:
    """Repeat a dimension of size 1."""
    sizes = [-1] * x.rank
    sizes[dim] = size
    to_onnx = plain("Expand", [abs(each) for each in sizes])
    text = f"{{0}}.expand({', '.join(map(str, sizes))})"
    once = lambda whole, part: narrow(part, dim, 0, 1)  # noqa: E731
    lies = {"put": once, "is_contiguous": size == 1, "repeats": size > 1}
    return moved(x, to_onnx, replaced(x.shape, dim, size), text, lies)


def expand_as(x: Value, like: Value) -> Value:
    """Repeat dimensions of size 1 to the sizes of another tensor."""

    def to_onnx(e: Emitter, name: str, like_name: str) -> Any:
        return e.op("Expand", name, e.op("Shape", like_name))

    return node([x, like], to_onnx, like.shape, "{0}.expand_as({1})", kind=x.kind, word="wide")


def select(x: Value, dim: int, index: int) -> Value:
    """Return one place of a dimension, without it; index from 0, or below 0 from the end."""
    places = ", ".join([":"] * dim + [str(index)])
    to_onnx = plain("Gather", index, axis=dim)
    lies = _part(x, dim, index, index + 1 or None, is_place=True)
    return moved(x, to_onnx, replaced(x.shape, dim), f"{{0}}[{places}]", lies)


def _part(
    x: Value, dim: int, start: int, stop: int | None, is_place: bool = False
) -> dict[str, Any]:
    """Return the fields of a `View` of places of a dimension, from one to before another.

    is_place: whether they are shown without that dimension.
    """

    def put(whole: Value, part: Value) -> Value:
        size = whole.shape[dim] if whole.shape is not None else None
        before = [narrow(whole, dim, 0, start)] if start else []
        behind = [] if stop in (None, size) else [narrow(whole, dim, stop or 0, None)]
        part = unsqueeze(part, dim) if is_place else part
        return cat([*before, part, *behind], dim) if before or behind else part

    first = not dim or x.shape is not None and set(x.shape[:dim]) <= {1}
    return {"put": put, "is_contiguous": first}


def narrow(x: Value, dim: int, start: int, stop: int | None) -> Value:
    """Return places of a dimension from `start` to before `stop`; None: to the end."""
    to_onnx = plain("Slice", [start], [2**62 if stop is None else stop], [dim])
    shape = x.shape
    if shape is not None:
        size = shape[dim]
        count = len(range(size)[start:stop]) if isinstance(size, int) else None
        if count is None and stop is not None and stop * start >= 0 and (stop > 0 or start < 0):
            count = stop - start
        shape = replaced(shape, dim, count)
    places = ", ".join([":"] * dim + [f"{start or ''}:{'' if stop is None else stop}"])
    return moved(x, to_onnx, shape, f"{{0}}[{places}]", _part(x, dim, start, stop))


def unbind(x: Value, dim: int) -> list[Value]:
    """Return all places of a dimension, whose size must be known."""
    (count,) = x.sizes(dim)
    if count > _FEW or count == 1:
        return [select(x, dim, n) for n in range(count)]
    shape = replaced(x.shape, dim)
    parts = [Value(x.graph, shape, x.kind, source=x) for _ in range(count)]

    def to_onnx(e: Emitter, name: str) -> Any:
        parts = e.op("Split", name, axis=dim, num_outputs=count, count=count)
        return [e.op("Squeeze", each, e.ints(dim)) for each in parts]

    x.graph.add([x], to_onnx, parts, expression=f"{{0}}.unbind({dim})")
    for n, part in enumerate(parts):
        part.lie_within(x, get=partial(select, dim=dim, index=n), **_part(x, dim, n, n + 1, True))
    return parts


_FEW = 6  # as many names as stand in a line


def chunks(x: Value, count: int, dim: int, words: str) -> list[Value]:
    """Return equal parts of a dimension. words: names for them, with spaces between."""
    shape = x.shape
    if shape is not None:
        size = shape[dim]
        shape = replaced(shape, dim, size // count if isinstance(size, int) else None)
    parts = [Value(x.graph, shape) for _ in range(count)]
    to_onnx = plain("Split", axis=dim, num_outputs=count, count=count)
    x.graph.add([x], to_onnx, parts, expression=f"{{0}}.chunk({count}, {dim})", word=words)
    return parts


def cat(values: Sequence[Value], dim: int) -> Value:
    """Join tensors along a dimension."""
    if len(values) == 1:
        return values[0].copied()
    shape: Shape | None = None

    def spread(shape: Shape) -> None:
        for value in values:
            value.assume((*shape[:dim], None, *shape[dim + 1 :]))

    if known := next((value.shape for value in values if value.shape), None):
        spread(known)
        sizes = [value.shape[dim] for value in values if value.shape is not None]
        total_size = sum(size for size in sizes if isinstance(size, int))
        whole = total_size if all(isinstance(size, int) for size in sizes) else None
        assert values[0].shape is not None
        shape = replaced(values[0].shape, dim, whole)
    names = ", ".join(f"{{{n}}}" for n in range(len(values)))
    text = f"torch.cat(({names}), {dim})"
    kind = values[0].kind
    result = node(values, plain("Concat", axis=dim), shape, text, kind=kind, word="joined")
    result.on_shape = spread
    return result


def stack(values: Sequence[Value], dim: int) -> Value:
    """Join tensors along a new dimension."""

    def to_onnx(e: Emitter, *names: str) -> Any:
        return e.op("Concat", *[e.op("Unsqueeze", name, e.ints(dim)) for name in names], axis=dim)

    first = values[0]
    part_shape = first.shape
    shape = None if part_shape is None else (*part_shape[:dim], len(values), *part_shape[dim:])
    names = ", ".join(f"{{{n}}}" for n in range(len(values)))
    text = f"torch.stack([{names}], {dim})"
    return node(values, to_onnx, shape, text, kind=first.kind, word="joined")

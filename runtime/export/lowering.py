"""From a value in a file to a graph: which module is meant, and what it becomes."""

from collections.abc import Iterator, Mapping
from typing import Any

from th_shell.runtime.export import rows  # noqa: F401 (adds the rows)
from th_shell.runtime.export.data import Shapes, new_input, settled, shapes_at, tensors
from th_shell.runtime.export.graph import BATCH, ExportError, Fit, Graph, NeedsInput, StandIn
from th_shell.runtime.export.modules import Module, class_of, convert, row_of
from th_shell.runtime.export.python_text import split_arguments
from th_shell.runtime.t7.values import Table, TorchObject, name_of_key
from th_shell.runtime.t7.working_memory import is_criterion, is_module


def graph_of(
    net: TorchObject,
    shapes: Shapes | None = None,
    treated: Mapping[str, str] | None = None,
    stand_in: StandIn | None = None,
    prune: bool = True,
    looks: bool = False,
) -> Graph:
    """Return the graph of a module. shapes: those of its inputs, where they are known.

    prune: without what is not used. looks: whether the shapes are tried. Raises ExportError for
    what has no counterpart, and no stand-in.
    """
    graph = Graph(treated or {}, stand_in=stand_in, looks=looks)
    graph.arguments = new_input(graph, "input", shapes)
    try:
        graph.result = settled(convert(Module(net, (), graph), graph.arguments), graph)
    except Fit as fit:
        shapes = shapes_at(graph.arguments, {fit.name: fit.size})
        return graph_of(net, shapes, treated, stand_in, prune, looks)
    except NeedsInput as error:
        error.arguments = graph.arguments
        raise
    graph.outputs = [value.current for value in tensors(graph.result, decide=True)]
    graph.inputs = list(tensors(graph.arguments))
    if prune:
        graph.prune()
    return graph


def shapes_of(text: str) -> Shapes:
    """Read shapes as users write them: ``1x3x224x224``; ``1x10,1x20`` for a table, and
    ``(1x10,1x20),1x3`` for one with a table in it.

    The first dimension, of samples, is left open, and so is one that has a name instead of a size.
    Raises ValueError for another text.
    """
    shapes = [_shapes(part) for part in split_arguments(text)]
    return shapes[0] if len(shapes) == 1 else shapes


def _shapes(part: str) -> Shapes:
    if part[:1] == "(" and part[-1:] == ")":
        return [_shapes(inner) for inner in split_arguments(part[1:-1])]
    words = part.split("x")
    sizes = [int(word) if word.isdecimal() else word for word in words]
    if not all(size.isidentifier() if isinstance(size, str) else size for size in sizes):
        raise ValueError(f"{part!r} is no list of sizes such as 1x3x224x224")
    return (BATCH if isinstance(sizes[0], int) else sizes[0], *sizes[1:])


def find_module(value: Any, path: str | None, treated: Mapping[str, str]) -> TorchObject:
    """Return the module at a path of keys with dots between them.

    Without a path it is the only one, or the only one besides criterions.

    Raises ExportError where there is none, or several.
    """
    if path:
        value = value_at(value, path)
        if not _is_module(value, treated):
            raise ExportError(f"{path} is no module")
    if _is_module(value, treated):
        module: TorchObject = value
        return module
    several = dict(_modules(value, treated))
    modules = {name: each for name, each in several.items() if not is_criterion(each)} or several
    if not modules:
        raise ExportError(
            "the file holds no module: `describe` and th --convert FILE tell what it holds"
        )
    if len(modules) > 1:
        listed = ", ".join(f"{name} ({each.torch_typename})" for name, each in modules.items())
        raise ExportError(f"the file holds several modules; --select one of {listed}")
    return next(iter(modules.values()))


def _is_module(value: Any, treated: Mapping[str, str]) -> bool:
    if not isinstance(value, TorchObject):
        return False
    kind = class_of(value)
    if kind.startswith("nn.") or value.torch_typename in treated or is_module(value):
        return True
    return row_of(kind) is not None


def _modules(value: Any, treated: Mapping[str, str]) -> Iterator[tuple[str, TorchObject]]:
    """Yield the outermost modules in a value, and their paths."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if _is_module(item, treated):
            yield name, item
            continue
        inner = item.fields if isinstance(item, TorchObject) else item
        if isinstance(inner, Table):
            dot = "." if name else ""
            entries = [(f"{name}{dot}{name_of_key(key)}", each) for key, each in inner.items()]
            waiting += reversed(entries)


def value_at(value: Any, path: str) -> Any:
    """Return the value at a path of keys with dots between them; modules have their numbers.

    Raises ExportError where nothing is.
    """
    for word in path.split("."):
        inner = value.fields if isinstance(value, TorchObject) else value
        by_name = (
            {name_of_key(key): each for key, each in inner.items()}
            if isinstance(inner, Table)
            else {}
        )
        modules = by_name.get("modules") if isinstance(value, TorchObject) else None
        if isinstance(modules, Table):
            by_name |= {str(n): each for n, each in enumerate(modules.to_list(), 1)}
        if word not in by_name:
            raise ExportError(
                f"there is no {word!r} of {path!r}; there are {', '.join(by_name) or 'no keys'}"
            )
        value = by_name[word]
    return value

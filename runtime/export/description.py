"""Tells what is in a file: its structure, and what each module of a net would become."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from textwrap import wrap
from typing import Any, NamedTuple

from th_shell.runtime.export.conversion import ConversionOptions
from th_shell.runtime.export.data import UndecidedInput, shapes_at
from th_shell.runtime.export.graph import Data, ExportError, Node, Value
from th_shell.runtime.export.guessing import find_graph
from th_shell.runtime.export.lowering import graph_of, shapes_of, value_at
from th_shell.runtime.export.modules import Module
from th_shell.runtime.export.operators import SIZE
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.python_text import call_text
from th_shell.runtime.t7.tensors import lua_tensor
from th_shell.runtime.t7.values import Function, Table, TorchObject, name_of_key
from th_shell.runtime.t7.working_memory import is_module, parameters_and_buffers
from th_shell.torch.tensors.tensor import Tensor

_DEEPEST = 40  # tables in each other that are shown
_MOST = 40  # entries of a table that are shown; of a net, all modules are
_PERIOD = 12  # modules of a group whose repetitions are folded
_NODES = 3  # steps of a module that are shown
_STEP = "  "


def describe(value: Any, *, width: int = 100, **options: Any) -> str:
    """Return a text on a value of `load`: its tables, and what its modules would become.

    width: characters of a line. options: select, input and treat of `ConversionOptions`.
    Raises ExportError for a path that leads nowhere.
    """
    settings = ConversionOptions(**options)
    if settings.select:
        value = value_at(value, settings.select)
    return "\n".join(_Description(settings, width).lines(value, settings.select or "", _Place()))


class _Place(NamedTuple):
    """The place of lines: tables around them, and characters of the first one's name before it."""

    depth: int = 0
    name: int = 0
    in_net: bool = False


class _Description:
    def __init__(self, settings: ConversionOptions, width: int) -> None:
        self._settings = settings
        self._width = width
        self._seen: dict[int, str] = {}  # tables and objects, and where they were
        self._texts: dict[int, list[str]] = {}  # of modules: what they become
        self._reasons: dict[int, str] = {}  # of modules: why they do not
        self._first_paths: dict[str, str] = {}  # of modules, by the reasons that they have

    def lines(self, value: Any, path: str, place: _Place) -> list[str]:
        """Return the lines about a value; those but the first are indented."""
        if not isinstance(value, (Table, TorchObject)):
            return [_plain_text(value)]
        first = self._seen.setdefault(id(value), path)
        if first != path:
            return [f"the same as {first or 'the whole'}"]
        if isinstance(value, TorchObject) and is_module(value):
            return self._module(value, path, place)
        fields = value.fields if isinstance(value, TorchObject) else value
        if isinstance(value, Table) and not any(_is_large(item) for item in value.values()):
            return [_short(repr(value), self._room(place))]
        count = f"{len(fields)} {'entry' if len(fields) == 1 else 'entries'}"
        kind = f"{value.torch_typename} of" if isinstance(value, TorchObject) else "table of"
        if place.depth > _DEEPEST:
            return [f"{kind} {count}"]
        entries = [(name_of_key(key), item) for key, item in fields.items()]
        return [f"{kind} {count}", *self._entries(entries, path, place)]

    def _module(self, module: TorchObject, path: str, place: _Place) -> list[str]:
        room = self._room(place)
        notes: list[str] = []
        if place.in_net:
            head = wrap(", ".join([module.torch_typename, *_tensors(module)]), room)
        else:
            select = [f"--select {path}"] if path else []
            head, notes = [_with_totals(module)], [*select, *self._convert(module)]
        reason = self._reason(module, path)
        text = "; ".join(self._texts.get(id(module), [])[:_NODES])
        if reason:
            text = f"cannot be converted: {reason}"
        if text and len(head[-1]) + len(text) + 4 <= room:
            head[-1] += f" -> {text}"
        elif text:
            head += wrap(f"-> {text}", room) if reason else [f"-> {_short(text, room - 3)}"]
        modules = list(_children(module, self._seen))
        lines = [head[0], *[_STEP + line for line in (*head[1:], *notes)]]
        return lines + self._entries(modules, path, place._replace(in_net=True))

    def _reason(self, module: TorchObject, path: str) -> str:
        """Return why a module cannot be converted, or where the same reason stands already."""
        reason = self._reasons.get(id(module), "")
        key = f"{module.torch_typename} {reason.partition(';')[0]}"
        first = self._first_paths.setdefault(key, path) if reason else path
        return reason if first == path else f"see {first or 'above'}"

    def _entries(self, entries: Sequence[tuple[str, Any]], path: str, place: _Place) -> list[str]:
        """Return the lines of entries with their names; repetitions are folded."""
        dot = "." if path else ""
        wide = max((len(name) for name, _ in entries), default=0)
        inner = place._replace(depth=place.depth + 1, name=wide)
        blocks = [(name, self.lines(item, f"{path}{dot}{name}", inner)) for name, item in entries]
        shown = list(_folded(blocks))
        if len(shown) > _MOST and not place.in_net:
            shown = [*shown[:_MOST], ("...", [f"{len(entries) - _MOST} more entries"])]
        lines = []
        for name, (first, *inner_lines) in shown:
            lines.append(f"{_STEP}{name:<{wide}}  {first}")
            lines += [_STEP + line for line in inner_lines]
        return lines

    def _convert(self, net: TorchObject) -> list[str]:
        """Note what a net's modules become; returns lines on its inputs."""

        def stand_in(module: Module, data: Data, error: ExportError) -> Data:
            text = re.sub(r"^\S+( at \S+)?: (not converted: )?", "", str(error))
            self._reasons.setdefault(id(module.value), text)
            return UndecidedInput(module.graph, "x")

        settings = self._settings
        shapes = shapes_of(settings.input) if settings.input else None
        with suppress(ExportError):
            shapes = shapes_at(find_graph(net, shapes, settings.treat).arguments, {})
        try:
            graph = graph_of(net, shapes, settings.treat, stand_in, prune=False)
        except ExportError as error:
            self._reasons.setdefault(id(net), str(error))
            return []
        visits: dict[int, Any] = {}
        for each in graph.every_node():
            first = visits.setdefault(id(each.module), each.visit)
            if each.visit is first and id(each.module) not in self._reasons:
                self._texts.setdefault(id(each.module), []).append(_text(each))
        return [f"{value.name}: {_shape(value)}" for value in graph.inputs]

    def _room(self, place: _Place) -> int:
        """Return how many characters a first line has room for."""
        return max(self._width - len(_STEP) * (place.depth + 1) - place.name, 40)


def _tensors(module: TorchObject) -> list[str]:
    """Return a module's own tensors: names and sizes; weight and bias come first."""
    named = parameters_and_buffers(module)
    names: dict[str, list[str]] = {}
    for name in sorted(named, key=lambda name: {"weight": 0, "bias": 1}.get(name, 2)):
        names.setdefault(_sizes(named[name]), []).append(name)
    return [f"{' '.join(same_sizes)} {sizes}" for sizes, same_sizes in names.items()]


def _children(module: TorchObject, seen: Iterable[int]) -> Iterator[tuple[str, Any]]:
    """Yield the modules in a module: a container's by number, others by their fields' names."""
    fields = module.fields
    modules = fields.get("modules")
    items = modules.to_list() if isinstance(modules, Table) else []
    yield from ((str(n), item) for n, item in enumerate(items, 1))
    seen_ids = {*seen, *map(id, items)}
    for key, value in fields.items():
        if is_module(value) and id(value) not in seen_ids:
            yield name_of_key(key), value


def _text(step: Node) -> str:
    """Return the text of a node in PyTorch, with x, y and z for its inputs."""
    if step.layer is not None:
        return call_text(step.layer)
    if step.loop is not None:
        return "a loop over time"
    return re.sub(
        r"\{(\w+)\}",
        lambda match: "xyz"[int(match[1]) % 3] if match[1].isdecimal() else match[1],
        step.expression.replace(SIZE, ""),
    )


def _folded(blocks: Sequence[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """Yield blocks, with one line in the place of three or more that repeat others."""
    texts = [block for _, block in blocks]
    place = 0
    while place < len(blocks):
        period, count = _repetition(texts, place)
        stop = place + period
        yield from blocks[place:stop]
        if count:
            end = stop + period * count
            names = f"{blocks[stop][0]}-{blocks[end - 1][0]}"
            like = blocks[place][0] if period == 1 else f"{blocks[place][0]}-{blocks[stop - 1][0]}"
            yield names, [f"{count} more like {like}"]
            stop = end
        place = stop


def _repetition(blocks: Sequence[list[str]], place: int) -> tuple[int, int]:
    """Return the length of the repetition that begins at a place, in blocks, and how often it
    occurs again; (1, 0) where fewer than three blocks would be saved.
    """
    for period in range(1, min(_PERIOD, (len(blocks) - place) // 2) + 1):
        count = 0
        start = place + period
        while blocks[start : start + period] == blocks[place : place + period]:
            count += 1
            start += period
        if count * period > 2:
            return period, count
    return 1, 0


def _with_totals(module: TorchObject) -> str:
    """Return a net's class, and how many numbers it has learned."""
    parameters = {each.key: (name, each) for name, each in _all_parameters(module, set())}.values()
    count = sum(each.size for name, each in parameters if not name.startswith("running_"))
    total = sum(each.size * each.own_dtype.itemsize for _, each in parameters)
    kinds = dict.fromkeys(each.own_dtype.name for _, each in parameters)
    if not parameters:
        return module.torch_typename
    return f"{module.torch_typename}, {count:,} parameters, {_bytes(total)} of {', '.join(kinds)}"


def _bytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count:,} bytes"


def _all_parameters(module: TorchObject, seen: set[int]) -> Iterator[tuple[str, Parameter]]:
    waiting = [module]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            for name, value in parameters_and_buffers(each).items():
                yield name, Parameter.of(value)
            waiting += [item for _, item in _children(each, ()) if is_module(item)]


def _is_large(value: Any) -> bool:
    """Tell whether a value has a line of its own."""
    return isinstance(value, (Table, TorchObject, Tensor)) or hasattr(value, "object")


def _plain_text(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{lua_tensor(value).dtype.tensor_name} {_sizes(value)}"
    if isinstance(value, Function):
        return "function"
    return _short(repr(value), 60)


def _sizes(value: Tensor) -> str:
    return "x".join(map(str, lua_tensor(value).sizes)) or "empty"


def _shape(value: Value) -> str:
    """Return an input's sizes, as far as these are known."""
    return f"{value.sizes_text}, indices from 1" if value.kind == "int" else value.sizes_text


def _short(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 3]}..."

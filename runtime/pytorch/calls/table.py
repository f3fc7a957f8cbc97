"""The table of operations, and the functions and methods that are made of its rows.

    @op()
    def tril(input: Tensor, diagonal: int = 0, *, out: Out = None) -> Tensor: ...

adds a row, which makes ``torch.tril`` and ``Tensor.tril``. Each row is one signature; several
rows of one name are its overloads. Errors, signatures and completion come from the rows. The
decorator `op` derives a signature from the implementation (`schema.derive`), or takes it as text.

The first call with new types of arguments makes a plan, or raises the error; a plan converts the
arguments and calls the implementation. Later calls find the plan in a dict by the types. Options
that implementations do not get (`out` where they lack it, and those of `OPTIONS`) are handled here.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from th_shell.runtime.core.errors import TorchError
from th_shell.torch.base.device import OPTIONS
from th_shell.torch.calls.argument_types import AS_IT_IS, Converter, Rejected, as_ints, converter
from th_shell.torch.calls.messages import (
    as_pytorch_error,
    has_ints_apart,
    invalid_arguments,
    parameter_of,
    what_is_wrong,
)
from th_shell.torch.calls.schema import Parameter, Schema, derive, parse
from th_shell.torch.tensors.layouts import check_apart
from th_shell.torch.tensors.tensor import Tensor
from th_shell.torch.tensors.writing import check_single, deliver, write_in_place

#: Computes a row's result. `with_quick_call` may give it a quicker function for simple calls.
Implementation = Callable[..., Any]
#: Takes a call's arguments as they were given; raises Rejected where a value does not fit.
Plan = Callable[..., Any]


#: The parameter of an implementation and its converter, by the argument's name.
ByName = dict[str, tuple[str, Converter]]


class Row(NamedTuple):
    """One signature, and the implementation that computes it."""

    schema: Schema
    implementation: Implementation
    #: Python's numbers are taken for tensors.
    numbers: bool = False
    #: The result is written to the first argument.
    in_place: bool = False
    #: The first argument is self, which messages do not count.
    is_method: bool = False


def plan_of(row: Row, args: Sequence[Any], named: Mapping[str, Any]) -> Plan:
    """Return the plan for arguments of these types, which fit the row's signature."""
    schema, implementation, numbers = row.schema, row.implementation, row.numbers
    skip = 1 if row.is_method else 0
    values = args[skip:]
    apart = skip if has_ints_apart(schema, values) else None
    by_position: list[Converter] = [AS_IT_IS] * skip
    if apart is not None:
        by_position.append(AS_IT_IS if set(map(type, values)) == {int} else as_ints)
    else:
        for parameter, value in zip(schema.positional, values, strict=False):
            by_position.append(_converter(parameter, value, numbers))
    names = _parameter_names(schema, implementation, skip)
    by_name = {}
    for name, value in named.items():
        meant = parameter_of(schema, name)
        assert meant is not None
        target = names.get(meant.name, meant.python_name)
        by_name[name] = target, _converter(meant, value, numbers)
    ours = {"out", *OPTIONS} - inspect.signature(implementation).parameters.keys()
    if takes_out(implementation):
        ours.discard("out")
    return _write_plan(implementation, by_position, apart, by_name, ours)


def _converter(parameter: Parameter, value: Any, numbers: bool) -> Converter:
    convert = converter(parameter, type(value), numbers)
    assert convert is not None
    return convert


def takes_out(implementation: Implementation) -> bool:
    """Tell whether an implementation gets ``out``, by name or among its ``**options``."""
    parameters = inspect.signature(implementation).parameters.values()
    return any(p.name == "out" or p.kind is p.VAR_KEYWORD for p in parameters)


def _parameter_names(schema: Schema, implementation: Implementation, skip: int) -> dict[str, str]:
    """Return an implementation's names of the parameters that may be given by position."""
    parameters = list(inspect.signature(implementation).parameters.values())[skip:]
    plain = itertools.takewhile(lambda p: p.kind is p.POSITIONAL_OR_KEYWORD, parameters)
    return dict(zip([p.name for p in schema.positional], [p.name for p in plain], strict=False))


def _write_plan(
    implementation: Implementation,
    by_position: Sequence[Converter],
    apart: int | None,
    by_name: ByName,
    ours: set[str],
) -> Plan:
    """Return a plan that is written for these converters, so that no call goes through a loop.

    apart: from this argument on all are ints of one tuple. ours: the names of those that the
    implementation does not get: they are looked at here.
    """
    converters = [*by_position, *[convert for _, convert in by_name.values()]]
    plain = apart is None and all(c is AS_IT_IS for c in converters)
    if plain and all(target == name not in ours for name, (target, _) in by_name.items()):
        is_simple = by_name.keys() <= {"out"}
        return _QUICK_CALLS.get(implementation, implementation) if is_simple else implementation
    count = len(by_position)
    values = [*[f"a{at}" for at in range(count)], *[f"named[{name!r}]" for name in by_name]]
    values = [
        v if c is AS_IT_IS else f"c{n}({v})"
        for n, (v, c) in enumerate(zip(values, converters, strict=True))
    ]
    given = dict(zip([target for target, _ in by_name.values()], values[count:], strict=True))
    looked_at = [f"check_{name}({given.pop(name)})" for name in OPTIONS if name in ours & {*given}]
    out = given.pop("out", None) if "out" in ours else None
    passed = [*values[:count], *[f"{target}={value}" for target, value in given.items()]]
    text = f"call({', '.join(passed)})"
    text = f"deliver({out}, {text})" if out else text
    text = f"({', '.join([*looked_at, text])})[-1]" if looked_at else text
    declared = [f"*a{at}" if at == apart else f"a{at}" for at in range(count)]
    scope: dict[str, Any] = {f"c{n}": c for n, c in enumerate(converters)}
    scope |= {f"check_{name}": check for name, check in OPTIONS.items()}
    scope |= {"call": implementation, "deliver": deliver, "__name__": __name__}  # for `warn`
    text = f"lambda {', '.join(declared + ['**named'] * bool(by_name))}: {text}"
    plan: Plan = eval(compile(text, __file__, "eval"), scope)  # a frame of ours in tracebacks
    return plan


_QUICK_CALLS: dict[Implementation, Implementation] = {}


def with_quick_call(implementation: Implementation, quick: Implementation) -> None:
    """Let calls with one or two arguments and `out=` go to another function, of (a, b, out)."""
    _QUICK_CALLS[implementation] = quick


#: Exceptions of implementations whose texts are not PyTorch's.
REFUSALS = (MemoryError, TorchError, OverflowError, ValueError)


class _Nothing:
    """Stands for an argument that is not given."""


_NOTHING = _Nothing()
F = TypeVar("F", bound=Implementation)


#: The beginning of the names of functions in torch.linalg.
SUBMODULE = "linalg_"
#: All rows, by function or 'Tensor.method'.
ROWS: dict[str, list[Row]] = {}
#: The functions of the module, by name; torch.linalg.inv is linalg_inv.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def op(
    *schemas: str,
    name: str = "",
    more: str = "",
    function: bool = True,
    method: bool | None = None,
    in_place: bool = False,
    numbers: bool = False,
) -> Callable[[F], F]:
    """Register an implementation under the signatures of texts, or without texts under its own.

    name: the function's name, or several; by default the implementation's.
    more: the text of further parameters. The implementation gets none of them, unless it has
        ``**options``, which get those that `OPTIONS` lacks.
    function: there is a function.
    method: there is a method; by default where the first parameter is `Tensor input`.
    in_place: there is also a method with '_' behind its name, which writes the result to the
        tensor.
    numbers: Python's numbers are taken for tensors.
    """

    def register(implementation: F) -> F:
        derived = (
            s
            for public_name in name.split() or [""]
            for s in derive(implementation, public_name, more)
        )
        for schema in map(parse, schemas) if schemas else derived:
            row = Row(schema, implementation, numbers)
            if function:
                _register(schema.name, row)
            if method or (method is None and _is_of_tensor(schema)):
                _register(f"Tensor.{schema.name}", _method(row))
            if in_place and not schema.name.startswith(SUBMODULE):
                _register(f"Tensor.{schema.name}_", _method(_changing(row)))
        return implementation

    return register


def functional(function: F) -> F:
    """Add a function of torch.functional: the errors of wrong calls are Python's."""
    function.__module__ = "th_shell.torch"
    FUNCTIONS[function.__name__] = function
    return function


def _is_of_tensor(schema: Schema) -> bool:
    first = str(schema.parameters[0]) if schema.parameters else ""
    return first == "Tensor input" and not schema.name.startswith(SUBMODULE)


def _changing(row: Row) -> Row:
    """Return the row of a function that writes its result to its first argument."""
    schema = Schema(f"{row.schema.name}_", row.schema.without("out").parameters)
    return row._replace(schema=schema, in_place=True)


def _method(row: Row) -> Row:
    """Return the row of the method for a function's: without self, which is its first parameter."""
    schema = row.schema.without(row.schema.parameters[0].name, "out")
    return row._replace(schema=schema, is_method=True)


def _register(name: str, row: Row) -> None:
    rows = ROWS.setdefault(name, [])
    rows.append(row)
    if len(rows) > 1:
        return
    function = _function(row.schema.name, rows)
    # Where pickles find it: linalg.inv.
    function.__qualname__ = name.replace("_", ".", 1) if name.startswith(SUBMODULE) else name
    owner, dot, attribute = name.rpartition(".")
    if owner == "Tensor":
        setattr(Tensor, attribute, function)
    else:
        FUNCTIONS[name] = function


def document() -> None:
    """Write the docstrings of all functions and methods: their signatures, and what they do."""
    for name, rows in ROWS.items():
        owner, _, attribute = name.rpartition(".")
        function = getattr(Tensor, attribute) if owner == "Tensor" else FUNCTIONS[name]
        signatures = "\n".join(f"{row.schema.name}{row.schema}" for row in rows)
        function.__doc__ = f"{signatures}\n\n{inspect.getdoc(rows[0].implementation) or ''}"
        function.__dict__["__wrapped__"] = _Unsigned(rows[0].implementation)


class _Unsigned:
    """Hides an operation's signature from `inspect`, since PyTorch's functions have none."""

    def __init__(self, implementation: Implementation) -> None:
        self.__wrapped__ = implementation

    @property
    def __signature__(self) -> Any:
        raise ValueError(f"no signature found for {self.__wrapped__.__name__}")


#: How many plans a function keeps.
_MOST_PLANS = 1000


def _function(name: str, rows: list[Row]) -> Callable[..., Any]:
    """Return the function that programs call, which looks up the plan for its arguments' types."""
    plans: dict[Any, Plan] = {}

    # Most calls have one argument or two; to look their types up without a loop halves the time.
    def call(first: Any = _NOTHING, second: Any = _NOTHING, /, *more: Any, **named: Any) -> Any:
        key: Any
        try:
            if named:
                if len(named) == 1 and named.get("out").__class__ is Tensor and not more:
                    plan = plans.get(key := (first.__class__, second.__class__, "out", Tensor))
                    if plan is not None:
                        return _call_with_out(plan, first, second, named["out"])
                types = map(type, named.values())
                key = (first.__class__, second.__class__, *map(type, more), *named, *types)
                plan = plans.get(key)
                if plan is not None:
                    args = _arguments(first, second, more)
                    if "out" in named:
                        _check_memory(named["out"], args, named)
                    return plan(*args, **named)
            elif second is _NOTHING:
                plan = plans.get(key := first.__class__)
                if plan is not None:
                    return plan(first)
            elif not more:
                plan = plans.get(key := (first.__class__, second.__class__))
                if plan is not None:
                    return plan(first, second)
            else:
                plan = plans.get(key := (first.__class__, second.__class__, *map(type, more)))
                if plan is not None:
                    return plan(first, second, *more)
        except Rejected:
            pass
        except REFUSALS as error:
            raise as_pytorch_error(error, _arguments(first, second, more), named) from None
        return _call(rows, plans, key, _arguments(first, second, more), named)

    call.__name__ = name.rpartition(".")[2]
    call.__module__ = "th_shell.torch"  # where pickles find it
    return call


def _call_with_out(plan: Plan, first: Any, second: Any, out: Tensor) -> Any:
    """Call a plan for one argument or two, and a tensor for the result."""
    if out._storage is not None or not out._array.flags.carray:
        _check_memory(out, _arguments(first, second, ()), {"out": out})
    return plan(first, out=out) if second is _NOTHING else plan(first, second, out=out)


def _arguments(first: Any, second: Any, more: tuple[Any, ...]) -> tuple[Any, ...]:
    if first is _NOTHING:
        return ()
    return (first,) if second is _NOTHING else (first, second, *more)


def _call(
    rows: list[Row], plans: dict[Any, Plan], key: Any, args: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """Call the plan for the arguments' types, the key, which is made if there is none."""
    plan = plans.get(key)
    if plan is None:
        plan, is_for_all = _find(rows, args, named)
        if is_for_all:
            if len(plans) >= _MOST_PLANS:
                plans.clear()  # a program makes new types again and again
            plans[key] = plan
    try:
        _check_memory(named.get("out"), args, named)
        try:
            return plan(*args, **named)
        except Rejected:
            pass
        plan, _ = _find(rows, args, named)  # of another overload
        return plan(*args, **named)
    except REFUSALS as error:
        raise as_pytorch_error(error, args, named) from None


def _check_memory(out: Any, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise RuntimeError where results would be written over each other, or over an argument."""
    outs = out if isinstance(out, (tuple, list)) else () if out is None else (out,)
    for target in outs:
        check_single(target.array)
        if target._storage is not None:  # else no other tensor has its memory
            given = [arg for arg in (*args, *named.values()) if arg is not out]
            operands = [a for arg in given for a in (arg if type(arg) is tuple else (arg,))]
            check_apart(target, tuple(operands))


def _find(rows: list[Row], args: Any, named: Any) -> tuple[Plan, bool]:
    """Return the plan of the first row that takes the arguments, and whether types alone decided.

    Raises TypeError where there is none.
    """
    is_for_all = True
    skip = 1 if rows[0].is_method else 0
    for row in rows:
        wrong = what_is_wrong(row.schema, args[skip:], named, row.numbers)
        if wrong is None:
            if row.in_place:
                count = 0 if named else len(args)
                row = row._replace(implementation=_in_place(row.implementation, count))
            return plan_of(row, args, named), is_for_all
        is_for_all = is_for_all and not wrong.of_value
    raise invalid_arguments([r.schema for r in rows], args[skip:], named, rows[0].numbers)


def _in_place(implementation: Implementation, count: int) -> Implementation:
    """Return a function that writes the result to its first argument."""
    if takes_out(implementation):

        def compute(self: Tensor, *args: Any, **named: Any) -> Tensor:
            implementation(self, *args, out=self, **named)
            return self

        quick = _QUICK_CALLS.get(implementation)
        if quick is None or not 1 <= count <= 2:
            return compute
        if count == 1:
            return lambda self: quick(self, None, self)
        return lambda self, operand: quick(self, operand, self)

    def assign(self: Tensor, *args: Any, **named: Any) -> Tensor:
        return write_in_place(self, implementation(self, *args, **named))

    return assign

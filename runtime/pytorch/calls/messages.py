"""Checks of arguments against signatures; PyTorch's errors for wrong calls and lack of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from th_shell.runtime.core.errors import TorchError
from th_shell.torch.base.missing import type_name
from th_shell.torch.calls.argument_types import Rejected, converter
from th_shell.torch.calls.schema import NUMPY_NAMES, Parameter, Schema

Args = Sequence[Any]
Named = Mapping[str, Any]


def invalid_arguments(
    schemas: Sequence[Schema], args: Args, named: Named, numbers: bool = False
) -> TypeError:
    """Return the error of a call that fits none of the signatures.

    PyTorch tells exactly what is wrong where one signature alone has room for so many arguments;
    otherwise it lists the signatures.
    """
    count = len(args) + len(named)
    fitting = [s for s in schemas if _required(s) <= count <= _capacity(s, args)]
    if len(schemas) == 1:
        fitting = list(schemas)
    wrong = what_is_wrong(fitting[0], args, named, numbers) if len(fitting) == 1 else None
    return TypeError(wrong.text if wrong else _list(schemas, args, named))


def _required(schema: Schema) -> int:
    return sum(p.default is None for p in schema.parameters)


def _capacity(schema: Schema, args: Args) -> int:
    more = len(args) if has_ints_apart(schema, args) else 0
    return len(schema.parameters) + more


#: A parameter that takes one int.
_INT = Parameter("int", "", None, False, False, False)


def has_ints_apart(schema: Schema, args: Args) -> bool:
    """Tell whether a call gives the ints of a tuple one by one, as the first one tells."""
    return schema.takes_ints_apart and bool(args) and _is_int(args[0])


def _is_int(value: Any) -> bool:
    return not _misfit(_INT, value, None, False)


# -- what is wrong with a call of one signature


class Misfit(NamedTuple):
    """An error in a call. of_value: another value of the same type may fit."""

    text: str
    of_value: bool = False


def what_is_wrong(schema: Schema, args: Args, named: Named, numbers: bool) -> Misfit | None:
    """Return the error of a call of one signature; None where the arguments fit.

    args: without self. numbers: Python's numbers are taken for tensors.
    """
    name = f"{schema.name}()"
    positional = schema.positional
    if has_ints_apart(schema, args):
        args = [args]
    if not schema.parameters and args:
        return Misfit(f"TensorBase.{name} takes no arguments ({len(args)} given)")
    if len(args) > len(positional):
        return Misfit(f"{name} {_too_many(positional, len(args))}")
    for at, parameter in enumerate(schema.parameters):
        is_positional = at < len(args) and not parameter.keyword_only
        key = _key(parameter, named)
        if not is_positional and key is None:
            if parameter.default is None:
                return Misfit(_missing(schema, at))
            continue
        value = args[at] if is_positional else named[key or ""]
        wrong = _misfit(parameter, value, at if is_positional else None, numbers)
        if wrong:
            return Misfit(f"{name}: {wrong.text}", wrong.of_value)
    unexpected = _unexpected(schema, args, named)
    return Misfit(f"{name} {unexpected}") if unexpected else None


def _too_many(positional: Sequence[Parameter], count: int) -> str:
    least = sum(p.default is None for p in positional)
    most = len(positional)
    takes = f"{most}" if least == most else f"from {least} to {most}"
    plural = "" if takes == "1" else "s"
    verb = "was" if count == 1 and takes == "0" else "were"
    return f"takes {takes} positional argument{plural} but {count} {verb} given"


def _key(parameter: Parameter, named: Named) -> str | None:
    """Return the name by which an argument is given: the parameter's own, or numpy's for it."""
    if parameter.name in named:
        return parameter.name
    return next((k for k in named if NUMPY_NAMES.get(k) == parameter.name), None)


def _missing(schema: Schema, first: int) -> str:
    """Return the required parameters from the first missing one on, be they given or not."""
    names = [f'"{p.name}"' for p in schema.parameters[first:] if p.default is None]
    plural = "s" if len(names) == 1 else ""  # as PyTorch has it
    what = f"{len(names)} required positional argument{plural}"
    return f"{schema.name}() missing {what}: {', '.join(names)}"


def _misfit(parameter: Parameter, value: Any, at: int | None, numbers: bool) -> Misfit | None:
    """Return the error of a value for a parameter; None where it fits."""
    where = f"argument '{parameter.name}'" + (f" (position {at + 1})" if at is not None else "")
    convert = converter(parameter, type(value), numbers)
    if convert is None:
        return Misfit(f"{where} must be {parameter.kind}, not {type_name(value)}")
    try:
        convert(value)
    except Rejected:
        wrong = f"not {type_name(value)}"
        if isinstance(value, (tuple, list)):
            at = next(
                i for i, v in enumerate(value) if isinstance(v, bool) or not isinstance(v, int)
            )
            wrong = f"but found element of type {type_name(value[at])} at pos {at}"
        return Misfit(f"{where} must be {parameter.kind}, {wrong}", of_value=True)
    return None


def _unexpected(schema: Schema, args: Args, named: Named) -> str:
    """Return the error in the keywords of a call; '' where there is none."""
    positional = [p.name for p in schema.positional[: len(args)]]
    meant = [parameter_of(schema, name) for name in named]
    if all(p is not None and p.name not in positional for p in meant):
        return ""
    for name in named:
        if name not in schema.by_name:
            return f"got an unexpected keyword argument '{name}'"
    twice = next((name for name in named if name in positional), "")
    return f"got multiple values for argument '{twice}'"


def parameter_of(schema: Schema, name: str) -> Parameter | None:
    """Return the parameter that is given by a name, its own or numpy's for it."""
    return schema.by_name.get(name) or schema.by_name.get(NUMPY_NAMES.get(name, ""))


# -- the list of signatures


def _list(schemas: Sequence[Schema], args: Args, named: Named) -> str:
    name = schemas[0].name
    named = dict(reversed(list(named.items())))  # PyTorch: out of a hash table
    heading = f"{name}() received an invalid combination of arguments - got "
    if len(schemas) == 1:
        return f"{heading}{_described(args, named)}, but expected {schemas[0]}"
    lines = [f"{heading}{_described(args, named)}, but expected one of:"]
    lines += [f" * {schema}" for schema in schemas]
    return "\n".join([*lines, ""])


def _described(args: Args, named: Named) -> str:
    text = "".join(f"{type_name(v)}, " for v in args)
    text += "".join(f"{name}={type_name(v)}, " for name, v in named.items())
    return f"({text[:-2] if args else text})"


def _is_too_long(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_too_long, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63


#: How errors begin in which numpy says that an array has no room in any memory.
_NO_ROOM = ("array is too big", "Maximum allowed", "negative dimensions are not")


def as_pytorch_error(error: Exception, args: Args, named: Named) -> Exception:
    """Return the error of a call that could not be computed, in PyTorch's words.

    error: that of numpy or of the runtime, or one that has these words already.
    """
    if isinstance(error, (MemoryError, TorchError)):
        return no_memory(error)
    if str(error) == "int too big to convert":
        return error  # as PyTorch has it
    if any(map(_is_too_long, (*args, *named.values()))):
        return ValueError("Overflow when unpacking long long")
    if isinstance(error, OverflowError) or str(error).startswith(_NO_ROOM):
        return RuntimeError("numel: integer multiplication overflow")
    return error


def no_memory(error: Exception) -> RuntimeError:
    """Return the error of a call for which there was no memory, or that the runtime refused.

    error: numpy's MemoryError, or one of the runtime's, whose text it keeps.
    """
    shape, kind = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is None or kind is None:
        return RuntimeError(str(error) or "not enough memory")
    return RuntimeError(
        f"[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate "
        f"memory: you tried to allocate {prod(shape) * kind.itemsize} bytes. Error code 12 "
        f"(Cannot allocate memory)"
    )

"""torch.device: where a tensor is. Any device has a name; tensors are on the CPU alone."""

from __future__ import annotations

import re
from typing import Any

from runtime.pytorch.c_types import CType, type_name

__all__ = ["CPU", "device"]

_TYPES = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu "
    "mtia privateuseone"
).split()
_TEXT = re.compile(r"(?P<type>[A-Za-z_]+)(?::(?P<index>0|[1-9][0-9]*))?")
_INT_LIMIT = 2**31
_NAMES = ("type", "index")
_FORMS = "expected one of:\n * (torch.device device)\n{}* (str type, int index = -1)\n"
_MISFIT = "      didn't match because some of the arguments have invalid types: (!{}!)\n "


class device(CType):
    """A device: its type ('cpu'), and its index, None for the current one."""

    __module__ = "torch"
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, *args: Any, **named: Any) -> device:
        """A device named by a text ('cuda:1'), by a type and an index, or by an index of CUDA's.

        Errors: RuntimeError for names of no device; TypeError for other arguments.
        """
        if not args and named.keys() == {"device"}:
            args, named = (named["device"],), {}
        if len(args) == 1 and not named:
            return _of_one(args[0])
        names = (*_NAMES[: len(args)], *named)
        if len(args) > len(_NAMES) or set(names) not in ({"type"}, set(_NAMES)):
            raise _misfit(*args, **named)
        if len(set(names)) < len(names):
            raise TypeError(f"device() got multiple values for argument '{names[-1]}'")
        return _typed(*args, **named)

    def __repr__(self) -> str:
        """As PyTorch prints it, which reads a negative index as 16 bits without a sign."""
        index = "" if self.index is None else f", index={self.index & 0xFFFF}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        """The text that names it."""
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy."""
        return _device, (self.type, self.index)

    def __eq__(self, other: object) -> bool:
        """Whether type and index are the same: 'cpu' and 'cpu:0' are two devices."""
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        """Equal devices have equal ones."""
        return hash((self.type, self.index))

    def __lt__(self, other: object) -> bool:
        """Devices have no order."""
        if not isinstance(other, device):
            return NotImplemented
        raise TypeError("comparison not implemented")

    __le__ = __gt__ = __ge__ = __lt__

    def __enter__(self) -> device:
        """In a `with` block new tensors are on this device; it can only be the CPU."""
        if self.type != "cpu":
            raise NotImplementedError(f"new tensors are on the CPU, not on '{self}'")
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the block."""


def _device(type: str, index: int | None) -> device:
    """The device of a known type. PyTorch: an index has 8 bits, of which -1 means none."""
    made = object.__new__(device)
    if index is not None:
        index = (index + 128) % 256 - 128
    object.__setattr__(made, "type", type)
    object.__setattr__(made, "index", None if index == -1 else index)
    return made


def _of_one(value: object) -> device:
    if isinstance(value, device):
        return value
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        return _device(*_parse(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return _device("cuda", _not_negative(value))
    raise _misfit(value)


def _typed(type: object, index: object = None) -> device:
    """The device of a type and an index that were given apart."""
    if not isinstance(type, str):
        raise _wrong_argument("type", 1, "str", type)
    if index is not None and (not isinstance(index, int) or isinstance(index, bool)):
        raise _wrong_argument("index", 2, "int", index)
    name, in_text = _parse(type)
    if in_text is not None:
        why = "because index was passed explicitly"
        raise RuntimeError(f"type (string) must not include an index {why}: {type}")
    return _device(name, index if index is None else _not_negative(index))


def _parse(text: str) -> tuple[str, int | None]:
    """The type and the index that a text names."""
    if not text:
        raise RuntimeError("Device string must not be empty")
    found = _TEXT.fullmatch(text)
    if not found:
        raise RuntimeError(f"Invalid device string: '{text}'")
    name, index = found["type"], found["index"]
    if name not in _TYPES:
        where = f"device type at start of device string: {name}"
        raise RuntimeError(f"Expected one of {', '.join(_TYPES)} {where}")
    if index and int(index) >= _INT_LIMIT:
        raise RuntimeError(f"Could not parse device index '{index}' in device string '{text}'")
    return name, int(index) if index else None


def _not_negative(index: int) -> int:
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return index


def _wrong_argument(name: str, position: int, expected: str, value: object) -> TypeError:
    place = f"argument '{name}' (position {position})"
    return TypeError(f"device(): {place} must be {expected}, not {type_name(value)}")


def _misfit(*args: object, **named: object) -> TypeError:
    """For arguments that fit no form: what was given, and the forms."""
    given = [type_name(value) for value in args]
    given += [f"{name}={type_name(value)}" for name, value in named.items()]
    why = _MISFIT.format(*given) if len(args) == 1 and not named else " "
    forms = _FORMS.format(why)
    got = ", ".join(given)
    return TypeError(
        f"device() received an invalid combination of arguments - got ({got}), but {forms}"
    )


CPU = _device("cpu", None)

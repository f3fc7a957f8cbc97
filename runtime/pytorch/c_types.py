"""Classes that stand for ones that PyTorch has in C, such as torch.Size and torch.device.

Errors call such a class by its whole name ('torch.Size'), others by the last part ('Tensor').
Programs can neither derive from these classes nor set attributes of their objects. A class says
`__module__ = "torch"`, since its name is printed so; as no module of that name needs to exist,
it tells pickle of a function that makes the object again.
"""

from __future__ import annotations

from types import MemberDescriptorType
from typing import TYPE_CHECKING, NoReturn

__all__ = ["CType", "class_name", "type_name"]

_HEAP_TYPE = 1 << 9  # CPython's flag of the classes that Python code has made


def class_name(cls: type) -> str:
    """A class's name as errors have it: of classes in C the whole one, but for Python's own."""
    in_c = issubclass(cls, CType) or not cls.__flags__ & _HEAP_TYPE
    whole = in_c and cls.__module__ != "builtins"
    return f"{cls.__module__}.{cls.__qualname__}" if whole else cls.__name__


def type_name(value: object) -> str:
    """The name of a value's class, as errors have it."""
    return class_name(type(value))


class CType:
    """What the classes have in common. Fields are slots, or properties for parts of a tuple."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Refuse to derive from a finished class, which is one that has PyTorch's name."""
        for base in cls.__bases__:
            if base.__module__.partition(".")[0] == "torch":
                raise TypeError(f"type '{class_name(base)}' is not an acceptable base type")

    if not TYPE_CHECKING:  # else any name would count as an attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Called for what is missing."""
            raise self._missing(name)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse, in the words for this kind of attribute."""
        raise self._not_writable(name)

    def __delattr__(self, name: str) -> None:
        """Refuse, in the words for this kind of attribute."""
        raise self._not_writable(name)

    def _missing(self, name: str) -> AttributeError:
        text = f"'{type_name(self)}' object has no attribute '{name}'"
        return AttributeError(text, name=name, obj=self)

    def _not_writable(self, name: str) -> AttributeError:
        found = getattr(type(self), name, None)
        if found is None:
            return self._missing(name)
        if isinstance(found, property):
            return AttributeError("readonly attribute")
        if isinstance(found, MemberDescriptorType):
            text = f"attribute '{name}' of '{type_name(self)}' objects is not writable"
            return AttributeError(text)
        return AttributeError(f"'{type_name(self)}' object attribute '{name}' is read-only")

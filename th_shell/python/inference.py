"""Looks up the type or value of an expression, without running any code of the program.

Names and attributes are looked up statically: a property is not called, unless it is one of this
project's own; its annotation may tell the type of its value, and so may that of a function.
Elements are taken of built-in containers. The ways in which functions are called are those that
Python knows; functions of C, and those that may be called in several ways, say them in the first
lines of their documentation, as `sum(Tensor input, *, torch.dtype dtype = None)`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import re
import types
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from th_shell.python.alias import FACE
from th_shell.python.programs import is_own

NOTHING = object()
_CONTAINERS = (list, tuple, dict, str, bytes, range)
_LITERALS = {
    ast.List: list,
    ast.ListComp: list,
    ast.Tuple: tuple,
    ast.Dict: dict,
    ast.DictComp: dict,
    ast.Set: set,
    ast.SetComp: set,
    ast.JoinedStr: str,
}


@dataclass(frozen=True)
class Inferred:
    """The type of an expression, and its value or NOTHING."""

    type: type
    value: Any = NOTHING

    @classmethod
    def of(cls, value: Any) -> Inferred:
        """Return a value."""
        return cls(type(value), value)


def infer(expression: str, namespace: Mapping[str, Any]) -> Inferred | None:
    """Return the type and value of an expression; None where nothing is known of it."""
    with warnings.catch_warnings():  # of the parser, and of values that a class of C makes
        warnings.simplefilter("ignore")
        try:
            return _Reader(namespace).read(ast.parse(expression.strip(), mode="eval").body)
        except Exception:  # no expression, or one of objects with odd methods
            return None


class _Reader:
    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def read(self, node: ast.expr) -> Inferred | None:
        if isinstance(node, ast.Constant):
            return Inferred.of(node.value)
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if type(node) in _LITERALS:
            return Inferred(_LITERALS[type(node)])
        if isinstance(node, ast.Attribute):
            owner = self.read(node.value)
            return member(owner, node.attr) if owner else None
        if isinstance(node, ast.Call):
            return _result(self.read(node.func))
        if isinstance(node, ast.Subscript):
            return self._element(node)
        if isinstance(node, ast.BinOp):
            return self._of_tensor(node.left) or self._of_tensor(node.right)
        return self._of_tensor(node.operand) if isinstance(node, ast.UnaryOp) else None

    def _name(self, name: str) -> Inferred | None:
        for names in (self._namespace, builtins.__dict__):
            if name in names:
                return Inferred.of(names[name])
        return None

    def _of_tensor(self, node: ast.expr) -> Inferred | None:
        """Return a tensor: operators on it, and elements of it, are tensors again."""
        operand = self.read(node)
        return Inferred(operand.type) if operand and _is_tensor(operand.type) else None

    def _element(self, node: ast.Subscript) -> Inferred | None:
        owner = self.read(node.value)
        if owner is None or _is_tensor(owner.type):
            return Inferred(owner.type) if owner else None
        if owner.type not in _CONTAINERS:
            return None
        try:
            return Inferred.of(owner.value[ast.literal_eval(node.slice)])
        except Exception:  # no such element, or no literal
            return Inferred(str) if owner.type is str else None


def _is_tensor(kind: type) -> bool:
    return kind.__name__ == "Tensor"


def member(owner: Inferred, name: str) -> Inferred | None:
    """Return the type and value of an attribute; None where nothing is known of it."""
    has_value = owner.value is not NOTHING
    try:
        attribute = inspect.getattr_static(owner.value if has_value else owner.type, name)
    except AttributeError:
        return None
    if isinstance(attribute, (staticmethod, classmethod)):
        return Inferred.of(attribute.__func__)
    if isinstance(attribute, property):
        return _of_property(attribute, owner)
    if isinstance(attribute, functools.cached_property):
        return _annotated(attribute.func, owner) or Inferred(object)
    if isinstance(attribute, (types.GetSetDescriptorType, types.MemberDescriptorType)):
        return _of_slot(attribute, owner) if has_value else None
    return Inferred.of(attribute)


def _of_property(descriptor: property, owner: Inferred) -> Inferred:
    """Return the value where it is one of ours, else the type that it says, or `object`."""
    code = getattr(descriptor.fget, "__code__", None)
    if owner.value is not NOTHING and code is not None and is_own(code.co_filename):
        with suppress(Exception):  # it has no value for this object
            return Inferred.of(descriptor.__get__(owner.value, owner.type))
    return _annotated(descriptor.fget, owner) or Inferred(object)


def _of_slot(slot: Any, owner: Inferred) -> Inferred | None:
    """Return a value that a class of C, or `__slots__`, keeps: no code of the program runs."""
    try:
        return Inferred.of(slot.__get__(owner.value, owner.type))
    except Exception:
        return None


def _result(function: Inferred | None) -> Inferred | None:
    """Return the type of a call's result."""
    if function is None or function.value is NOTHING:
        return None
    if isinstance(function.value, type):
        return Inferred(function.value)
    return _annotated(function.value, None)


def _annotated(function: Any, owner: Inferred | None) -> Inferred | None:
    """Return the type that a function says it returns."""
    function = inspect.unwrap(function)
    annotation = getattr(function, "__annotations__", {}).get("return")
    if isinstance(annotation, type):
        return Inferred(annotation)
    if not isinstance(annotation, str):
        return None
    name = re.match(r"\w+", annotation)
    if name is None:
        return None
    if name[0] == "Self":
        return Inferred(owner.type) if owner else None
    names = getattr(function, "__globals__", {})
    kind = names.get(name[0], getattr(builtins, name[0], None))
    if kind is Any and str(getattr(function, "__module__", "")).startswith(FACE):
        kind = names.get("Tensor")  # what most operations give
    return Inferred(kind) if isinstance(kind, type) else None


# -- how functions are called

#: The last word of a parameter before its default is its name.
_PARAMETER = re.compile(r"(?<!\w)(\w+)(?: ?= ?[^,()]{0,200}(?:\([^()]*\))?)?\s*(?=[,)\]])")


def calls_of(name: str, value: Any) -> list[str]:
    """Return the ways in which something is called; none where it is not, or nobody knows."""
    texts = _documented(value)
    if texts:
        owner = name.rpartition(".")[0]
        return [f"{owner}.{text}" if owner else text for text in texts]
    call = call_of(name, value)
    return [call] if call else []


def call_of(name: str, value: Any) -> str:
    """Return the first way in which something is called: 'sum(input, *, dtype=None)'; or ''."""
    texts = _documented(value)
    if texts:
        return texts[0] if len(texts) == 1 else f"{texts[0]} …"
    signature = _signature(value)
    return "" if signature is None else f"{name}{signature}"


def parameters_of(value: Any) -> list[str]:
    """Return the names of the parameters that a call may give by name."""
    texts = _documented(value)
    if texts:
        names = [
            parameter for text in texts for parameter in _PARAMETER.findall(text.partition("(")[2])
        ]
        return list(dict.fromkeys(names))
    signature = _signature(value)
    if signature is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [
        parameter.name for parameter in signature.parameters.values() if parameter.kind in kinds
    ]
    return [name for name in names if name != "self"]


def documentation_of(value: Any) -> str:
    """Return the documentation of something, without the ways in which it is called."""
    lines = _lines(value)
    return "\n".join(lines[len(_documented(value)) :]).strip("\n")


def _documented(value: Any) -> list[str]:
    name = getattr(value, "__name__", None)
    if not callable(value) or not isinstance(name, str):
        return []
    return list(takewhile(lambda line: line.startswith(f"{name}("), _lines(value)))


def _lines(value: Any) -> list[str]:
    try:
        return (inspect.getdoc(value) or "").split("\n")
    except Exception:  # by the value's own methods
        return []


def _signature(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value) if callable(value) else None
    except Exception:  # it has none, or its own methods fail
        return None

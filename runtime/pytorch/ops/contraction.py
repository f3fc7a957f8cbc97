"""Einstein's sums: what an equation of letters says of operands, checked as PyTorch checks it."""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import Category, int64
from th_shell.torch.compute.elementwise import NOT_BOOL, check_types
from th_shell.torch.compute.promotion import result_type
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast


def einsum(equation: str, operands: list[Any]) -> Tensor:
    """The sums of products that an equation tells: letters that the right side lacks are summed.

    Raises RuntimeError, in PyTorch's words, for operands that do not fit the equation.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        few = "fewer" if len(operands) < len(terms) else "more"
        raise RuntimeError(f"einsum(): {few} operands were provided than specified in the equation")
    _check_letters(terms, right if arrow else "")
    _check_sizes(terms, operands)
    kind = _type_of_sums(terms, right if arrow else _free_letters(terms), operands).numpy
    arrays = [cast(operand.array, kind) for operand in operands]
    wide = [a.astype(np.float32) if kind == np.float16 else a for a in arrays]
    with np.errstate(all="ignore"):
        text = f"{left}->{right if arrow else _free_letters(terms)}"
        found = np.einsum(text, *wide, optimize=len(wide) > 1)
    return wrap(np.array(cast(np.asarray(found), kind)))


def _type_of_sums(terms: list[str], right: str, operands: list[Any]) -> Any:
    """The result's type. Raises an error where what is summed of products has several, or is bool.

    The sums of a single operand's whole numbers are of int64, as those of `sum` are.
    """
    kind = result_type(*operands)
    summed = set("".join(terms)) - set(right) - {"."}
    if len(terms) == 1:
        return int64 if summed and kind.category < Category.FLOAT else kind
    if any(sum(letter in term for term in terms) > 1 for letter in summed):
        check_scalars(operands[0], operands[1])
        check_types("bmm", NOT_BOOL, kind.numpy)
    return kind


def check_scalars(a: Tensor, b: Tensor) -> None:
    """Raise RuntimeError where two tensors that are to have one type have two."""
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {a.dtype.scalar} but found {b.dtype.scalar}")


def _free_letters(terms: list[str]) -> str:
    """The right side that is meant where there is none: letters that stand once, in order."""
    text = "".join(terms)
    letters = sorted({c for c in text if c.isalpha() and text.count(c) == 1})
    return ("..." if "..." in text else "") + "".join(letters)


def _check_letters(terms: list[str], right: str) -> None:
    known = set("".join(terms))
    for position, term in enumerate(terms):
        for letter in term.replace("...", ""):
            if not letter.isalpha():
                raise RuntimeError(
                    f"einsum(): invalid subscript given at index {position} in the equation "
                    f"string, subscripts must be in [a-zA-Z]"
                )
    for letter in right.replace("...", ""):
        if letter not in known:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any "
                f"input operand"
            )
        if right.count(letter) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {letter} appears more than once in the output"
            )


def _check_sizes(terms: list[str], operands: list[Any]) -> None:
    seen: dict[str, int] = {}
    for position, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        shape = operand.array.shape
        letters = term.replace("...", "")
        if len(letters) > len(shape) or (len(letters) < len(shape) and "..." not in term):
            more = "" if "..." in term else " and no ellipsis was given"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(letters)}) does not "
                f"match the number of dimensions ({len(shape)}) for operand {position}{more}"
            )
        before = len(term.partition("...")[0])
        after = len(letters) - before if "..." in term else 0
        sizes = [*shape[:before], *(shape[len(shape) - after :] if after else ())]
        for letter, size in zip(letters, sizes, strict=False):
            _check_size(seen, letter, size, position)


def _check_size(seen: dict[str, int], letter: str, size: int, position: int) -> None:
    known = seen.setdefault(letter, size)
    if known == 1:
        seen[letter] = size
    elif size not in (known, 1):
        raise RuntimeError(
            f"einsum(): subscript {letter} has size {size} for operand {position} which does not "
            f"broadcast with previously seen size {known}"
        )

"""Comments that tell the value of an input: `f(1) --> 3`, `x = f(1) -- => 3`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from runtime import tokens
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.names import read_names
from th_shell.syntax import Syntax

_TOLD = re.compile(r"--(?:>|\s*=+>)(?!>)\s*(?P<text>.*?)\s*$")
_PLACE = r"[A-Za-z_][\w.]*(?:\[[^\]=]*\][\w.]*)*"
_ASSIGNMENT = re.compile(rf"\s*(?P<places>{_PLACE}(?:\s*,\s*{_PLACE})*)\s*=(?!=)")
_STRING = re.compile(r"([\"'])(?P<text>(?:(?!\1)[^\\])*)\1")


@dataclass(frozen=True)
class Value:
    """What a comment tells of the values of an input.

    text: the comment's. codes: readings of the text as Lua expressions; there are none where it has
    names, as prose has. shown: what has the values after the input: the places that it assigns to;
    '' for the input itself.
    """

    text: str
    codes: tuple[str, ...] = ()
    shown: str = ""


def comment_of(source: str) -> str | None:
    """The text of the comment at the end of an input, or alone, that tells a value; or None."""
    if not _TOLD.search(source):
        return None
    comments = (token for token in tokens(f"{source}\n") if token.kind == "comment")
    told = _TOLD.match(source, next((one.start for one in comments if not one.mark), len(source)))
    return told["text"] if told else None


def value_of(text: str, source: str, compiler: Compiler) -> Value | None:
    """The value that a text tells of an input; None if nothing has the value after the input."""
    if source.lstrip().startswith("local "):
        return None
    assignment = _ASSIGNMENT.match(source.split(";")[-1] if ";" in source else source)
    quoted = _STRING.fullmatch(text)
    readings = (text, quoted["text"]) if quoted else (text,)
    codes = tuple(reading for reading in readings if _is_literal(reading, compiler))
    return Value(text, codes, assignment["places"] if assignment else "")


def _is_literal(text: str, compiler: Compiler) -> bool:
    is_expression = compiler.expression(text) is Syntax.COMPLETE
    return is_expression and "..." not in text and not read_names(text)

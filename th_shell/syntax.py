"""The result of compiling a text, which decides where an input ends and what is code at all."""

from collections.abc import Callable
from enum import Enum


class Syntax(Enum):
    """The result of compiling a text."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"  #: only the end is missing
    WRONG = "wrong"  #: no continuation can make it compile


#: Compiles a text.
Judge = Callable[[str], Syntax]

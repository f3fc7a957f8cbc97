"""What is kept of a program's expressions: names, fields, calls and strings, with their places.

Everything else is an `Other`. A place is an offset in the source. A chain of names such as
`torch.Tensor` is an `Index` of a `Name`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

#: The condition of what stands among the arguments of pcall: its error does not end the program.
PROTECTED = "pcall"


class Use(Enum):
    """What a program does with the value of a name or a field."""

    READ = "reads it"
    CALLED = "calls it"
    INDEXED = "takes a field or a method of it"
    ASSIGNED = "assigns to it"


@dataclass(slots=True, eq=False)
class Node:
    """An expression. at: its offset. conditions: those of the branches that it stands in."""

    at: int
    conditions: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Other(Node):
    """Any expression that is none of the others."""


@dataclass(slots=True, eq=False)
class String(Node):
    """A literal string. value: its text, escapes as they are written."""

    value: str = ""


@dataclass(slots=True, eq=False)
class Local:
    """A local variable. value: what it is defined as, where that is told by its own place."""

    name: str
    value: Node | None = None
    is_reassigned: bool = False


@dataclass(slots=True, eq=False)
class Name(Node):
    """A variable. local: None for a global."""

    name: str = ""
    local: Local | None = None
    use: Use = Use.READ


@dataclass(slots=True, eq=False)
class Index(Node):
    """base.key, or base['key']; key: None where it is not written in the source."""

    base: Node = field(default_factory=lambda: Other(0))
    key: str | None = None
    use: Use = Use.READ


@dataclass(slots=True, eq=False)
class Call(Node):
    """function(arguments)."""

    function: Node = field(default_factory=lambda: Other(0))
    arguments: tuple[Node, ...] = ()


@dataclass(slots=True, eq=False)
class Invoke(Node):
    """base:name(arguments)."""

    base: Node = field(default_factory=lambda: Other(0))
    name: str = ""
    arguments: tuple[Node, ...] = ()


@dataclass(slots=True, eq=False)
class Chunk:
    """A program. nodes: all its expressions but `Other`, in order of their ends.

    defined: the names of fields and methods that it defines: `t.name = …`, `function t:name()`,
    `{name = …}`; and `t[]` where it computes them: `t[x] = …`. texts: the literal strings.
    """

    nodes: list[Node] = field(default_factory=list)
    defined: dict[str, int] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)

"""The expressions of a program: names, fields, calls and literals, with their places.

Any other expression is an `Other`. A chain of names such as `torch.Tensor` is an `Index` of a
`Name`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

#: The condition of what stands among the arguments of pcall: its error does not end the program.
PROTECTED = "pcall"


class Use(Enum):
    """The use of the value of a name or a field."""

    READ = "reads it"
    CALLED = "calls it"
    INDEXED = "takes a field or a method of it"
    ASSIGNED = "assigns to it"


class Place(NamedTuple):
    """A place in a source."""

    #: The number of the line, from 1.
    line: int
    #: The offsets of its start and end, in the bytes of the source as UTF-8.
    start: int
    end: int


NOWHERE = Place(0, 0, 0)


@dataclass(slots=True, eq=False)
class Node:
    """An expression."""

    #: The place of its last name.
    place: Place
    #: The conditions of the branches around it.
    conditions: tuple[str, ...] = ()
    #: What is done with its value.
    use: Use = field(default=Use.READ, init=False)
    #: Whether a name or an index may well be nil there.
    is_tested: bool = field(default=False, init=False)
    #: Whether its value is given a name, or is indexed.
    is_kept: bool = field(default=False, init=False)

    @property
    def line(self) -> int:
        """Return the line of its last name, from 1."""
        return self.place.line


@dataclass(slots=True, eq=False)
class Other(Node):
    """Any expression that is none of the others."""


@dataclass(slots=True, eq=False)
class Closure(Node):
    """A function. place: all its text."""

    #: Its parameters, with `self`.
    parameters: tuple[Local, ...] = ()
    is_vararg: bool = False


@dataclass(slots=True, eq=False)
class Varargs(Node):
    """``...``"""


@dataclass(slots=True, eq=False)
class String(Node):
    """A literal string."""

    #: The text between the quotes, with escapes as they are written.
    value: str = ""


@dataclass(slots=True, eq=False)
class Number(Node):
    """A literal number."""

    #: None where it is no number of Lua's own, such as 1LL.
    value: float | None = None


@dataclass(slots=True, eq=False)
class Array(Node):
    """A table constructor."""

    #: The values in it, of which none has a key, or None.
    entries: tuple[Node, ...] | None = None
    #: The values that have names as keys.
    fields: tuple[Field, ...] = ()


@dataclass(slots=True, eq=False)
class Field(Node):
    """A field of a table constructor: key = value. place: of the key."""

    key: str = ""
    value: Node = field(default_factory=lambda: Other(NOWHERE))


@dataclass(slots=True, eq=False)
class Binary(Node):
    """left sign right. place: of the sign."""

    sign: str = ""
    left: Node = field(default_factory=lambda: Other(NOWHERE))
    right: Node = field(default_factory=lambda: Other(NOWHERE))


@dataclass(slots=True, eq=False)
class Local:
    """A local variable."""

    name: str
    #: The expression that defines it, where that has a place of its own.
    value: Node | None = None
    is_reassigned: bool = False
    #: The place of its declaration; NOWHERE for `self`.
    place: Place = NOWHERE
    #: The number of the block that it is declared in, in the order of their beginnings.
    block: int = 0
    #: The local of the same name and block that it hides, and whose value it is not made of.
    hidden: Local | None = None
    #: The locals that one `local` declares; () for parameters and variables of loops.
    declared: tuple[Local, ...] = ()
    #: Of `self`: the table whose method it is in.
    table: Node | None = None


@dataclass(slots=True, eq=False)
class Name(Node):
    """A variable."""

    name: str = ""
    #: None for a global.
    local: Local | None = None
    #: The locals that are visible, by their names.
    scope: Mapping[str, Local] = field(default_factory=dict)
    #: The value that it gets here.
    value: Node | None = None


@dataclass(slots=True, eq=False)
class Index(Node):
    """An index: base.key, or base['key']."""

    base: Node = field(default_factory=lambda: Other(NOWHERE))
    #: None where it is not written in the source.
    key: str | None = None
    #: The value that it gets here.
    value: Node | None = None


@dataclass(slots=True, eq=False)
class Call(Node):
    """A call: function(arguments)."""

    function: Node = field(default_factory=lambda: Other(NOWHERE))
    arguments: tuple[Node, ...] = ()


@dataclass(slots=True, eq=False)
class Invoke(Node):
    """A call of a method: base:name(arguments)."""

    base: Node = field(default_factory=lambda: Other(NOWHERE))
    name: str = ""
    arguments: tuple[Node, ...] = ()


#: Expressions that may stand for any number of values.
MANY = (Call, Invoke, Varargs)


@dataclass(slots=True, eq=False)
class Function:
    """A function with a name: 'f', 'M.f', 'M:f'."""

    name: str
    #: The place of the name.
    place: Place
    #: The place of all its text.
    whole: Place
    parameters: str


@dataclass(slots=True, eq=False)
class Chunk:
    """A program."""

    #: All its expressions but `Other`, in order of their ends.
    nodes: list[Node] = field(default_factory=list)
    #: The locals, and below the functions, in the order of their declarations.
    locals: list[Local] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    #: The names of fields and methods that it defines: `t.name = …`, `function t:name()`, `{name =
    #: …}`; and `t[]` where it computes them: `t[x] = …`.
    defined: set[str] = field(default_factory=set)
    #: The literal strings.
    texts: set[str] = field(default_factory=set)
    #: All that has lines of its own: blocks and tables.
    blocks: list[Place] = field(default_factory=list)
    #: The statements that are never reached, the first ones of their blocks.
    unreachable: list[Place] = field(default_factory=list)
    #: What it returns to `require`.
    result: Node | None = None


# -- what expressions of a program stand for, where that is certain

_DEPTH = 20  # steps from an alias to what it stands for


def value(node: Node) -> Node:
    """Return the value of a local variable that is defined once, else the expression itself."""
    for _ in range(_DEPTH):
        if not isinstance(node, Name) or node.local is None or node.local.is_reassigned:
            break
        if node.local.value is None:
            break
        node = node.local.value
    return node


def origin(node: Node, depth: int = _DEPTH) -> str:
    """Return the path of globals that an expression stands for, such as 'torch.randn', or ''."""
    node = value(node)
    if isinstance(node, Name):
        return "" if node.local else node.name
    if isinstance(node, Index) and node.key and depth:
        base = origin(node.base, depth - 1)
        return base and f"{base}.{node.key}"
    return required_module(node) or ""


def required_module(node: Node) -> str | None:
    """Return the name of the module that a call of `require` loads, where it is a literal."""
    if isinstance(node, Call) and isinstance(node.function, Name):
        if node.function.name == "require" and node.function.local is None and node.arguments:
            first = node.arguments[0]
            return first.value if isinstance(first, String) else None
    return None


class Kinds(NamedTuple):
    """The functions and methods that certainly give a tensor."""

    #: Functions of torch.
    makers: frozenset[str]
    #: Methods of tensors.
    keepers: frozenset[str]


def is_tensor(node: Node, kinds: Kinds, depth: int = _DEPTH) -> bool:
    """Tell whether an expression is certainly a tensor, if it is anything."""
    node = value(node)
    if isinstance(node, Call):
        root, _, name = origin(node.function).partition(".")
        return root == "torch" and name in kinds.makers
    if isinstance(node, Invoke) and depth:
        return node.name in kinds.keepers and is_tensor(node.base, kinds, depth - 1)
    if isinstance(node, Binary) and node.sign in ("+", "-") and depth:
        return any(is_tensor(operand, kinds, depth - 1) for operand in (node.left, node.right))
    return False

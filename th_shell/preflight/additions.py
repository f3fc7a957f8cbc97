"""What a program adds to those that it is checked with, read off its expressions once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from th_shell.preflight.syntax_tree import Call, Chunk, Index, Invoke, Name, String, Use, origin

#: Globals by which a program gets others in ways that cannot be read.
_OPENERS = frozenset("setfenv getfenv loadstring load module import _ENV".split())


@dataclass
class Additions:
    """globals: those that it defines. members: the fields by the global
    tables that it adds them to. mentions: how often it names a field or method. texts: its strings,
    without the dashes of options. is_open: whether it may get globals in other ways.
    """

    globals: set[str] = field(default_factory=set)
    members: dict[str, set[str]] = field(default_factory=dict)
    mentions: Counter[str] = field(default_factory=Counter)
    texts: set[str] = field(default_factory=set)
    is_open: bool = False

    def add_global(self, node: Name) -> None:
        if node.use is Use.ASSIGNED:
            self.globals.add(node.name)
        elif node.name in _OPENERS or (node.name == "_G" and node.use is not Use.INDEXED):
            self.is_open = True

    def add_call(self, function: Name | Index, call: Call) -> None:
        """Add the class that a call makes, or that it may get anything from elsewhere."""
        name = function.name if isinstance(function, Name) else function.key or ""
        if isinstance(function, Index):
            self.is_open |= name.startswith("import")
            if "class" in origin(function.base):
                self.globals.add(name)
        if "class" in name.lower():
            self.globals.update(texts_of(call))


def additions_of(chunk: Chunk) -> Additions:
    """What a program adds."""
    found = Additions(texts={text.lstrip("-") for text in chunk.texts})
    for node in chunk.nodes:
        if isinstance(node, Name) and node.local is None:
            found.add_global(node)
        elif isinstance(node, Index) and node.use is Use.ASSIGNED and node.key:
            found.members.setdefault(origin(node.base), set()).add(node.key)
        elif isinstance(node, Call) and isinstance(node.function, (Name, Index)):
            found.add_call(node.function, node)
        if isinstance(node, (Index, Invoke)):
            found.mentions[(node.key if isinstance(node, Index) else node.name) or ""] += 1
    for table, _, name in (text.partition(".") for text in found.texts):
        if name.isidentifier():
            found.members.setdefault(table, set()).add(name)
    return found


def texts_of(call: Call) -> list[str]:
    """The literal strings among the arguments of a call."""
    return [one.value for one in call.arguments if isinstance(one, String)]

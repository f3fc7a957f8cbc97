"""The tables that a program builds: what it assigns to names and fields, and its options.

A chain leads to a value: a local or the name of a global, and the fields behind it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from th_shell.preflight import syntax_tree as tree

Chain = tuple[tree.Local | str, ...]

#: Operators that fail on nil.
_NEED_VALUES = frozenset("+ - * / % ^ .. < > <= >=".split())


@dataclass
class Tables:
    """The names, fields and options that one program gives values."""

    #: The names and fields that get values, by their chains.
    assigned: dict[Chain, list[tree.Name | tree.Index]] = field(default_factory=dict)
    #: The fields of tables, by the chains of these.
    fields: dict[Chain, dict[str, tree.Name | tree.Index]] = field(default_factory=dict)
    #: The calls of `option` and `argument`, by the chains of their objects.
    options: dict[Chain, list[tree.Invoke]] = field(default_factory=dict)
    #: The calls of `parse`, by the names of the variables that get what they return.
    parsed: dict[str, tree.Invoke] = field(default_factory=dict)
    #: The locals that are tables of classes, by the classes' names.
    classes: dict[str, tree.Local] = field(default_factory=dict)
    #: The places of locals behind their declarations.
    uses: dict[tree.Local, list[tree.Name]] = field(default_factory=dict)
    #: The `id` of the operands that must not be nil.
    operands: set[int] = field(default_factory=set)

    def is_parse(self, node: tree.Invoke) -> bool:
        """Tell whether a call returns the options of a command line."""
        return node.name == "parse" and chain_of(node.base) in self.options


def tables_of(chunk: tree.Chunk) -> Tables:
    """Return what a program assigns."""
    tables = Tables()
    for node in chunk.nodes:
        if isinstance(node, tree.Name) and node.local:
            tables.uses.setdefault(node.local, []).append(node)
        if isinstance(node, tree.Binary) and node.sign in _NEED_VALUES:
            tables.operands.update((id(node.left), id(node.right)))
        if isinstance(node, (tree.Name, tree.Index)) and node.use is tree.Use.ASSIGNED:
            chain = chain_of(node)
            if len(chain) > 1:
                tables.fields.setdefault(chain[:-1], {}).setdefault(str(chain[-1]), node)
            tables.assigned.setdefault(chain, []).append(node)
        elif isinstance(node, tree.Invoke) and node.name in ("option", "argument"):
            tables.options.setdefault(chain_of(node.base), []).append(node)
    tables.parsed.update(_parsed(chunk, tables))
    for local in chunk.locals:
        names = class_of(local.value) if local.value else None
        if names and local is local.declared[0]:
            tables.classes[names[0]] = local
    return tables


def _parsed(chunk: tree.Chunk, tables: Tables) -> Iterator[tuple[str, tree.Invoke]]:
    named = [(local.name, local.value) for local in chunk.locals]
    named += [(n.name, n.value) for n in chunk.nodes if isinstance(n, tree.Name)]
    for name, value in named:
        if isinstance(value, tree.Invoke) and tables.is_parse(value):
            yield name, value


def chain_of(node: tree.Node) -> Chain:
    """Return the chain that an expression is; () where it is none. `self` is its class's table."""
    if isinstance(node, tree.Name):
        if node.local is not None and node.local.table is not None:
            return chain_of(node.local.table)
        return (node.local or node.name,)
    if isinstance(node, tree.Index) and node.key is not None:
        base = chain_of(node.base)
        return (*base, node.key) if base else ()
    return ()


def class_of(node: tree.Node) -> tuple[str, str] | None:
    """Return the names of a class that a call makes, and of the one it inherits from, or ''."""
    if not isinstance(node, tree.Call) or not tree.origin(node.function).endswith("class"):
        return None
    names = [argument.value for argument in node.arguments if isinstance(argument, tree.String)]
    return (names[0], names[1] if len(names) > 1 else "") if names else None

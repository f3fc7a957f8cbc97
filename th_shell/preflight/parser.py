"""Reads a Lua program that compiles: its expressions, and which local a name stands for.

tree-sitter cuts the program into its parts; `syntax_tree` tells what is kept of them.
"""

from collections.abc import Sequence
from typing import TypeVar

import tree_sitter_lua
from tree_sitter import Language, Parser
from tree_sitter import Node as Part

from th_shell.preflight import syntax_tree as tree
from th_shell.runtime.shell import Token

_PARSER = Parser(Language(tree_sitter_lua.language()))
_N = TypeVar("_N", bound=tree.Node)
#: Bytes that are no UTF-8, which LuaJIT takes for letters, as characters that tree-sitter does.
_LETTERS = {0xDC00 + byte: 0xF700 + byte for byte in range(0x80, 0x100)}
_BYTES = {letter: byte for byte, letter in _LETTERS.items()}


#: The parts of a program that editors fold.
_FOLDED = frozenset(
    "function_declaration function_definition if_statement for_statement while_statement "
    "repeat_statement do_statement table_constructor comment".split()
)
#: Operators whose operands may well be nil.
_TESTS = frozenset(["and", "or", "==", "~="])


class NotLuaError(Exception):
    """A source that is not Lua, or that tree-sitter does not read; line: from 1."""

    def __init__(self, line: int) -> None:
        super().__init__(f"not Lua in line {line}")
        self.line = line


def as_parsed(source: str) -> bytes:
    """Return the bytes of a source in which places are counted."""
    return source.translate(_LETTERS).encode()


def parse(source: str, is_whole: bool = True) -> tree.Chunk:
    """Return the program of a source that LuaJIT compiles. Raises NotLuaError for others.

    is_whole: otherwise, what can be read of any source is told, as far as it goes.
    """
    root = _PARSER.parse(as_parsed(source)).root_node
    if root.has_error and is_whole:
        raise NotLuaError(_line(_wrong_part(root)))
    reader = _Reader()
    reader.read(root)
    return reader.chunk


def _wrong_part(part: Part) -> Part:
    """Return the innermost part in which the first error is."""
    inner = next((child for child in part.children if child.has_error or child.is_missing), None)
    return part if inner is None else _wrong_part(inner)


def _one(part: Part, field: str) -> Part:
    """Return the part of a part that is called so."""
    return part.children_by_field_name(field)[0]


def _line(part: Part) -> int:
    return int(part.start_point[0]) + 1


def _place(part: Part) -> tree.Place:
    return tree.Place(part.start_point[0] + 1, part.start_byte, part.end_byte)


def _text(part: Part) -> str:
    text = (part.text or b"").decode()
    return text if text.isascii() else text.translate(_BYTES)


def _on_one_line(part: Part) -> str:
    return " ".join(_text(part).split())


def _without_comments(lists: Sequence[Part]) -> list[Part]:
    return [child for parts in lists for child in parts.named_children if child.type != "comment"]


def _set_value(node: tree.Node, value: tree.Node | None) -> None:
    if isinstance(node, (tree.Name, tree.Index)):
        node.value = value


def _value_at(nodes: Sequence[tree.Node], at: int) -> tree.Node | None:
    """Return the expression that the name at an index gets, where that is known."""
    if at == len(nodes) == 1 and isinstance(nodes[0], tree.Invoke):
        return nodes[0] if nodes[0].name == "getParameters" else None  # two flat tensors
    return nodes[at] if at < len(nodes) else None


def _set_tested(node: tree.Node, with_fields: bool = True) -> None:
    if isinstance(node, tree.Name) or (with_fields and isinstance(node, tree.Index)):
        node.is_tested = True


def _number(text: str) -> float | None:
    """Return the value of a literal; None for those of LuaJIT's own kinds, such as 1LL and 2i."""
    try:
        return float.fromhex(text) if text[:2] in ("0x", "0X") else float(text)
    except ValueError:
        return None


class _Reader:
    """Reads the parts of a program, those of a kind by the function that is named after it.

    chunk: what was read so far. A block works on a copy of the scope: the locals by their names.
    """

    def __init__(self) -> None:
        self.chunk = tree.Chunk()
        self._scope: dict[str, tree.Local] = {}
        self._conditions: tuple[str, ...] = ()
        self._blocks = [0]  # the numbers of the blocks that are open
        self._count = 0
        self._closure: tree.Closure | None = None  # the one that is read

    def read(self, part: Part) -> tree.Node:
        """Read a statement or an expression with all that is in it; return the expression."""
        kind = part.type
        reader = getattr(self, f"_read_{kind}", None)
        if kind in _FOLDED:
            self.chunk.blocks.append(_place(part))
        try:
            result = reader(part) if reader else self._all(part.named_children)
        except (IndexError, ValueError):  # a part that is not whole
            result = self._all(part.named_children)
        return result if isinstance(result, tree.Node) else tree.Other(_place(part))

    def _all(self, parts: Sequence[Part]) -> list[tree.Node]:
        return [self.read(part) for part in parts if part.type != "comment"]

    def _under(self, parts: Sequence[Part], *conditions: str) -> list[tree.Node]:
        """Read parts that stand under further conditions."""
        outer, self._conditions = self._conditions, self._conditions + conditions
        nodes = self._all(parts)
        self._conditions = outer
        return nodes

    def _block(
        self,
        parts: Sequence[Part],
        names: Sequence[Part | str] = (),
        table: tree.Node | None = None,
    ) -> tuple[tree.Local, ...]:
        """Read the parts of a block. names: the locals that it begins with, which are returned.

        table: that whose method it is.
        """
        scope, self._scope = self._scope, dict(self._scope)
        self._count += 1
        self._blocks.append(self._count)
        new = [self._declare(name) for name in names]
        if table is not None:
            new[0].table = table
        statements = parts[0].named_children if [p.type for p in parts] == ["block"] else parts
        self.chunk.unreachable += map(_place, _never_reached(statements))
        self._all(statements)
        self._blocks.pop()
        self._scope = scope
        return tuple(new)

    def _declare(self, name: Part | str, value: tree.Node | None = None) -> tree.Local:
        """Begin the scope of a local. name: where it is declared; a text for `self`."""
        text, place = (name, tree.NOWHERE) if isinstance(name, str) else (_text(name), _place(name))
        before, block = self._scope.get(text), self._blocks[-1]
        local = self._scope[text] = tree.Local(text, value, place=place, block=block)
        local.hidden = before if before and before.block == block else None
        self.chunk.locals.append(local)
        return local

    # -- expressions

    def _kept(self, node: _N) -> _N:
        self.chunk.nodes.append(node)
        return node

    def _read_identifier(self, part: Part) -> tree.Node:
        name = _text(part)
        local = self._scope.get(name)
        return self._kept(tree.Name(_place(part), self._conditions, name, local, self._scope))

    def _read_vararg_expression(self, part: Part) -> tree.Node:
        return tree.Varargs(_place(part), self._conditions)

    def _read_number(self, part: Part) -> tree.Node:
        return tree.Number(_place(part), self._conditions, _number(_text(part)))

    def _read_unary_expression(self, part: Part) -> tree.Node | None:
        operand, sign = self.read(_one(part, "operand")), _text(_one(part, "operator"))
        if sign == "not":
            _set_tested(operand)
        if sign == "-" and isinstance(operand, tree.Number) and operand.value is not None:
            return tree.Number(_place(part), self._conditions, -operand.value)
        return None

    def _read_string(self, part: Part) -> tree.Node:
        content = Token("string", _text(part), 0).content
        self.chunk.texts.add(content)
        return self._kept(tree.String(_place(part), self._conditions, content))

    def _read_binary_expression(self, part: Part) -> tree.Node:
        left, operator, right = (_one(part, side) for side in ("left", "operator", "right"))
        sign = _text(operator)
        first = self.read(left)
        conditions = [_on_one_line(left)] if sign == "and" else []
        [second] = self._under([right], *conditions)
        if sign in _TESTS:
            with_fields = sign in ("and", "or") or "nil" in (_text(left), _text(right))
            _set_tested(first, with_fields)
            _set_tested(second, with_fields)
        node = tree.Binary(_place(operator), self._conditions, sign, first, second)
        return self._kept(node)

    def _read_parenthesized_expression(self, part: Part) -> tree.Node:
        [inner] = self._all(part.named_children)
        return inner

    def _read_table_constructor(self, part: Part) -> tree.Node:
        parts = [child for child in part.named_children if child.type == "field"]
        entries = self._all(parts)
        fields = tuple(entry for entry in entries if isinstance(entry, tree.Field))
        has_keys = any(child.children_by_field_name("name") for child in parts)
        own = None if has_keys else tuple(entries)
        return tree.Array(_place(part), self._conditions, own, fields)

    def _member(self, part: Part) -> tree.Index:
        """Return the index that base.key, base[key] or base:key is."""
        base = self.read(_one(part, "table"))
        base.use = tree.Use.INDEXED
        base.is_kept = True
        key = _one(part, "method" if part.type == "method_index_expression" else "field")
        text: str | None = _text(key)
        if part.type == "bracket_index_expression":
            inner = self.read(key)
            text = inner.value if isinstance(inner, tree.String) else None
        return tree.Index(_place(key), self._conditions, base, text)

    def _read_dot_index_expression(self, part: Part) -> tree.Node:
        return self._kept(self._member(part))

    _read_bracket_index_expression = _read_method_index_expression = _read_dot_index_expression

    def _read_function_call(self, part: Part) -> tree.Node:
        called = _one(part, "name")
        arguments = _one(part, "arguments").named_children
        if called.type == "method_index_expression":
            method = self._member(called)
            nodes = tuple(self._all(arguments))
            name = method.key or ""
            return self._kept(tree.Invoke(method.place, self._conditions, method.base, name, nodes))
        function = self.read(called)
        function.use = tree.Use.CALLED
        name = function.name if isinstance(function, tree.Name) else ""
        conditions = [tree.PROTECTED] if name in ("pcall", "xpcall") else []
        nodes = tuple(self._under(arguments, *conditions))
        if name in ("type", "assert"):
            for node in nodes:
                _set_tested(node)
        return self._kept(tree.Call(function.place, self._conditions, function, nodes))

    def _read_field(self, part: Part) -> tree.Node:
        """Return an entry of a table."""
        names = part.children_by_field_name("name")
        key = self.read(names[0]) if names and part.children[0].type == "[" else None
        parts = part.children_by_field_name("value")
        [value] = self._all(parts)
        if not names or (key and not isinstance(key, tree.String)):
            return value
        name = key.value if isinstance(key, tree.String) else _text(names[0])
        self.chunk.defined.add(name)
        if key is None:
            self._note_values(names, parts)
        return self._kept(tree.Field(_place(names[0]), self._conditions, name, value))

    # -- functions and statements

    def _read_function_declaration(self, part: Part) -> tree.Node:
        parameters = _one(part, "parameters")
        new: list[Part | str] = list(parameters.children_by_field_name("name"))
        closure, table = tree.Closure(_place(part), self._conditions), None
        for name in part.children_by_field_name("name"):
            self._note_function(name, part, parameters)
            if part.children[0].type == "local":
                local = self._declare(name, closure)
                local.declared = (local,)
                continue
            target = self.read(name)
            self._assign(target, closure)
            if name.type == "method_index_expression" and isinstance(target, tree.Index):
                new.insert(0, "self")
                table = target.base
        closure.is_vararg = any(p.type == "vararg_expression" for p in parameters.named_children)
        outer, self._closure = self._closure, closure
        closure.parameters = self._block(part.children_by_field_name("body"), new, table)
        self._closure = outer
        return closure

    _read_function_definition = _read_function_declaration

    def _note_function(self, name: Part, whole: Part, parameters: Part) -> None:
        last = name.named_children[-1] if name.named_children else name
        function = tree.Function(
            _on_one_line(name), _place(last), _place(whole), _on_one_line(parameters)
        )
        self.chunk.functions.append(function)

    def _note_values(self, names: Sequence[Part], values: Sequence[Part]) -> None:
        """Note the functions among values that are assigned to names."""
        for name, value in zip(names, values, strict=False):
            if value.type == "function_definition" and name.type != "bracket_index_expression":
                self._note_function(name, value, _one(value, "parameters"))

    def _read_variable_declaration(self, part: Part) -> None:
        inner = part.named_children[0]
        names, *values = [inner] if inner.type == "variable_list" else inner.named_children
        parts, first = _without_comments(values), len(self.chunk.nodes)
        nodes = self._all(parts)
        for node in nodes:
            node.is_kept = True
        declared = names.children_by_field_name("name")
        self._note_values(declared, parts)
        read = [node.local for node in self.chunk.nodes[first:] if isinstance(node, tree.Name)]
        new = [self._declare(name, _value_at(nodes, at)) for at, name in enumerate(declared)]
        for local in new:
            local.declared = tuple(new)
            local.hidden = None if local.hidden in read else local.hidden

    def _read_assignment_statement(self, part: Part) -> None:
        targets, *values = part.named_children
        assigned = self._all(targets.named_children)
        for target in assigned:
            self._assign(target)
        parts = _without_comments(values)
        self._note_values(targets.named_children, parts)
        nodes = self._all(parts)
        for node in nodes:
            node.is_kept = True
        for at, target in enumerate(assigned):
            _set_value(target, _value_at(nodes, at))

    def _assign(self, target: tree.Node, value: tree.Node | None = None) -> None:
        target.use = tree.Use.ASSIGNED
        _set_value(target, value)
        if isinstance(target, tree.Name) and target.local:
            target.local.is_reassigned = True
        elif isinstance(target, tree.Index) and target.key is not None:
            self.chunk.defined.add(target.key)
        elif isinstance(target, tree.Index) and isinstance(target.base, tree.Name):
            self.chunk.defined.add(f"{target.base.name}[]")

    def _read_if_statement(self, part: Part) -> None:
        conditions: list[str] = []
        for branch in [part, *part.children_by_field_name("alternative")]:
            condition = f"not ({' or '.join(conditions)})"
            for asked in branch.children_by_field_name("condition"):
                _set_tested(self.read(asked))
                condition = _on_one_line(asked)
                conditions.append(condition)
            body = "body" if branch.type == "else_statement" else "consequence"
            self._under(branch.children_by_field_name(body), condition)

    def _read_for_statement(self, part: Part) -> None:
        clause = _one(part, "clause")
        first, *values = clause.named_children
        names = [first] if first.type == "identifier" else first.children_by_field_name("name")
        self._all(values)
        self._block(part.children_by_field_name("body"), list(names))

    def _read_while_statement(self, part: Part) -> None:
        _set_tested(self.read(_one(part, "condition")))
        self._all(part.children_by_field_name("body"))

    def _read_repeat_statement(self, part: Part) -> None:
        # What stands behind `until` sees the locals of the block.
        body = [
            statement
            for block in part.children_by_field_name("body")
            for statement in block.named_children
        ]
        self._block([*body, *part.children_by_field_name("condition")])

    def _read_block(self, part: Part) -> None:
        self._block(part.named_children)

    def _read_chunk(self, part: Part) -> None:
        self.chunk.unreachable += map(_place, _never_reached(part.named_children))
        self._all(part.named_children)

    def _read_return_statement(self, part: Part) -> None:
        lists = [child for child in part.named_children if child.type == "expression_list"]
        nodes = self._all(_without_comments(lists))
        if self._closure is None and nodes:
            self.chunk.result = nodes[0]

    def _read_label_statement(self, _: Part) -> None:
        """Read nothing: a label is no variable."""

    _read_goto_statement = _read_label_statement


# -- statements that are never reached


def _never_reached(statements: Sequence[Part]) -> list[Part]:
    """Return the first statement of a block that nothing leads to, in a list, or none."""
    own = [part for part in statements if part.type not in ("comment", "empty_statement")]
    behind = (b for a, b in zip(own, own[1:], strict=False) if _is_end(a) and a.parent == b.parent)
    first = next(behind, None)
    has_label = first is not None and any(part.type == "label_statement" for part in own)
    return [] if first is None or has_label else [first]


def _is_end(part: Part) -> bool:
    """Tell whether what stands behind a statement is never reached."""
    if part.type in ("return_statement", "break_statement", "goto_statement"):
        return True
    if part.type == "function_call":
        return _text(_one(part, "name")) in ("error", "os.exit")
    if part.type == "if_statement":
        branches = part.children_by_field_name("alternative")
        bodies = [branch.children_by_field_name("consequence") for branch in [part, *branches[:-1]]]
        has_else = bool(branches) and branches[-1].type == "else_statement"
        bodies += [branch.children_by_field_name("body") for branch in branches[-1:]]
        return has_else and all(bool(body) and _is_end(body[0]) for body in bodies)
    if part.type not in ("block", "do_statement"):
        return False
    inner = [child for child in part.named_children if child.type != "comment"]
    return bool(inner) and _is_end(inner[-1])


# -- the names that an input of a session gives a value


def assigned_names(source: str) -> frozenset[str]:
    """Return the globals that an input of a session gives a value.

    A local at its beginning counts as one, since the inputs below can use it, too.
    """
    try:
        nodes = parse(source.strip().removeprefix("local ").lstrip()).nodes
    except NotLuaError:
        return frozenset()
    names = (node for node in nodes if isinstance(node, tree.Name) and node.local is None)
    return frozenset(node.name for node in names if node.use is tree.Use.ASSIGNED)

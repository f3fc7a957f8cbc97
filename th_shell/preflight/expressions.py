"""Reads expressions of Lua, and keeps those that are asked about: see `syntax_tree`.

Operators are not ordered by precedence, since no question here depends on it.
"""

from __future__ import annotations

from typing import TypeVar

from th_shell.preflight import syntax_tree as tree
from th_shell.tokens import Token, tokens

END = "end of file"


class NotLuaError(Exception):
    """A source that is not Lua; at: the offset where it cannot go on."""

    def __init__(self, at: int) -> None:
        super().__init__(f"not Lua at {at}")
        self.at = at


class Cursor:
    """A place among the tokens of a source. token: the one that is next."""

    def __init__(self, source: str) -> None:
        self._source = source
        # As loadfile does, skip a first line that begins with #.
        start = source.find("\n") % (len(source) + 1) if source.startswith("#") else 0
        self._tokens = [one for one in tokens(source, start) if one.kind != "comment"]
        self._tokens.append(Token(END, "", len(source)))
        self._next = 0
        self.token: Token = self._tokens[0]

    def behind(self) -> Token:
        """The token behind the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Go on by a token, and return it."""
        token = self.token
        if token.kind != END:
            self._next += 1
            self.token = self._tokens[self._next]
        return token

    def is_at(self, text: str) -> bool:
        """Whether a sign or keyword is next."""
        return self.token.text == text and self.token.kind in ("sign", "keyword")

    def take(self, text: str) -> bool:
        """Go on if a sign or keyword is next; whether it was."""
        if self.is_at(text):
            self.advance()
            return True
        return False

    def expect(self, text: str) -> Token:
        """Go on by a sign or keyword. Raises NotLuaError where another token is next."""
        if not self.is_at(text):
            raise NotLuaError(self.token.start)
        return self.advance()

    def take_name(self) -> Token:
        """Go on by a name. Raises NotLuaError where another token is next."""
        # LuaJIT: goto is a name where it is followed by no name.
        if self.token.kind != "name" and self.token.text != "goto":
            raise NotLuaError(self.token.start)
        return self.advance()

    def text(self, start: int, end: int) -> str:
        """A piece of the source, on one line."""
        return " ".join(self._source[start:end].split())


# -- expressions

_BINARY = frozenset("+ - * / % ^ .. == ~= < <= > >= and or".split())
_UNARY = frozenset(("-", "#", "not"))


_N = TypeVar("_N", bound=tree.Node)


class ExpressionReader(Cursor):
    """chunk: what was read so far. scope: the locals that can be seen, by name.

    conditions: those of the branches that the next token stands in.
    """

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.chunk = tree.Chunk()
        self.scope: dict[str, tree.Local] = {}
        self.conditions: tuple[str, ...] = ()

    def block(self, new: dict[str, tree.Local], *conditions: str) -> None:
        """Read statements up to the end of a block. new: the locals that it begins with."""
        raise NotImplementedError

    def expressions(self) -> list[tree.Node]:
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        return found

    def expression(self) -> tree.Node:
        start = self.token.start
        first = self._operand()
        if not self._is_binary():
            return first
        outer, clause = self.conditions, start
        while self._is_binary():
            operator = self.advance()
            if operator.text == "and":
                self.conditions = (*outer, self.text(clause, operator.start))
            elif operator.text == "or":
                self.conditions, clause = outer, self.token.start
            self._operand()
        self.conditions = outer
        return tree.Other(start)

    def _is_binary(self) -> bool:
        return self.token.text in _BINARY and self.token.kind != "string"

    def _operand(self) -> tree.Node:
        token = self.token
        if token.kind == "name":
            return self.suffixed()
        if token.kind == "string":
            self.advance()
            return self._string(token)
        if token.text in _UNARY:
            self.advance()
            self._operand()
        elif token.kind == "number" or token.text in ("nil", "true", "false", "..."):
            self.advance()
        elif token.text == "{":
            self._table()
        elif token.text == "function":
            self.advance()
            self.body({})
        else:
            return self.suffixed()
        return tree.Other(token.start)

    def _string(self, token: Token) -> tree.String:
        if token.is_open:
            raise NotLuaError(token.start)
        self.chunk.texts.add(token.content)
        return tree.String(token.start, self.conditions, token.content)

    def body(self, new: dict[str, tree.Local]) -> None:
        self.expect("(")
        while not self.take(")"):
            if not self.take("..."):
                name = self.take_name().text
                new[name] = tree.Local(name)
            if not self.is_at(")"):
                self.expect(",")
        self.block(new)
        self.expect("end")

    def _table(self) -> None:
        self.expect("{")
        while not self.take("}"):
            self._field()
            if not (self.take(",") or self.take(";")) and not self.is_at("}"):
                raise NotLuaError(self.token.start)

    def _field(self) -> None:
        behind = self.behind()
        if self.token.kind == "name" and behind.text == "=" and behind.kind == "sign":
            key = self.advance()
            self.chunk.defined.setdefault(key.text, key.start)
            self.advance()
        elif self.take("["):
            start = self.expression()
            if isinstance(start, tree.String):
                self.chunk.defined.setdefault(start.value, start.at)
            self.expect("]")
            self.expect("=")
        self.expression()

    def suffixed(self) -> tree.Node:
        """A variable or a call, with all its fields, calls and methods."""
        node: tree.Node
        if self.is_at("("):
            at = self.advance().start
            inner = self.expression()
            node = inner if isinstance(inner, (tree.Call, tree.Invoke)) else tree.Other(at)
            self.expect(")")
        else:
            node = self.variable(self.take_name())
        while True:
            token = self.token
            if token.kind == "string" or token.text in ("(", "{") and token.kind == "sign":
                node = self._call(node)
            elif token.kind != "sign" or token.text not in (".", ":", "["):
                return node
            elif token.text == ":":
                node = self._invoke(node)
            else:
                node = self._take_index(node)

    def _kept(self, node: _N) -> _N:
        self.chunk.nodes.append(node)
        return node

    def variable(self, token: Token) -> tree.Name:
        name = token.text
        return self._kept(tree.Name(token.start, self.conditions, name, self.scope.get(name)))

    def _take_index(self, base: tree.Node) -> tree.Index:
        if self.take("."):
            key = self.take_name()
            return self.index(base, key.text, key.start)
        at = self.expect("[").start
        inner = self.expression()
        self.expect("]")
        return self.index(base, inner.value if isinstance(inner, tree.String) else None, at)

    def index(self, base: tree.Node, key: str | None, at: int) -> tree.Index:
        _set_use(base, tree.Use.INDEXED)
        return self._kept(tree.Index(at, self.conditions, base, key))

    def _invoke(self, base: tree.Node) -> tree.Invoke:
        self.expect(":")
        name = self.take_name()
        _set_use(base, tree.Use.INDEXED)
        return self._kept(
            tree.Invoke(name.start, self.conditions, base, name.text, self._arguments())
        )

    def _call(self, function: tree.Node) -> tree.Call:
        _set_use(function, tree.Use.CALLED)
        outer = self.conditions
        if isinstance(function, tree.Name) and function.name in ("pcall", "xpcall"):
            self.conditions = (*outer, tree.PROTECTED)
        arguments = self._arguments()
        self.conditions = outer
        return self._kept(tree.Call(function.at, outer, function, arguments))

    def _arguments(self) -> tuple[tree.Node, ...]:
        token = self.token
        if token.kind == "string":
            self.advance()
            return (self._string(token),)
        if self.is_at("{"):
            self._table()
            return (tree.Other(token.start),)
        self.expect("(")
        if self.take(")"):
            return ()
        found = self.expressions()
        self.expect(")")
        return tuple(found)


def _set_use(node: tree.Node, use: tree.Use) -> None:
    if isinstance(node, (tree.Name, tree.Index)):
        node.use = use

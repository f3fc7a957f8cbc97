"""Reads a Lua program that compiles: its expressions, and which local a name stands for.

The grammar is that of LuaJIT. Operators are not ordered by precedence, since no question here
depends on it.
"""

from __future__ import annotations

from th_shell.preflight.lexer import END, Token, tokens
from th_shell.preflight.syntax_tree import (
    PROTECTED,
    Call,
    Chunk,
    Index,
    Invoke,
    Local,
    Name,
    Node,
    Other,
    String,
    Use,
)

__all__ = ["NotLuaError", "parse"]

_BINARY = frozenset("+ - * / % ^ .. == ~= < <= > >= and or".split())
_UNARY = frozenset(("-", "#", "not"))
_BLOCK_ENDS = frozenset(("end", "else", "elseif", "until", ""))


class NotLuaError(Exception):
    """A source that is not Lua; at: the offset where it cannot go on."""

    def __init__(self, at: int) -> None:
        super().__init__(f"not Lua at {at}")
        self.at = at


def parse(source: str) -> Chunk:
    """The program of a source that LuaJIT compiles. Raises NotLuaError for others."""
    parser = _Parser(source)
    parser.block({})
    if parser.token.kind != END:
        raise NotLuaError(parser.token.at)
    return parser.chunk


class _Parser:
    """scope: the locals that can be seen, by name; each block works on a copy."""

    def __init__(self, source: str) -> None:
        self.chunk = Chunk()
        self._source = source
        self._tokens = list(tokens(source))
        self._next = 0
        self._scope: dict[str, Local] = {}
        self._conditions: tuple[str, ...] = ()
        self.token: Token = self._tokens[0]

    # -- tokens

    def _advance(self) -> Token:
        token = self.token
        if token.kind != END:
            self._next += 1
            self.token = self._tokens[self._next]
        return token

    def _is(self, text: str) -> bool:
        return self.token.text == text and self.token.kind in ("symbol", "keyword")

    def _take(self, text: str) -> bool:
        if self._is(text):
            self._advance()
            return True
        return False

    def _expect(self, text: str) -> Token:
        if not self._is(text):
            raise NotLuaError(self.token.at)
        return self._advance()

    def _name(self) -> Token:
        # LuaJIT: goto is a name where it is followed by no name.
        if self.token.kind != "name" and self.token.text != "goto":
            raise NotLuaError(self.token.at)
        return self._advance()

    # -- blocks and statements

    def block(self, new: dict[str, Local], *conditions: str) -> None:
        """Read statements up to the end of a block. new: the locals that it begins with."""
        scope, outer = self._scope, self._conditions
        self._scope, self._conditions = {**scope, **new}, outer + conditions
        while not (self.token.kind in ("keyword", END) and self.token.text in _BLOCK_ENDS):
            self._statement()
        self._scope, self._conditions = scope, outer

    def _statement(self) -> None:
        token = self.token
        read = _STATEMENTS.get(token.text) if token.kind in ("keyword", "symbol") else None
        if token.text == "goto" and self._tokens[self._next + 1].kind != "name":
            read = None
        if read is None:
            self._expression_statement()
        else:
            self._advance()
            read(self)

    def _nothing(self) -> None:
        pass

    def _label(self) -> None:
        self._name()
        self._expect("::")

    def _do(self) -> None:
        self.block({})
        self._expect("end")

    def _while(self) -> None:
        self._expression()
        self._expect("do")
        self._do()

    def _repeat(self) -> None:
        # What stands behind `until` sees the locals of the block.
        scope = self._scope
        self._scope = dict(scope)
        while not (self.token.kind in ("keyword", END) and self.token.text in _BLOCK_ENDS):
            self._statement()
        self._expect("until")
        self._expression()
        self._scope = scope

    def _if(self) -> None:
        conditions = [self._condition()]
        self.block({}, conditions[0])
        while self._take("elseif"):
            conditions.append(self._condition())
            self.block({}, conditions[-1])
        if self._take("else"):
            self.block({}, f"not ({' or '.join(conditions)})")
        self._expect("end")

    def _condition(self) -> str:
        start = self.token.at
        self._expression()
        return self._text(start, self._expect("then").at)

    def _for(self) -> None:
        names = [self._name().text]
        while self._take(","):
            names.append(self._name().text)
        if not self._take("in"):
            self._expect("=")
        self._expressions()
        self._expect("do")
        self.block({name: Local(name) for name in names})
        self._expect("end")

    def _function_statement(self) -> None:
        function: Node = self._variable(self._name())
        is_method = False
        while self._is(".") or self._is(":"):
            is_method = self._advance().text == ":"
            key = self._name()
            function = self._index(function, key.text, key.at)
        self._assign(function)
        self._body({"self": Local("self")} if is_method else {})

    def _local(self) -> None:
        if self._take("function"):
            name = self._name().text
            self._scope[name] = Local(name)
            self._body({})
            return
        names = [self._name().text]
        while self._take(","):
            names.append(self._name().text)
        values = self._expressions() if self._take("=") else []
        for i, name in enumerate(names):
            self._scope[name] = Local(name, values[i] if i < len(values) else None)

    def _return(self) -> None:
        ends = self.token.kind in ("keyword", END) and self.token.text in _BLOCK_ENDS
        if not ends and not self._is(";"):
            self._expressions()

    def _expression_statement(self) -> None:
        targets = [self._suffixed()]
        while self._take(","):
            targets.append(self._suffixed())
        if self._take("="):
            for target in targets:
                self._assign(target)
            self._expressions()
        elif len(targets) > 1 or not isinstance(targets[0], (Call, Invoke)):
            raise NotLuaError(self.token.at)

    def _goto(self) -> None:
        self._name()

    def _assign(self, target: Node) -> None:
        if isinstance(target, Name):
            target.use = Use.ASSIGNED
            if target.local:
                target.local.is_reassigned = True
        elif isinstance(target, Index):
            target.use = Use.ASSIGNED
            if target.key is not None:
                self.chunk.defined.setdefault(target.key, target.at)

    # -- expressions

    def _expressions(self) -> list[Node]:
        found = [self._expression()]
        while self._take(","):
            found.append(self._expression())
        return found

    def _expression(self) -> Node:
        start = self.token.at
        first = self._operand()
        if not self._is_binary():
            return first
        outer, clause = self._conditions, start
        while self._is_binary():
            operator = self._advance()
            if operator.text == "and":
                self._conditions = (*outer, self._text(clause, operator.at))
            elif operator.text == "or":
                self._conditions, clause = outer, self.token.at
            self._operand()
        self._conditions = outer
        return Other(start)

    def _is_binary(self) -> bool:
        return self.token.text in _BINARY and self.token.kind != "string"

    def _text(self, start: int, end: int) -> str:
        """A piece of the source, on one line."""
        return " ".join(self._source[start:end].split())

    def _operand(self) -> Node:
        token = self.token
        if token.kind == "name":
            return self._suffixed()
        if token.kind == "string":
            self._advance()
            return self._string(token)
        if token.text in _UNARY:
            self._advance()
            self._operand()
        elif token.kind == "number" or token.text in ("nil", "true", "false", "..."):
            self._advance()
        elif token.text == "{":
            self._table()
        elif token.text == "function":
            self._advance()
            self._body({})
        else:
            return self._suffixed()
        return Other(token.at)

    def _string(self, token: Token) -> String:
        value = token.text[1:-1]
        if token.text[0] == "[":
            level = token.text.index("[", 1) + 1
            value = token.text[level:-level]
        self.chunk.texts.add(value)
        return String(token.at, self._conditions, value)

    def _body(self, new: dict[str, Local]) -> None:
        self._expect("(")
        while not self._take(")"):
            if not self._take("..."):
                name = self._name().text
                new[name] = Local(name)
            if not self._is(")"):
                self._expect(",")
        self.block(new)
        self._expect("end")

    def _table(self) -> None:
        self._expect("{")
        while not self._take("}"):
            self._field()
            if not (self._take(",") or self._take(";")) and not self._is("}"):
                raise NotLuaError(self.token.at)

    def _field(self) -> None:
        behind = self._tokens[self._next + 1]
        if self.token.kind == "name" and behind.text == "=" and behind.kind == "symbol":
            key = self._advance()
            self.chunk.defined.setdefault(key.text, key.at)
            self._advance()
        elif self._take("["):
            start = self._expression()
            if isinstance(start, String):
                self.chunk.defined.setdefault(start.value, start.at)
            self._expect("]")
            self._expect("=")
        self._expression()

    def _suffixed(self) -> Node:
        """A variable or a call, with all its fields, calls and methods."""
        node: Node
        if self._is("("):
            at = self._advance().at
            inner = self._expression()
            node = inner if isinstance(inner, (Call, Invoke)) else Other(at)
            self._expect(")")
        else:
            node = self._variable(self._name())
        while True:
            token = self.token
            if token.kind == "string" or token.text in ("(", "{") and token.kind == "symbol":
                node = self._call(node)
            elif token.kind != "symbol" or token.text not in (".", ":", "["):
                return node
            elif token.text == ":":
                node = self._invoke(node)
            else:
                node = self._take_index(node)

    def _variable(self, token: Token) -> Name:
        node = Name(token.at, self._conditions, token.text, self._scope.get(token.text))
        self.chunk.nodes.append(node)
        return node

    def _take_index(self, base: Node) -> Index:
        if self._take("."):
            key = self._name()
            return self._index(base, key.text, key.at)
        at = self._expect("[").at
        inner = self._expression()
        self._expect("]")
        return self._index(base, inner.value if isinstance(inner, String) else None, at)

    def _index(self, base: Node, key: str | None, at: int) -> Index:
        _set_use(base, Use.INDEXED)
        node = Index(at, self._conditions, base, key)
        self.chunk.nodes.append(node)
        return node

    def _invoke(self, base: Node) -> Invoke:
        self._expect(":")
        name = self._name()
        _set_use(base, Use.INDEXED)
        node = Invoke(name.at, self._conditions, base, name.text, self._arguments())
        self.chunk.nodes.append(node)
        return node

    def _call(self, function: Node) -> Call:
        _set_use(function, Use.CALLED)
        outer = self._conditions
        if isinstance(function, Name) and function.name in ("pcall", "xpcall"):
            self._conditions = (*outer, PROTECTED)
        arguments = self._arguments()
        self._conditions = outer
        node = Call(function.at, outer, function, arguments)
        self.chunk.nodes.append(node)
        return node

    def _arguments(self) -> tuple[Node, ...]:
        token = self.token
        if token.kind == "string":
            self._advance()
            return (self._string(token),)
        if self._is("{"):
            self._table()
            return (Other(token.at),)
        self._expect("(")
        if self._take(")"):
            return ()
        found = self._expressions()
        self._expect(")")
        return tuple(found)


def _set_use(node: Node, use: Use) -> None:
    if isinstance(node, (Name, Index)):
        node.use = use


_STATEMENTS = {
    ";": _Parser._nothing,
    "break": _Parser._nothing,
    "::": _Parser._label,
    "do": _Parser._do,
    "while": _Parser._while,
    "repeat": _Parser._repeat,
    "if": _Parser._if,
    "for": _Parser._for,
    "function": _Parser._function_statement,
    "local": _Parser._local,
    "return": _Parser._return,
    "goto": _Parser._goto,
}

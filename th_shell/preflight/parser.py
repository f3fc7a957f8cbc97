"""Reads a Lua program that compiles: its expressions, and which local a name stands for.

The grammar is that of LuaJIT.
"""

from __future__ import annotations

from th_shell.preflight.expressions import END, ExpressionReader, NotLuaError
from th_shell.preflight.syntax_tree import Call, Chunk, Index, Invoke, Local, Name, Node, Use

_BLOCK_ENDS = frozenset(("end", "else", "elseif", "until", ""))


def parse(source: str) -> Chunk:
    """The program of a source that LuaJIT compiles. Raises NotLuaError for others."""
    parser = _Parser(source)
    parser.block({})
    if parser.token.kind != END:
        raise NotLuaError(parser.token.start)
    return parser.chunk


class _Parser(ExpressionReader):
    """Reads statements; each block works on a copy of the scope."""

    def block(self, new: dict[str, Local], *conditions: str) -> None:
        """Read statements up to the end of a block. new: the locals that it begins with."""
        scope, outer = self.scope, self.conditions
        self.scope, self.conditions = {**scope, **new}, outer + conditions
        self._statements()
        self.scope, self.conditions = scope, outer

    def _statements(self) -> None:
        while not self._is_at_end():
            self._statement()

    def _is_at_end(self) -> bool:
        """Whether the block ends here."""
        return self.token.kind in ("keyword", END) and self.token.text in _BLOCK_ENDS

    def _statement(self) -> None:
        token = self.token
        read = _STATEMENTS.get(token.text) if token.kind in ("keyword", "sign") else None
        if token.text == "goto" and self.behind().kind != "name":
            read = None
        if read is None:
            self._expression_statement()
        else:
            self.advance()
            read(self)

    def _nothing(self) -> None:
        pass

    def _label(self) -> None:
        self.take_name()
        self.expect("::")

    def _do(self) -> None:
        self.block({})
        self.expect("end")

    def _while(self) -> None:
        self.expression()
        self.expect("do")
        self._do()

    def _repeat(self) -> None:
        # What stands behind `until` sees the locals of the block.
        scope = self.scope
        self.scope = dict(scope)
        self._statements()
        self.expect("until")
        self.expression()
        self.scope = scope

    def _if(self) -> None:
        conditions = [self._condition()]
        self.block({}, conditions[0])
        while self.take("elseif"):
            conditions.append(self._condition())
            self.block({}, conditions[-1])
        if self.take("else"):
            self.block({}, f"not ({' or '.join(conditions)})")
        self.expect("end")

    def _condition(self) -> str:
        start = self.token.start
        self.expression()
        return self.text(start, self.expect("then").start)

    def _for(self) -> None:
        names = self._names()
        if not self.take("in"):
            self.expect("=")
        self.expressions()
        self.expect("do")
        self.block({name: Local(name) for name in names})
        self.expect("end")

    def _names(self) -> list[str]:
        names = [self.take_name().text]
        while self.take(","):
            names.append(self.take_name().text)
        return names

    def _function_statement(self) -> None:
        function: Node = self.variable(self.take_name())
        is_method = False
        while self.is_at(".") or self.is_at(":"):
            is_method = self.advance().text == ":"
            key = self.take_name()
            function = self.index(function, key.text, key.start)
        self._assign(function)
        self.body({"self": Local("self")} if is_method else {})

    def _local(self) -> None:
        if self.take("function"):
            name = self.take_name().text
            self.scope[name] = Local(name)
            self.body({})
            return
        names = self._names()
        values = self.expressions() if self.take("=") else []
        for i, name in enumerate(names):
            self.scope[name] = Local(name, values[i] if i < len(values) else None)

    def _return(self) -> None:
        if not self._is_at_end() and not self.is_at(";"):
            self.expressions()

    def _expression_statement(self) -> None:
        targets = [self.suffixed()]
        while self.take(","):
            targets.append(self.suffixed())
        if self.take("="):
            for target in targets:
                self._assign(target)
            self.expressions()
        elif len(targets) > 1 or not isinstance(targets[0], (Call, Invoke)):
            raise NotLuaError(self.token.start)

    def _goto(self) -> None:
        self.take_name()

    def _assign(self, target: Node) -> None:
        if isinstance(target, Name):
            target.use = Use.ASSIGNED
            if target.local:
                target.local.is_reassigned = True
        elif isinstance(target, Index):
            target.use = Use.ASSIGNED
            if target.key is not None:
                self.chunk.defined.setdefault(target.key, target.at)
            elif isinstance(target.base, Name):
                self.chunk.defined.setdefault(f"{target.base.name}[]", target.at)


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

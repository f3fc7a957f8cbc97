"""``Compiler``: finds out by LuaJIT whether a text is code, the beginning of code, or no code.

It decides where the inputs of a page end. Text is compiled and never run.
"""

import threading
from functools import cached_property, lru_cache

from th_shell.runtime.shell import Engine, LuaSyntaxError
from th_shell.syntax import Syntax


class Compiler:
    """Compiles text with an engine's LuaJIT. Any thread may use it."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._given = engine
        self._lock = threading.Lock()  # one thread at a time may use an engine
        self._compiled = lru_cache(maxsize=1 << 13)(self._compile)  # repairs ask again

    @cached_property
    def _engine(self) -> Engine:
        """Made at its first use: pages of other languages than Lua need none."""
        return self._given or Engine()

    def statement(self, text: str) -> Syntax:
        """Compile a text as statements."""
        return self._compiled(text)

    def _compile(self, text: str) -> Syntax:
        # In a file, LuaJIT skips a first line that begins with '#'.
        text = f"\n{text}" if text.startswith("#") else text
        try:
            with self._lock:
                self._engine.compile(text.encode("utf-8", "surrogateescape"))
        except LuaSyntaxError as error:
            return Syntax.INCOMPLETE if error.incomplete else Syntax.WRONG
        return Syntax.COMPLETE

    def expression(self, text: str) -> Syntax:
        """Compile a text as a list of expressions; an empty text is wrong."""
        return self.statement(f"return {text}\n") if text.strip() else Syntax.WRONG

    def typed(self, text: str) -> Syntax:
        """Return the better of both results, as at a prompt; an expression may begin with '='."""
        text = text.strip().removeprefix("=").rstrip("; \t\n")
        return min(self.expression(text), self.statement(text), key=list(Syntax).index)

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The global names that there are before a page begins."""
        with self._lock:
            return frozenset(self._engine.variables.names(""))

    def is_comment(self, text: str) -> bool:
        """Return whether a complete text has nothing but comments."""
        # Behind 'return nil', a chunk may have only comments.
        return self.statement(f"return nil\n{text}\n") is Syntax.COMPLETE

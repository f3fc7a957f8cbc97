"""What LuaJIT says of a piece of text: code, code whose end is missing, or no code.

The only judge of where an input ends. It compiles and never runs anything.
"""

from __future__ import annotations

from enum import Enum

from runtime import Engine, LuaSyntaxError

__all__ = ["State", "Syntax"]


class State(Enum):
    """The outcome of compiling a text."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    WRONG = "wrong"


class Syntax:
    """Compiles text with an engine's LuaJIT."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = engine or Engine()

    def statement(self, text: str) -> State:
        """What a text is as statements, as in a script."""
        try:
            self._engine.compile(text.encode("utf-8", "surrogateescape"))
        except LuaSyntaxError as error:
            return State.INCOMPLETE if error.incomplete else State.WRONG
        return State.COMPLETE

    def expression(self, text: str) -> State:
        """What a text is as an expression list; the empty text is none."""
        return self.statement(f"return {text}\n") if text.strip() else State.WRONG

    def typed(self, text: str) -> State:
        """What a text is at a prompt: an expression (with or without '='), or statements."""
        text = text.strip().removeprefix("=").rstrip("; \t\n")
        states = self.expression(text), self.statement(text)
        for state in (State.COMPLETE, State.INCOMPLETE):
            if state in states:
                return state
        return State.WRONG

    def is_comment(self, text: str) -> bool:
        """Whether a complete text holds nothing but comments."""
        # After a value only the end of the chunk may follow.
        return self.statement(f"return nil\n{text}\n") is State.COMPLETE

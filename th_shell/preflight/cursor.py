"""The tokens of a source, one after the other."""

from __future__ import annotations

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

"""Tells what the reader's machine decides, so that no page can show it for all readers.

That is its environment, the folder of a run, what is typed at its terminal, what other programs
print, and, in Lua, its time zone. What code makes of it, the machine decides, too. Its Lua
decides the length of a table in which elements are nil.
"""

import re
from collections.abc import Set
from functools import partial

from th_shell import python_syntax
from th_shell.docs.judging.printout import layout
from th_shell.docs.judging.verdicts import Result
from th_shell.docs.reading import names
from th_shell.docs.reading.examples import PYTHON
from th_shell.patterns import pattern

_OF_LUA = pattern(
    r"\bos\.getenv|/th-docs-\w{8}|\bprint\s*\(_G\)|(?<![.\w])(?:arg\[|#arg\b)|\blapp\s*[\[(\"']"
    r"|\bio\.(?:lines ?\(\)|read ?\(|stdin\b|popen\b)"
)
_OF_PYTHON = pattern(
    r"\b(?:expanduser|getcwdb?|gethostname|getuser|getlogin|get_localzone|tzlocal|Path\.home)\("
    r"|\b(?:time\.(?:tzname|timezone)|LOCAL_?TZ)\b|\w\([\"'](?:\w+://)?~/|/th-docs-\w{8}"
    r"|\benviron(?:\.get\(|\[)[\"'](?:HOME|USER|HOSTNAME|TZ)\b"
)
#: Code whose values the time zone decides, and code by which the machine's habits write a date.
_OF_ZONE = pattern(r"\bos\.(?:time\s*(?:\(\s*)?\{|date\s*[(\"'](?!\s*[\"']?!)|time\s*\(\s*[a-z])")
_OF_LOCALE = pattern(r"\bos\.date ?(?:\( ?\)|\(? ?[\"']%[cxX])")
#: The names of tables to which code of Lua adds elements.
_FILLED = pattern(
    r"(?:\btable\.insert[ (]{1,9}|\b(?=\w{1,99}\[[^\]\n]{0,99}\] {0,9}=(?!=)))([A-Za-z_]\w*)"
)
#: The name of a table that gets elements behind others that are, or may be, nil.
_HOLED = pattern(
    r"\b([A-Za-z_]\w*)\s*(?:=\s*\{[^{}]*(?:\bnil\s*,|\[\s*(?!1\b)[1-9]\d*\s*\]\s*=)"
    r"|\[\s*(?!1\b)[1-9]\d*\s*\]\s*=(?!=))"
)
#: The name of a table whose length code asks for.
_MEASURED = pattern(r"(?:#\s*|\bunpack\s*\(\s*)([A-Za-z_]\w*)")
#: The errors of Python that tell of code.
_OF_CODE = pattern(r"^(?:Attribute|Name|Syntax|Type)Error\b", re.M)


class Machine:
    """The names of a page, in one language, whose values the reader's machine decides."""

    def __init__(self, language: str) -> None:
        self._is_python = language == PYTHON
        self._read_in = partial(names.read_names, language)
        self._imported_in = partial(names.imported_names, language)
        self._names = set[str]()  # whose values it decides
        self._dated = set[str]()  # those that its time zone decides
        self._holed = set[str]()  # the names of tables that may have holes

    def note(self, source: str, bound: Set[str]) -> None:
        """Note the names that the next example gives values, and whether it decides these."""
        is_one = not self._is_python or len(python_syntax.statements(source)) == 1
        is_decided = is_one and self._is_decided(source)
        is_dated = self._is_dated(source)
        self._names -= bound
        self._dated -= bound
        self._holed = self._holed - bound | set(_HOLED.findall(source))
        if is_decided and self._is_python:
            self._names |= bound - self._imported_in(source)
        elif is_decided:
            self._names |= bound | set(_FILLED.findall(source))
        elif is_dated:
            self._dated |= bound

    def decides(self, result: Result, source: str) -> bool:
        """Tell whether it decides what a failing example prints, or why it fails."""
        if self._is_python:
            is_decided = _OF_PYTHON.search(result.got) or self._is_decided(source)
            return bool(is_decided) and not _OF_CODE.search(result.got)
        is_dated = self._is_dated(source) and _is_like_date(source, result)
        return self._is_decided(f"{source}\n{result.got}") or is_dated

    def measures_holes(self, source: str) -> bool:
        """Tell whether code in Lua asks for the length of a table that may have holes."""
        return not self._holed.isdisjoint(_MEASURED.findall(source))

    def _is_decided(self, text: str) -> bool:
        decided = _OF_PYTHON if self._is_python else _OF_LUA
        return bool(decided.search(text) or self._names & self._read_in(text))

    def _is_dated(self, source: str) -> bool:
        if self._is_python:
            return False
        is_dated = _OF_LOCALE.search(source) or _OF_ZONE.search(source)
        return bool(is_dated or self._dated & self._read_in(source))


def _is_like_date(source: str, result: Result) -> bool:
    """Tell whether a date differs from the documented one in numbers, or as machines write it."""
    value = result.example.value
    words, count = layout(result.example.expected or (value.text if value else ""))
    printed, printed_count = layout(result.got)
    is_like = count == printed_count and sorted(words) == sorted(printed)
    return bool(_OF_LOCALE.search(source)) or is_like

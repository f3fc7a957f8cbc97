"""Reads directives: what a page says of its examples in comments that its readers do not see.

    <!-- th-docs: skip reason="takes an hour" if="not env('CI')" -->
    .. th-docs page: rtol=1e-3
    > x:sum() -- th-docs: xfail reason="prints a digit too many"

A directive is a name with values, or values alone. `page` makes it hold for the whole page. What
stands behind `setup` and `teardown`, on one line or on several, is code. `comments` finds where
directives stand in a page, and `placement` what they hold for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from th_shell.docs.settings.comments import WORD, Comment
from th_shell.docs.settings.setting_readers import read_layer
from th_shell.docs.settings.settings import Layer, SettingsError

_HEAD = re.compile(rf"{WORD}(?P<page>\s+page)?\s*:\s*")
#: A comment that would be a directive with a colon.
_NO_COLON = re.compile(rf"{WORD}\s+(?:page\s+)?(?:skip|xfail|setup|teardown|filter|capture)\b")
_NAME = re.compile(r"(?P<name>[A-Za-z][\w-]*)(?!\s*=)(?:\s+|\Z)")
_VALUE = re.compile(
    r"(?P<key>[A-Za-z][\w-]*)\s*=\s*"
    r"(?:\"(?P<double>(?:\\.|[^\"\\])*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"']+))(?:\s+|\Z)",
    re.S,
)
_ESCAPED = re.compile(r"\\([\"\\])")

_Table = dict[str, object]


@dataclass(frozen=True)
class Directive:
    """What one comment says. page: whether it says this of the whole page."""

    comment: Comment
    place: str
    page: bool
    layer: Layer


def read_directives(page: str, comments: Sequence[Comment]) -> list[Directive]:
    """The directives among comments of a page. page: its name. Raises SettingsError."""
    found = []
    for comment in comments:
        place = f"{page}:{comment.line}"
        head = _HEAD.match(comment.text)
        if head and not comment.closed:
            raise SettingsError(f"{place}: the comment has no end")
        if head:
            layer = read_layer(_table(comment.text[head.end() :], place), place)
            found.append(Directive(comment, place, bool(head["page"]), layer))
        elif _NO_COLON.match(comment.text):
            raise SettingsError(f"{place}: a directive is written '{WORD}: …' or '{WORD} page: …'")
    return found


def _table(text: str, place: str) -> _Table:
    """What a directive says, as a file of settings has it."""
    name = _NAME.match(text)
    if not name:
        return _values(text, place)
    if name["name"] not in _DIRECTIVES:
        known = ", ".join(_DIRECTIVES)
        raise SettingsError(f"{place}: unknown directive '{name['name']}': there are {known}")
    return _DIRECTIVES[name["name"]](name["name"], text[name.end() :], place)


def _mark(name: str, text: str, place: str) -> _Table:
    return {name: _values(text, place) if text.strip() else True}


def _code(name: str, text: str, place: str) -> _Table:
    if not text.strip():
        raise SettingsError(f"{place}: {name} has no code")
    return {name: text.strip("\n")}


def _filter(name: str, text: str, place: str) -> _Table:
    return {"filters": [_values(text, place)]}


def _capture(name: str, text: str, place: str) -> _Table:
    if not text.strip():
        raise SettingsError(f"{place}: {name} has no names")
    return {name: text.split()}


_DIRECTIVES: dict[str, Callable[[str, str, str], _Table]] = {
    "skip": _mark,
    "xfail": _mark,
    "setup": _code,
    "teardown": _code,
    "filter": _filter,
    "capture": _capture,
}


def _values(text: str, place: str) -> _Table:
    text = text.strip()
    if not text:
        raise SettingsError(f"{place}: the directive says nothing")
    found: _Table = {}
    at = 0
    while at < len(text):
        match = _VALUE.match(text, at)
        if not match:
            raise SettingsError(f"{place}: not 'key=value': {text[at:].split(chr(10))[0]}")
        if match["key"] in found:
            raise SettingsError(f"{place}: {match['key']}: said twice")
        found[match["key"]] = _value(match)
        at = match.end()
    return found


def _value(match: re.Match[str]) -> object:
    if match["double"] is not None:
        return _ESCAPED.sub(r"\1", match["double"])
    if match["single"] is not None:
        return match["single"]
    for kind in (int, float):
        try:
            return kind(match["bare"])
        except ValueError:
            pass
    return {"true": True, "false": False}.get(match["bare"], match["bare"])

"""The table of call forms: each row by itself, and against the reference's forms."""

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.runtime.reference import operations
from th_shell.runtime.calls.forms import parse_form
from th_shell.runtime.calls.table import TABLE, Row
from th_shell.runtime.core.dtypes import DTYPES, DType
from th_shell.runtime.ops import ROWS_ADDED

assert ROWS_ADDED
SPACES = {"methods": "method", "functions": "function"}


class TestRows:
    def test_are_complete(self) -> None:
        for row in (row for rows in TABLE.values() for row in rows):
            assert row.types, row
            assert row.method is not None or row.function is not None, row
            described = (row.implementation.__doc__ or "").strip()
            assert described or row.name in {dtype.name.lower() for dtype in DTYPES}, row

    def test_have_forms_that_parse_and_differ(self) -> None:
        for rows in TABLE.values():
            self._check_forms(rows)

    def _check_forms(self, rows: list[Row]) -> None:
        seen: set[tuple[str, str, DType]] = set()
        for row in rows:
            for space in () if row.reads_call else ("method", "function"):
                form = row.form(space)
                for dtype in row.types if form is not None else ():
                    assert parse_form(form or "", dtype).arguments is not None, row
                    assert (space, form or "", dtype) not in seen, row
                    seen.add((space, form or "", dtype))


def printed_forms(name: str, space: str, dtype: DType) -> str | None:
    """The forms of a name as an error prints them, in the notation of the reference's list."""
    rows = [row for row in TABLE.get(name, ()) if dtype in row.types and row.form(space)]
    if not rows or rows[0].reads_call:
        return None
    helps = (parse_form(row.form(space) or "", dtype).help for row in rows)
    return " | ".join(helps)


def spelled_out(form: str, dtype: DType) -> str:
    """A form of the reference's list for one type: T and real replaced."""
    words = []
    for word in form.split(" "):
        core = word.strip("[]*{}+")
        bare, _, dims = core.partition("~")
        if bare == "T":
            word = word.replace("T", f"{dtype.name}Tensor", 1)
        elif bare == "real":
            word = word.replace("real", dtype.real)
        elif bare == "accreal":
            word = word.replace("accreal", "double" if dtype.is_float else "long")
        words.append(word)
    return " ".join(words)


@pytest.mark.parametrize("kind", SPACES)
def test_forms_are_the_references(kind: str) -> None:
    for name, found in operations(kind).items():
        compared = 0
        for form, types in found.forms.items():
            for dtype in DTYPES:
                ours = printed_forms(name, SPACES[kind], dtype)
                if dtype.name in types and ours is not None:
                    assert ours == spelled_out(form, dtype), name
                    compared += 1
        assert compared or not found.forms, name


@pytest.mark.parametrize(("call", "message"), data(__file__, "test_error_of_a_wrong_call"))
def test_error_of_a_wrong_call(lua: Lua, call: str, message: str) -> None:
    assert lua.error(f"local r = {call}") == message


@pytest.mark.parametrize(("source", "printed"), data(__file__, "test_which_row_is_taken"))
def test_which_row_is_taken(lua: Lua, source: str, printed: str) -> None:
    assert lua(source) == printed

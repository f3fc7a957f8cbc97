from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.help.about import call_forms
from th_shell.runtime.calls.table import ALL, FLOATS, TABLE, Row
from th_shell.runtime.core.dtypes import BYTE

TWIST = data(__file__, "TWIST")
BEND_FUNCTION = data(__file__, "BEND_FUNCTION")
BEND_METHOD = data(__file__, "BEND_METHOD")


def twist() -> None:
    """A tensor twisted; see core/tensor.py.

    More on that.
    """


def twist_by() -> None:
    """A tensor twisted by a number. Raises ArgError for 0."""


def bend() -> None:
    pass


BY = "[*T*] T [real=1] <Generator> [index=__ndim__]"
ROWS = {
    "twist": [
        Row("twist", "T~2D LongTensor", "T~2D LongTensor", ALL, twist),
        Row("twist", BY, BY, FLOATS, twist_by),
    ],
    "bend": [Row("bend", "*T* [T=1]", "[*T*] T", (BYTE,), bend)],
}


@pytest.fixture(autouse=True)
def _operations(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in ROWS.items():
        monkeypatch.setitem(TABLE, name, rows)


def test_call_forms_and_their_meaning() -> None:
    assert call_forms("twist") == [TWIST]


def test_forms_of_method_and_function_where_they_differ() -> None:
    assert call_forms("bend") == [BEND_FUNCTION, BEND_METHOD]


@pytest.mark.parametrize(("owner", "expected"), [("torch", BEND_FUNCTION), ("Tensor", BEND_METHOD)])
def test_forms_of_the_function_or_the_method_alone(owner: str, expected: str) -> None:
    assert call_forms("bend", owner) == [expected]


def test_storages_have_a_section_of_their_own() -> None:
    assert call_forms("fill", "Storage")[0].startswith("s:fill(...)\n    *Storage* double\n")
    assert len(call_forms("fill")) == 2


@pytest.mark.parametrize("name", ["nowhere", "operator_add", "multinomialAlias_"])
def test_other_names_have_none(name: str) -> None:
    assert call_forms(name) == []


def test_there_are_forms_for_every_operation() -> None:
    for name in TABLE:
        if "_" not in name and "." not in name:
            assert call_forms(name), name

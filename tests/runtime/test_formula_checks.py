"""A row whose formula does not suit its implementation is refused when rows are checked."""

from typing import Any

import pytest

from tests.data_files import data
from tests.formula_checks import check_formulas
from th_shell.runtime.calls.table import TABLE, op


def _implementation(r: Any, t: Any, value: float) -> None: ...


@pytest.mark.parametrize(("form", "formulas", "problem"), data(__file__, "test_wrong_formulas"))
def test_wrong_formulas(
    monkeypatch: pytest.MonkeyPatch, form: str, formulas: dict[str, Any], problem: str
) -> None:
    monkeypatch.setitem(TABLE, "tried", [])
    op("tried", method=form, **formulas)(_implementation)
    with pytest.raises(ValueError, match=f"^tried, .*{problem}"):
        check_formulas()


def test_all_rows_suit() -> None:
    check_formulas()

"""All classes of nn have a row or a reason, and the manual says what they become."""

from __future__ import annotations

from tests.runtime.export.coverage import CLASSES, PAGE, START, own_name, table
from th_shell.runtime.export.modules import row_of
from th_shell.runtime.export.rows.refused import REASONS, reason_of


def test_all_classes_are_known() -> None:
    names = map(own_name, CLASSES)
    assert [name for name in names if row_of(name) is None and reason_of(name) is None] == []


def test_no_class_has_both() -> None:
    assert [name for name in REASONS if row_of(name) is not None] == []


def test_the_table_is_up_to_date() -> None:
    text = f"{START}{table()}"
    assert text in PAGE.read_text(), "write it: python -m tests.runtime.export.coverage"

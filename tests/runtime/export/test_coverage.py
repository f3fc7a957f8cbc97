"""All classes of nn have a row or a reason, and the manual says what they become."""

from __future__ import annotations

from tests.runtime.export.coverage import CLASSES, PAGE, START, own_name, table
from th_shell.runtime.export.modules import reasons, rows


def test_all_classes_are_known() -> None:
    known = {*rows(), *reasons()}
    assert [name for name in CLASSES if own_name(name) not in known] == []


def test_no_class_has_both() -> None:
    assert not rows().keys() & reasons().keys()


def test_the_table_is_up_to_date() -> None:
    text = f"{START}{table()}"
    assert text in PAGE.read_text(), "write it: python -m tests.runtime.export.coverage"

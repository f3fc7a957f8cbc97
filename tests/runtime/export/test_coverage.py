"""All classes of nn have a row or a reason why they are not converted."""

from pathlib import Path

from th_shell.runtime.export.modules import REASONS, reason_of, row_of

CLASSES = (Path(__file__).parents[2] / "data" / "export" / "classes.txt").read_text().split()


def test_all_classes_are_known() -> None:
    for name in CLASSES:
        names = [name, f"nn.{name.partition('.')[2]}"]  # most of cudnn's are those of nn
        assert any(row_of(each) or reason_of(each) for each in names), name


def test_no_class_has_both() -> None:
    assert [name for name in REASONS if row_of(name) is not None] == []

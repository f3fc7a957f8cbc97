"""The names that Lua has of the operations are those of the table of operations."""

from tests.operation_names import PATH, listing


def test_the_names_are_up_to_date() -> None:
    assert PATH.read_text() == listing(), "write them: .venv/bin/python -m tests.operation_names"

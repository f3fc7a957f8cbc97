"""The names that Lua has of the operations are those of the table of operations."""

from th_shell.runtime.host.operation_names import PATH, listing


def test_the_names_are_up_to_date() -> None:
    assert PATH.read_text() == listing(), (
        "write them: python -m th_shell.runtime.host.operation_names"
    )

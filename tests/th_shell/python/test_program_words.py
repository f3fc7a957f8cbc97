from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.python.programs import PythonOptions, parse
from th_shell.visible import UsageError


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ([], PythonOptions()),
        (["a.py", "-i", "b"], PythonOptions("file", "a.py", ("-i", "b"))),
        (["-i", "a.py"], PythonOptions("file", "a.py", interactive=True)),
        (["--interactive"], PythonOptions(interactive=True)),
        (["-c", "x", "-c"], PythonOptions("code", "x", ("-c",))),
        (["-e", "x"], PythonOptions("code", "x")),
        (["-m", "json.tool", "a"], PythonOptions("module", "json.tool", ("a",))),
        (["-", "a"], PythonOptions("input", "", ("a",))),
        (["--torch", "installed"], PythonOptions(installed=True)),
        (["--torch", "th", "a.py"], PythonOptions("file", "a.py")),
    ],
)
def test_what_a_command_line_asks_for(line: list[str], expected: PythonOptions) -> None:
    assert parse(line) == expected


@pytest.mark.parametrize(("line", "message"), data(__file__, "test_what_it_does_not_understand"))
def test_what_it_does_not_understand(line: list[str], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(line)
    assert str(raised.value) == message

from __future__ import annotations

import pytest

from th_shell.options import Action, Options, UsageError, parse

STATEMENT = Action("statement", "print(1)")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ([], Options()),
        (["-e", "print(1)"], Options((STATEMENT,), arguments=("-e", "print(1)"))),
        (["-l", "nn"], Options((Action("library", "nn"),), arguments=("-l", "nn"))),
        (["-lnn", "a.lua"], Options((Action("library", "nn"),), script="a.lua")),
        (["-i"], Options(interactive=True, arguments=("-i",))),
        (["--interactive", "a.lua"], Options(interactive=True, script="a.lua")),
        (["-h"], Options(help=True)),
        (["--jupyter"], Options(jupyter=())),
        (["--jupyter", "install", "--user"], Options(jupyter=("install", "--user"))),
        (["a.lua", "--help", "-x"], Options(script="a.lua", arguments=("--help", "-x"))),
        (["-", "a", "b"], Options(script="-", arguments=("a", "b"))),
        (
            ["-e", "print(1)", "-lnn", "-e", "print(1)", "a.lua", "b"],
            Options(
                (STATEMENT, Action("library", "nn"), STATEMENT), script="a.lua", arguments=("b",)
            ),
        ),
    ],
)
def test_what_a_command_line_asks_for(line: list[str], expected: Options) -> None:
    assert parse(line) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["-z"], "unrecognized option -z"),
        (["--nothing", "a.lua"], "unrecognized option --nothing"),
        (["-e"], "-e needs a statement"),
        (["-l"], "-l needs a name"),
    ],
)
def test_what_is_no_command_line(line: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert str(caught.value) == message

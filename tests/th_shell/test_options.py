from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.options import Action, Options, parse
from th_shell.visible import UsageError

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
        (["-h"], Options(prints="help")),
        (["-i", "--version"], Options(prints="version")),
        (["-v"], Options(prints="version")),
        (["--config"], Options(prints="config")),
        (["-g", "a.lua"], Options(monitor="warn", script="a.lua")),
        (["--gglobals"], Options(monitor="error", arguments=("--gglobals",))),
        (["-g", "-gg", "-"], Options(monitor="error", script="-")),
        (["--jupyter"], Options(program="jupyter")),
        (
            ["--jupyter", "install", "-x"],
            Options(program="jupyter", words=("install", "-x")),
        ),
        (["--install", "nn"], Options(program="install", words=("nn",))),
        (["a.lua", "--help", "-x"], Options(script="a.lua", arguments=("--help", "-x"))),
        (["--python"], Options(program="python")),
        (["--python", "-i", "a.py"], Options(program="python", words=("-i", "a.py"))),
        (["--python", "--help"], Options(prints="help")),
        (["--check", "--json", "a"], Options(program="check", words=("--json", "a"))),
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


@pytest.mark.parametrize(("line", "message"), data(__file__, "test_what_is_no_command_line"))
def test_what_is_no_command_line(line: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert str(caught.value) == message

"""CMake's language: the values are those that CMake 3.25 prints (`cmake -P`)."""

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.packages.cmake_commands import ACTS
from th_shell.packages.cmake_language import MOST_COMMANDS, Interpreter, Stop, parse
from th_shell.packages.cmake_lists import CMakeLists


def value(script: str, folder: Path) -> str:
    """Run a script; return what is between brackets for each of its messages."""
    messages = list[str]()
    acts = {**ACTS, "message": lambda _, words: messages.append("".join(words))}
    run = Interpreter(acts)
    run.variables["CMAKE_CURRENT_SOURCE_DIR"] = str(folder)
    run.run(parse(script))
    return "|".join(messages)


@pytest.mark.sample(12)
@pytest.mark.parametrize(("script", "printed"), data(__file__, "SCRIPTS"))
def test_values_are_those_of_cmake(tmp_path: Path, script: str, printed: str) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a.lua", "b/c.lua", "d.txt"):
        (tmp_path / name).touch()
    assert value(script, tmp_path) == printed


@pytest.mark.parametrize(
    "script",
    data(__file__, "test_what_has_no_end_is_stopped"),
)
def test_what_has_no_end_is_stopped(tmp_path: Path, script: str) -> None:
    with pytest.raises((Stop, RecursionError)):
        value(script, tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(script)
    assert CMakeLists(tmp_path).places == {}
    assert MOST_COMMANDS <= 100_000


@pytest.mark.parametrize(
    "command",
    ["foreach()", "foreach(i RANGE)", "function()", "macro()", "set()", "list(GET)", "if(", "))"]
    + [f'{name} "{"x" * 5000}")' for name in ("if(EXISTS", "if(IS_DIRECTORY", "install(FILES")],
)
def test_odd_commands_do_nothing(tmp_path: Path, command: str) -> None:
    (tmp_path / "init.lua").touch()
    good = "install(FILES init.lua DESTINATION ${LUADIR}/p)"
    text = command.replace('")', '" DESTINATION ${LUADIR})') if "FILES" in command else command
    (tmp_path / "CMakeLists.txt").write_text(f"{good}\n{text}\n")
    assert list(CMakeLists(tmp_path).places) == ["p/init.lua"]


def test_a_package_without_a_name_for_torch(tmp_path: Path) -> None:
    """A loop over all files installs each in its folder, but for those that a list leaves out."""
    (tmp_path / "CMakeLists.txt").write_text(
        data(__file__, "test_a_package_without_a_name_for_torch")
    )
    for name in ("init.lua", "asserts.lua", "specs/x.lua", "parts/y.lua"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(CMakeLists(tmp_path).places) == ["Frames/init.lua", "Frames/parts/y.lua"]


@pytest.mark.parametrize(
    ("words", "places"),
    data(__file__, "test_installed_folders"),
)
def test_installed_folders(tmp_path: Path, words: str, places: list[str]) -> None:
    (tmp_path / "lib" / "test").mkdir(parents=True)
    (tmp_path / "lib" / "a.lua").touch()
    for name in ("b.lua", "c.jpg", "d.c", "lua"):
        (tmp_path / "lib" / "test" / name).touch()
    what, _, rest = words.partition(" ")
    to = rest if rest.startswith("DESTINATION") else f"DESTINATION ${{LUADIR}}/p {rest}"
    (tmp_path / "CMakeLists.txt").write_text(f"install(DIRECTORY {what} {to})")
    assert sorted(CMakeLists(tmp_path).places) == places

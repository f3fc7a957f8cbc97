"""The lines under an input with a call that is typed, at a terminal of its own."""

from pathlib import Path

import pytest

from tests.th_shell.terminals import Terminal


@pytest.fixture
def settings(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    path = tmp_path / "config.toml"
    path.write_text("signatures = false\n")
    return {**environment, "TH_CONFIG": str(path)}


@pytest.mark.thorough
def test_the_call_that_is_typed_is_shown(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal()
    with terminal.running(command, env=environment):
        terminal.until(b"th> ")
        terminal.press(b"function add(first, ...) end\r")
        terminal.until(b"th> ")
        terminal.press(b"add(1, ")
        terminal.until(b"add(first, ...)")
        terminal.press(b"string.rep('a', ")
        terminal.until(b"string.rep(text, count, [separator])")
        terminal.press(b"2))\r")
        terminal.until(b"th> ")
    terminal.close()


@pytest.mark.thorough
def test_a_setting_hides_it(command: list[str], settings: dict[str, str]) -> None:
    terminal = Terminal()
    with terminal.running(command, env=settings):
        terminal.until(b"th> ")
        terminal.press(b"function add(first, ...) end\r")
        terminal.until(b"th> ")
        terminal.press(b"add(1, 2) 'a'")
        terminal.until(b"'a'")
        assert not terminal.shows(b"add(first, ...)", 0.5)
    terminal.close()

from __future__ import annotations

from pathlib import Path

import pytest

from th_shell.session.system_commands import run_command


@pytest.mark.parametrize(
    ("line", "expected"), [("echo a b", b"a b\n"), ("printf '\\377'", b"\xff"), ("true", b"")]
)
def test_output_is_shown_and_returned(line: str, expected: bytes) -> None:
    shown: list[bytes] = []
    assert run_command(line, shown.append) == expected
    assert b"".join(shown) == expected


def test_a_command_that_ctrl_c_ends_leaves_a_new_line() -> None:
    shown: list[bytes] = []
    assert run_command("kill -INT $$", shown.append) == b""
    assert shown == [b"\n"]


def test_cd_changes_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir("/")
    shown: list[bytes] = []
    assert run_command(f"cd '{tmp_path}'", shown.append) == b""
    assert Path.cwd() == tmp_path.resolve()
    run_command("cd nowhere", shown.append)
    assert shown == [b"cd: nowhere: No such file or directory\n"]

"""Files of people: what is read of them, and what is refused."""

import os
from pathlib import Path

import pytest

from th_shell import files
from th_shell.files import read_file

SPECIAL = "it is a pipe, a device or the like, and no file"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "text").write_bytes(b"a\r\n\xff")
    (tmp_path / "link").symlink_to("text")
    (tmp_path / "large").write_bytes(bytes(101))
    (tmp_path / "fits").write_bytes(bytes(100))
    (tmp_path / "device").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def test_files(folder: Path) -> None:
    assert read_file(folder / "text") == read_file(folder / "link") == b"a\r\n\xff"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pipe", SPECIAL),
        ("device", SPECIAL),
        ("large", "it has more than 0 MB"),
        (".", "Is a directory"),
        ("none", "No such file or directory"),
        ("fits", None),
    ],
)
def test_what_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str | None
) -> None:
    monkeypatch.setattr(files, "_MOST", 100)
    if reason is None:
        assert read_file(folder / name) == bytes(100)
        return
    with pytest.raises(OSError) as raised:
        read_file(folder / name)
    assert raised.value.strerror == reason

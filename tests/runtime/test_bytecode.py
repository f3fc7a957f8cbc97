"""Bytecode of Lua files is kept in the user's cache, and never instead of what a file is now."""

import os
from pathlib import Path
from zlib import crc32

import pytest

from tests.processes import run_th
from th_shell.runtime.core import bytecode

SOURCE = b"return 1"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "a.lua"
    source.write_bytes(SOURCE)
    return os.fsencode(source)


def kept_files(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache/th/bytecode").iterdir())


def test_what_is_kept_comes_back(path: bytes) -> None:
    assert bytecode.kept(path, b"2.1") is None
    bytecode.keep(path, b"2.1", b"\x1bLJ\0\n")
    assert bytecode.kept(path, b"2.1") == b"\x1bLJ\0\n"


def test_only_for_the_file_as_it_is_and_the_compiler(path: bytes) -> None:
    bytecode.keep(path, b"2.1", b"code")
    assert bytecode.kept(path, b"2.2") is None
    assert bytecode.kept(path + b"x", b"2.1") is None
    os.utime(path, ns=(0, 1))
    assert bytecode.kept(path, b"2.1") is None


@pytest.mark.parametrize("at", [0, 3, 10, -1])
def test_what_was_damaged_is_not_used(path: bytes, tmp_path: Path, at: int) -> None:
    bytecode.keep(path, b"2.1", b"code")
    (file,) = kept_files(tmp_path)
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
    assert bytecode.kept(path, b"2.1") is None


def test_nor_what_someone_else_has_written(path: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    bytecode.keep(path, b"2.1", b"code")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert bytecode.kept(path, b"2.1") is None


def test_a_full_cache_begins_anew(
    path: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytecode, "_MOST", 3)
    sources = [tmp_path / f"{i}.lua" for i in range(5)]
    for source in sources:
        source.write_bytes(SOURCE)
        bytecode.keep(os.fsencode(source), b"2.1", b"code")
    assert len(kept_files(tmp_path)) == 2


def test_a_cache_that_cannot_be_written(path: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    bytecode.keep(path, b"2.1", b"code")
    assert bytecode.kept(path, b"2.1") is None


MODULE = """
local class = setmetatable({}, { __len = function() return 7 end })
return { #class, debug.getinfo(1, 'S').source, function() error 'here' end }
"""
PROGRAM = "local m = require 'm' print(m[1], m[2], select(2, pcall(m[3])))"


def test_modules_of_programs(path: bytes, tmp_path: Path) -> None:
    module = tmp_path / "m.lua"
    module.write_text(MODULE)
    lines = "7\t@./m.lua\t./m.lua:3: here\t\n"
    assert run_th("-e", PROGRAM, cwd=tmp_path).stdout == lines
    (kept,) = [file for file in kept_files(tmp_path) if b" ./m.lua\n" in file.read_bytes()]
    data = kept.read_bytes()[4:].replace(b"here", b"kept")
    kept.write_bytes(crc32(data).to_bytes(4, "little") + data)
    assert run_th("-e", PROGRAM, cwd=tmp_path).stdout == lines.replace("here", "kept")
    module.write_text(MODULE.replace("7", "8"))
    assert run_th("-e", PROGRAM, cwd=tmp_path).stdout == lines.replace("7", "8")

"""What was found in programs before is told again, while nothing has changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.processes import run_python
from th_shell.preflight import memory, programs
from th_shell.preflight.command import check
from th_shell.runtime.shell import Engine

Look = Callable[..., "tuple[int, str, str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with programs that build on each other."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "programs"
    (folder / "lib").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "main.lua").write_text("require 'own' helper() y = tabel\nlocal x = 1")
    (folder / "loads.lua").write_text("require 'pack' require 'lib.part'")
    (folder / "own.lua").write_text("one = 1")
    return folder


@pytest.fixture
def look(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Look:
    """Checks files, by default all; anew: whether nothing is remembered of them."""

    def look(*words: str, as_json: bool = False, anew: bool = False) -> tuple[int, str, str]:
        with monkeypatch.context() as context:
            if anew:
                context.setenv("XDG_CACHE_HOME", "/dev/null/none")
            status = check(list(words or ["."]), Engine(), as_json)
        return (status, *capfd.readouterr())

    return look


@pytest.mark.parametrize("as_json", [False, True])
def test_a_second_check_reads_no_program(
    folder: Path, look: Look, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    first = look(as_json=as_json)
    assert first[0] == 1 and "pack" in first[1]
    monkeypatch.setattr(programs, "read", None)
    assert look(as_json=as_json) == first
    with pytest.raises(TypeError):
        look("main.lua", as_json=as_json)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("main.lua", "x = 1"),
        ("own.lua", "function helper() end"),
        ("new.lua", "function helper() end"),
        ("inner/new.lua", "function helper() end"),
        ("lib/part.lua", "function helper() end"),
        ("../own.lua", "function helper() end"),
        ("pack/init.lua", ""),
        ("pack-scm-1.rockspec", ""),
        ("rocks/pack-1-1.rockspec", ""),
    ],
)
def test_what_has_changed_is_seen(folder: Path, look: Look, file: str, text: str) -> None:
    words = ["main.lua"] if file == "new.lua" else ["."]
    first = look(*words)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)
    assert look(*words) == look(*words, anew=True)
    is_other = file != "../own.lua"  # own.lua is found before
    assert (look(*words) != first) == is_other


def test_a_file_that_is_gone_is_seen(folder: Path, look: Look) -> None:
    first = look("main.lua")
    (folder / "own.lua").unlink()
    second = look("main.lua")
    assert second == look("main.lua", anew=True) != first
    (folder / "main.lua").unlink()
    assert look("main.lua") == (2, "", "th: main.lua: No such file or directory\n")


def test_another_version_checks_anew(
    folder: Path, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    look()
    monkeypatch.setattr(programs, "read", None)
    monkeypatch.setattr(memory, "__version__", "0")
    with pytest.raises(TypeError):
        look()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b'{"asked": {"x": {"a": "b"}}}', b'{"asked": []}', b"\xff",
     b'{"asked": {}, "said": 1}', b'{"asked": {}, "said": "", "status": null}', None],
)  # fmt: skip
def test_a_broken_record_counts_for_nothing(
    folder: Path, look: Look, content: bytes | None
) -> None:
    first = look()
    [record] = (folder.parent / "cache/th/check").iterdir()
    if content is None:
        record.unlink()
        record.mkdir()
    else:
        record.write_bytes(content)
    assert look() == first
    assert content is None or look() == first


@pytest.mark.parametrize("place", ["cache", "cache/th", "cache/th/check"])
def test_without_a_folder_that_can_be_written(folder: Path, look: Look, place: str) -> None:
    path = folder.parent / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("no folder")
    first = look()
    assert first[0] == 1
    assert look() == first
    assert path.read_text() == "no folder"


def test_each_command_line_has_one_record(folder: Path, look: Look) -> None:
    records = folder.parent / "cache/th/check"
    look("own.lua")
    look(".")
    (folder / "new.lua").write_text("")
    second = look(".")
    assert second == look(".", anew=True)
    assert len(list(records.iterdir())) == 2
    shutil.rmtree(records)
    assert look(".") == second


@pytest.mark.thorough
def test_processes_do_not_disturb_each_other(
    folder: Path, environment: dict[str, str], look: Look
) -> None:
    expected = look(anew=True)
    variables = environment | {"XDG_CACHE_HOME": str(folder.parent / "cache")}

    def run(_: int) -> tuple[int, str, str]:
        done = run_python("-m", "th_shell", "--check", ".", cwd=folder, env=variables)
        return done.returncode, done.stdout, done.stderr

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(run, range(8))) == {expected}
    [record] = (folder.parent / "cache/th/check").iterdir()
    assert record.suffix == ".json"

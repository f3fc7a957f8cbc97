from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.config import Config, config_path, load, overview


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def loaded(path: Path, text: str) -> Config:
    path.write_text(text)
    return load({"TH_CONFIG": str(path)})


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert config_path({}) == Path("/home/me/.config/th/config.toml")
    assert config_path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/th/config.toml")
    assert config_path({"XDG_CONFIG_HOME": "/x", "TH_CONFIG": "~/a"}) == Path("/home/me/a")


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    config = load({"XDG_CONFIG_HOME": str(tmp_path)})
    assert config == Config(tmp_path / "th" / "config.toml")
    assert (config.theme, config.keys, config.elide, config.indent) == (
        "terminal",
        "emacs",
        1000,
        2,
    )


def test_values_are_read(path: Path) -> None:
    text = 'theme = "monokai"\nkeys = "vi"\nelide = 7\n[history]\npath = "/h"\nsize = 3\n'
    expected = Config(path, theme="monokai", keys="vi", elide=7, history_path="/h", history_size=3)
    assert loaded(path, text) == expected


@pytest.mark.parametrize(
    ("text", "warning"), data(__file__, "test_what_is_wrong_is_told_and_has_its_default")
)
def test_what_is_wrong_is_told_and_has_its_default(path: Path, text: str, warning: str) -> None:
    assert loaded(path, f"elide = 5\n{text}") == Config(path, (f"{path}: {warning}",), elide=5)


def test_a_file_that_cannot_be_read_is_a_warning(path: Path) -> None:
    (only,) = loaded(path, "keys = \n").warnings
    assert only.startswith(f"{path}: Invalid value (at line 1") and "\n" not in only
    path.write_bytes(b"\xff")
    assert load({"TH_CONFIG": str(path)}).warnings == (f"{path}: not in UTF-8",)
    path.unlink()
    assert load({"TH_CONFIG": str(path)}).warnings == (f"{path}: no such file",)
    path.mkdir()
    assert load({"TH_CONFIG": str(path)}).warnings == (f"{path}: Is a directory",)


def test_the_overview_is_a_file_of_all_settings(path: Path) -> None:
    config = loaded(path, 'keys = "vi"\n[history]\nsize = 9')
    text = overview(config)
    assert text.startswith(f"# {path}\n")
    path.write_text(text)
    assert load({"TH_CONFIG": str(path)}) == config
    assert len(text.splitlines()) == 1 + len(fields(Config)) - len(("path", "warnings"))


def test_the_overview_names_what_is_wrong(path: Path) -> None:
    config = loaded(path, "elide = -1")
    assert f"# wrong: {path}: elide must be a whole number from 0" in overview(config)
    path.unlink()
    assert overview(Config(path)).startswith(f"# {path} (not there: these are the defaults)\n")

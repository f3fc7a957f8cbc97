"""CONTRIBUTING.md is a walk: in a clone, its commands print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
PAGE = (TOP / "CONTRIBUTING.md").read_text("utf-8")
REPOSITORY = "https://github.com/OWNER/th"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)


def make_environment(checkout: Path) -> None:
    """Make the .venv of a checkout: its own th_shell, and the libraries that are here."""
    venv = checkout / ".venv"
    command = [sys.executable, "-I", "-m", "venv", "--without-pip", str(venv)]
    subprocess.run(command, check=True)
    site = next(venv.glob("lib/*/site-packages"))
    (site / "checkout.pth").write_text(f"{checkout}/.editable\n{sysconfig.get_path('purelib')}\n")
    for name in ("run", "test"):
        (venv / f".installed-{name}").touch()


@pytest.mark.thorough
def test_the_walk(tmp_path: Path) -> None:
    if not (TOP / ".git").exists():
        pytest.skip("this is no repository of git")
    (tmp_path / "gitconfig").write_text(
        f'[url "{TOP}"]\n\tinsteadOf = {REPOSITORY}\n[user]\n\tname = A\n\temail = a@b\n'
        "[advice]\n\tdetachedHead = false\n"  # this may be a checkout of a tag
    )
    env = {**os.environ, "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"), "TMPDIR": str(tmp_path)}
    folder = tmp_path
    for kind, text in _BLOCK.findall(PAGE):
        if kind == "diff":
            subprocess.run(["git", "apply", "-"], cwd=folder, input=text.encode(), check=True)
            continue
        for command, shown in _COMMAND.findall(text):
            if command == "cd th":
                folder = tmp_path / "th"
                make_environment(folder)
                continue
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=env,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=300,
            )
            assert f"$ {command}\n{done.stdout}".replace("\t", "") == f"$ {command}\n{shown}"
    assert folder.name == "th"


def test_the_walk_adds_what_is_missing() -> None:
    """Whoever adds the function of the walk finds another one for it."""
    import th_shell.torch as torch

    (name,) = set(re.findall(r"has no attribute '(\w+)'", PAGE))
    assert not hasattr(torch, name)

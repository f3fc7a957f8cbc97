"""Folders of packages: a change is made as a whole, or not at all."""

import os
import shutil
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from th_shell.packages.tree import Record, Tree
from th_shell.visible import UsageError

OLD = {"base/init.lua": "1", "base/sub/part.lua": "1", "single.lua": "1"}
NEW = {"base/init.lua": "2", "base/new/part.lua": "2", "other.lua": "2"}
OTHERS = {"base/own.lua": "mine", "upper/init.lua": "up"}


class Killed(BaseException):
    """Ends a command as a signal would."""


def install(tree: Tree, version: str, files: dict[str, str]) -> None:
    """Install a version of the package `base`, from files beside the tree."""
    sources = tree.folder.parent / f"sources{version}"
    for name, text in files.items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(text)
    tree.install(
        Record("base", version, "here", "", sorted(files), ()),
        {name: sources / name for name in files},
    )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A tree with a version of `base`, and with files of others."""
    found = Tree(tmp_path / "tree")
    install(found, "1", OLD)
    for name, text in OTHERS.items():
        (found.folder / name).parent.mkdir(exist_ok=True)
        (found.folder / name).write_text(text)
    return found


def contents(tree: Tree) -> dict[str, str]:
    """All files but records."""
    paths = [path for path in tree.folder.rglob("*") if path.is_file()]
    names = {path.relative_to(tree.folder).as_posix(): path for path in paths}
    return {name: path.read_text() for name, path in names.items() if name[:4] != ".th/"}


def is_killed(act: Callable[[], None], step: int, patch: pytest.MonkeyPatch) -> bool:
    """Run a change that is killed before a step of its own; returns whether it was."""
    steps = iter(range(step))

    def dying(step: Callable[..., Any]) -> Callable[..., Any]:
        def take(*args: Any, **named: Any) -> Any:
            if next(steps, None) is None:
                raise Killed
            return step(*args, **named)

        return take

    with patch.context() as patched:
        for owner, names in ((os, "replace mkdir rmdir"), (shutil, "copy2")):
            for name in names.split():
                patched.setattr(owner, name, dying(getattr(owner, name)))
        try:
            act()
        except Killed:
            return True
    return False


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "after"),
    [
        (lambda tree: install(tree, "2", NEW), {**NEW, **OTHERS}),
        (lambda tree: tree.remove(["base"]), OTHERS),
    ],
    ids=["install", "remove"],
)
def test_a_change_that_is_killed_is_made_or_not(
    tree: Tree,
    change: Callable[[Tree], None],
    after: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = tree.folder.with_name("kept")
    shutil.copytree(tree.folder, kept)
    found = []
    for step in count():
        if not is_killed(lambda: change(tree), step, monkeypatch):
            break
        records = Tree(tree.folder).records()  # the next call
        found.append("base" in records and records["base"].version == "1")
        assert contents(tree) == ({**OLD, **OTHERS} if found[-1] else after)
        assert set(os.listdir(tree.folder / ".th")) <= {"base.json"}
        shutil.rmtree(tree.folder)
        shutil.copytree(kept, tree.folder)
    assert contents(tree) == after
    assert set(found) == {True, False} and found == sorted(found, reverse=True)


def test_what_fails_changes_nothing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("no space")

    monkeypatch.setattr(shutil, "copy2", fail)
    with pytest.raises(OSError, match="no space"):
        install(tree, "2", {"third.lua": "3"})
    assert contents(tree) == {**OLD, **OTHERS}
    assert tree.records()["base"].version == "1"


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "none")
    assert tree.records() == {}
    with pytest.raises(UsageError, match="^x is not installed in "):
        tree.remove(["x"])
    assert not tree.folder.exists()


def test_a_change_waits_for_another(tree: Tree) -> None:
    remover = threading.Thread(target=tree.remove, args=(["base"],))
    with tree._alone():
        remover.start()
        remover.join(0.1)
        assert contents(tree) == {**OLD, **OTHERS}
    remover.join()
    assert contents(tree) == OTHERS

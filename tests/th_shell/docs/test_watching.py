"""Which pages run again when files change."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from th_shell.docs.command import watching
from th_shell.docs.command.selection import find_pages

Step = Callable[[], object]


def _write(name: str) -> Step:
    return lambda: Path(name).write_text(f"{name} {os.urandom(4).hex()}")


class Stop(Exception):
    """Ends what would go on until Ctrl-C."""


@pytest.mark.parametrize(
    ("steps", "runs"),
    [
        ([], [["a.md", "b.md"]]),
        ([_write("a.md")], [["a.md", "b.md"], ["a.md"]]),
        ([_write("b.md.th-docs")], [["a.md", "b.md"], ["b.md"]]),
        ([_write("c.md")], [["a.md", "b.md"], ["c.md"]]),
        ([_write("b.mdx"), _write("notes")], [["a.md", "b.md"]]),
        ([_write("th-docs.toml")], [["a.md", "b.md"], ["a.md", "b.md"]]),
        ([_write("shared/x")], [["a.md", "b.md"], ["a.md", "b.md"]]),
        ([lambda: os.unlink("a.md"), _write("b.md")], [["a.md", "b.md"], ["b.md"]]),
        ([_write("a.md"), _write("a.md")], [["a.md", "b.md"], ["a.md"], ["a.md"]]),
    ],
)
def test_what_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Step], runs: list[list[str]]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shared").mkdir()
    _write("a.md")()
    _write("b.md")()
    found: list[list[str]] = []
    left = list(steps)

    def pause(seconds: float) -> None:
        if seconds == watching._PAUSE:
            if not left:
                raise Stop
            left.pop(0)()

    def run(pages: Sequence[Path]) -> None:
        found.append([page.name for page in pages])

    monkeypatch.setattr(watching.time, "sleep", pause)
    with pytest.raises(Stop):
        watching.watch(lambda: find_pages(["."]), run, [Path("shared")])
    assert found == runs


def test_what_changes_during_a_run_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("one")
    times = iter([True, False, False])

    def run(_: Sequence[Path]) -> None:
        if next(times):
            page.write_text("another")

    def pause(seconds: float) -> None:
        if seconds == watching._PAUSE and len(looks) > 2:
            raise Stop
        looks.append(seconds)

    looks: list[float] = []
    monkeypatch.setattr(watching.time, "sleep", pause)
    with pytest.raises(Stop):
        watching.watch(lambda: [page], run)
    assert list(times) == [False]

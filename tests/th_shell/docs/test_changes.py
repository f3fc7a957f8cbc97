"""Which pages have changed since a commit."""

import subprocess
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.cli import main
from th_shell.docs.selection import changed_pages, find_pages
from th_shell.visible import UsageError


def git(*words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *who, *words], check=True, capture_output=True, text=True).stdout


def commit() -> None:
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message=more")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with two pages in its branch main, and a branch that is checked out."""
    monkeypatch.chdir(tmp_path)
    Path("docs/deep").mkdir(parents=True)
    for page in ("docs/a.md", "docs/deep/b.md"):
        Path(page).write_text("text\n")
    git("init", "--quiet", "--initial-branch=main")
    commit()
    git("checkout", "--quiet", "-b", "branch")


def changed(base: str = "", word: str = ".") -> list[str]:
    return [str(page) for page in changed_pages(find_pages([word]), base)]


def test_nothing_has_changed() -> None:
    assert changed() == changed("HEAD") == []


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "pages"), data(__file__, "test_what_makes_a_page_a_changed_one"))
def test_what_makes_a_page_a_changed_one(file: str, pages: list[str]) -> None:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text("# more\n")
    assert changed() == changed("HEAD") == changed("main") == pages
    git("add", "--all")
    assert changed() == pages
    commit()
    assert changed() == changed("main") == changed("HEAD~") == pages
    assert changed("HEAD") == []


@pytest.mark.thorough
def test_changes_of_the_other_branch_do_not_count() -> None:
    Path("docs/a.md").write_text("more\n")
    commit()
    git("checkout", "--quiet", "main")
    Path("docs/deep/b.md").write_text("more\n")
    commit()
    assert changed() == []
    assert changed("branch") == ["docs/deep/b.md"]
    git("checkout", "--quiet", "branch")
    assert changed() == changed("main") == ["docs/a.md"]


@pytest.mark.thorough
def test_the_branch_that_is_followed_counts_and_the_main_branch() -> None:
    Path("docs/a.md").write_text("more\n")
    commit()
    git("checkout", "--quiet", "-b", "topic", "--track")
    Path("docs/deep/b.md").write_text("more\n")
    assert changed("branch") == ["docs/deep/b.md"]
    assert changed() == ["docs/a.md", "docs/deep/b.md"]
    git("branch", "--delete", "--force", "main")
    assert changed() == ["docs/deep/b.md"]
    git("branch", "--unset-upstream")
    commit()
    assert changed() == []  # since HEAD


def test_ignored_and_deleted_pages_do_not_count() -> None:
    Path(".git/info/exclude").write_text("new.md\n")
    Path("docs/new.md").write_text("text\n")
    Path("docs/a.md").unlink()
    assert changed() == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("link", "target", "other", "pages"),
    data(__file__, "test_a_link_that_points_elsewhere"),
)
def test_a_link_that_points_elsewhere(link: str, target: str, other: str, pages: list[str]) -> None:
    Path(link).symlink_to(target)
    commit()
    Path(link).unlink()
    Path(link).symlink_to(other)
    assert changed("HEAD") == pages


def test_what_pages_may_depend_on_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    for file in ("lib/b.lua", "lib/a.lua"):
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).touch()
    changed(word="docs/a.md")
    assert capfd.readouterr().err.endswith(", or may depend on lib/a.lua and 1 more\n")


def test_a_folder_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("docs/a.md").write_text("more\n")
    monkeypatch.chdir("docs/deep")
    Path("b.md").write_text("more\n")
    assert changed(word="b.md") == ["b.md"]
    assert changed(word="..") == ["../a.md", "../deep/b.md"]


def test_what_git_cannot_tell(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="^fatal: Not a valid object name nothing$"):
        changed("nothing")
    with pytest.raises(UsageError, match=f"^/dev/null is not in the repository {tmp_path}$"):
        changed(word="/dev/null")
    git("checkout", "--quiet", "--orphan", "apart")
    Path("docs/a.md").write_text("more\n")  # else it could be the same commit
    commit()
    with pytest.raises(UsageError, match="^git failed: merge-base --octopus HEAD main$"):
        changed("main")


@pytest.mark.thorough
def test_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--changed"]) == 0
    out, err = capfd.readouterr()
    assert (out, err[:-11]) == ("", "th-docs: 0 of 2 pages have changed since ")
    Path("docs/a.md").write_text("more\n")
    assert main(["docs", "--changed=main", "--json", "out.json"]) == 0
    assert capfd.readouterr().out == "docs/a.md: no examples\n"
    Path("docs/a.md").write_text("```\n> 1\n2\n```\n")
    assert main(["docs", "--changed"]) == 1


@pytest.mark.parametrize("words", data(__file__, "test_pages_may_stand_behind_the_option"))
def test_pages_may_stand_behind_the_option(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("docs/a.md").write_text("more\n")
    commit()
    git("branch", "docs")
    assert main(words) == 0
    assert capfd.readouterr().out == "docs/a.md: no examples\n"


def test_outside_of_git(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd()))
    monkeypatch.chdir("docs")
    with pytest.raises(SystemExit) as caught:
        main([".", "--changed"])
    assert caught.value.code == 2
    problem = "fatal: not a git repository (or any of the parent directories): .git"
    assert capfd.readouterr().err.endswith(f"th-docs: error: --changed: {problem}\n")

"""The public sources that the instrument runs: which they are, and their files at hand.

Nothing of theirs is in this repository: lists name the repository, the commit and the path. A
folder holds bare copies of the repositories (`OWNER+NAME.git`), which are cloned where they are not
there yet, and what is made of them: `trees` has their files, `lua` the Lua packages that pages of
Torch7 require, `python` an environment with what pages in Python import.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).parent
_TH = HERE.parents[1] / "scripts" / "th"


@dataclass(frozen=True, order=True)
class Source:
    """A repository at a commit."""

    #: `owner/name` on GitHub.
    repository: str
    commit: str

    @property
    def name(self) -> str:
        """Return the name of files about the repository: `owner+name`."""
        return self.repository.replace("/", "+")


@dataclass(frozen=True, order=True)
class Page:
    """A page of documentation in a repository."""

    source: Source
    path: str
    #: The folder of the repository that has its modules, or '' where others bring them.
    modules: str = ""
    #: Code that runs before it, as the page assumes, or ''; in Python if it imports, else in Lua.
    prelude: str = ""
    #: Further words for th-docs.
    options: str = ""


def listed_pages() -> list[Page]:
    """Return the pages of `pages.tsv`."""
    return [
        Page(Source(row.pop("repository"), row.pop("commit")), **row) for row in rows("pages.tsv")
    ]


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a list beside this module; a missing value is ''."""
    titles, *lines = ((HERE / name).read_text()).splitlines()
    return [dict(zip_longest(titles.split("\t"), line.split("\t"), fillvalue="")) for line in lines]


@dataclass(frozen=True)
class Folder:
    """The folder that has the copies of repositories, and what is made of them."""

    path: Path

    @property
    def results(self) -> Path:
        """The folder for what runs write."""
        place = self.path / "results"
        place.mkdir(parents=True, exist_ok=True)
        return place

    def tree(self, source: Source) -> Path:
        """Return the folder with the files of a source; raises CalledProcessError."""
        tree = self.path / "trees" / f"{source.name}@{source.commit[:12]}"
        if not tree.exists():
            making = tree.with_suffix(".part")
            making.mkdir(parents=True, exist_ok=True)
            git = [*self._git(source), f"--work-tree={making}"]
            index = {**os.environ, "GIT_INDEX_FILE": str(making.with_suffix(".index"))}
            subprocess.run([*git, "read-tree", source.commit], env=index, check=True)
            # A copy may lack large files, such as models: the others are written all the same.
            subprocess.run([*git, "checkout-index", "-aqf"], env=index, stderr=subprocess.DEVNULL)
            making.rename(tree)
        return tree

    def _git(self, source: Source) -> list[str]:
        """Return the words that begin a command of git on a repository, which is cloned if new."""
        bare = self.path / f"{source.name}.git"
        if not bare.exists():
            address = f"https://github.com/{source.repository}"
            subprocess.run(["git", "clone", "--quiet", "--bare", address, bare], check=True)
        return ["git", f"--git-dir={bare}"]

    def install_lua(self) -> Iterator[str]:
        """Install the packages of `packages.tsv`; yield what fails, a line each."""
        done = self.path / "lua" / "installed.txt"
        installed = done.read_text().splitlines() if done.exists() else []
        for row in rows("packages.tsv"):
            source = Source(row["repository"], row["commit"])
            line = f"{source.repository} {source.commit}"
            if line in installed:
                continue
            command = [str(_TH), "--install", str(self.tree(source))]
            run = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
            if run.returncode:
                yield f"{source.repository}: {(run.stderr or run.stdout).strip()}"
                continue
            with open(done, "a") as file:
                file.write(line + "\n")

    def install_python(self) -> None:
        """Make the environment for pages in Python, where its list of packages is another one."""
        wanted = HERE / "python.txt"
        done = self.path / "python" / wanted.name
        if done.exists() and done.read_text() == wanted.read_text():
            return
        subprocess.run([sys.executable, "-m", "venv", done.parent], check=True)
        pip = [done.parent / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", wanted]
        subprocess.run(pip, check=True)
        done.write_text(wanted.read_text())

    @property
    def python(self) -> Path:
        """Return the Python that runs pages."""
        return self.path / "python" / "bin" / "python"

    def environment(self) -> dict[str, str]:
        """Return the environment of programs that run what is in the folder."""
        return {**os.environ, "XDG_DATA_HOME": str(self.path / "lua"), "COLUMNS": "100"}

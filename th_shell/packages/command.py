"""``th --install``, ``--list`` and ``--remove``: reads their words, and tells what was done."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from th_shell.packages import rockspec
from th_shell.packages.place import users_tree
from th_shell.packages.sources import about_c_code, fetch, provided_by_th, source_of
from th_shell.packages.tree import Record, Tree, has_c_code, lua_files, package_name
from th_shell.visible import UsageError, complain, read_words

_FAILURE = 1


def run(what: str, words: Sequence[str]) -> int:
    """Do it; returns the exit status. what: 'install', 'list' or 'remove'. Raises UsageError."""
    names, tree = _read(what, words)
    try:
        if what == "list":
            _list(tree)
        elif what == "remove":
            for name in names:
                tree.remove(name)
        else:
            return _Installation(tree).install(names)
    except (UsageError, OSError) as error:
        return _fail(error)
    return 0


def _fail(error: Exception | str) -> int:
    complain(error)
    return _FAILURE


def _read(what: str, words: Sequence[str]) -> tuple[list[str], Tree]:
    names, said = read_words(what, words, {"--tree": "a folder"})
    if bool(names) == (what == "list"):
        problem = "takes no names" if names else "needs names of packages"
        raise UsageError(f"--{what} {problem}" + ("" if names else ", URLs of git, or folders"))
    return names, Tree(Path(said.get("--tree", users_tree())))


def _list(tree: Tree) -> None:
    for record in tree.records().values():
        commit = record.commit[:12] or "no commit"
        print(f"{record.name} {record.version} ({commit}) from {record.source}")


class _Installation:
    """Installs packages and what they need, each once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._done: set[str] = set()
        self._given: set[str] = set()
        self._status = 0

    def install(self, given: Sequence[str]) -> int:
        """Install packages by their names, or from URLs and folders; returns the exit status.

        What a package needs and cannot be installed is told, and the rest goes on.
        """
        self._given = {_short(word) for word in given}
        for word in given:
            if "/" in word or "\\" in word or word.startswith(".") or ":" in word:
                self._install_from(word, _short(word))
            else:
                self._install_known(word)
        return self._status

    def _install_known(self, name: str, needed_by: str = "") -> None:
        if name in self._done:
            return
        self._done.add(name)
        if provided_by_th(name):
            if not needed_by:
                print(f"{name} is part of th")
        elif needed_by and (name in self._given or name in self._tree.records()):
            return
        else:
            source = source_of(name)
            if source is None:
                raise UsageError(
                    f"the sources of {name} are not known: give the URL of its repository"
                )
            self._install_from(source, name)

    def _install_needed(self, name: str, needed_by: str) -> None:
        try:
            self._install_known(name, needed_by)
        except UsageError as error:
            self._status = _fail(f"{needed_by} needs {name}: {error}")

    def _install_from(self, source: str, fallback: str) -> None:
        with tempfile.TemporaryDirectory(prefix="th-install-") as folder:
            checkout = Path(folder) / "sources"
            commit = fetch(source, checkout)
            spec = rockspec.read(checkout)
            name = package_name(checkout, spec, fallback)
            files = lua_files(checkout, spec, name)
            if not files:
                raise UsageError(f"{source} has no Lua files")
            needed = tuple(spec.dependencies) if spec else ()
            version = spec.version if spec else ""
            record = Record(name, version, _lasting(source), commit, sorted(files), needed)
            self._tree.install(record, files)
            self._done.add(name)
            self._tell(record, about_c_code(name) if has_c_code(checkout) else "")
        for dependency in needed:
            self._install_needed(dependency, name)

    def _tell(self, record: Record, remark: str) -> None:
        words = [record.name, record.version, f"({record.commit[:12]})" if record.commit else ""]
        count = len(record.files)
        text = f"{' '.join(filter(None, words))}: {count} Lua file{'s' * (count > 1)}"
        print(text + (f"; {remark}" if remark else ""))


def _short(word: str) -> str:
    """The last part of a URL or path, which may be the package's name."""
    return Path(word.rstrip("/")).name.removesuffix(".git")


def _lasting(source: str) -> str:
    return str(Path(source).resolve()) if Path(source).is_dir() else source

"""``th --install``, ``--list`` and ``--remove``: reads their words, and tells what was done."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from th_shell.packages import rockspec
from th_shell.packages.place import search_tree, search_users_tree, users_tree
from th_shell.packages.sources import (
    ROCKS,
    about_c_code,
    fetch,
    is_loaded_by_th,
    process_of,
    provided_by_th,
    source_of,
)
from th_shell.packages.tree import (
    Record,
    Tree,
    has_c_code,
    lua_files,
    needs_library,
    package_name,
)
from th_shell.paragraphs import counted
from th_shell.visible import UsageError, complain, read_words

_FAILURE = 1


def run(what: str, words: Sequence[str]) -> int:
    """Do it; return the exit status. what: 'install', 'list' or 'remove'. Raises UsageError."""
    names, tree = _read(what, words)
    try:
        if what == "list":
            _list(tree)
            return 0
        if what == "remove":
            tree.remove(list(dict.fromkeys(names)))
            return 0
        with tempfile.TemporaryDirectory(prefix="th-install-") as folder:
            return _Installation(tree, Path(folder)).install(names)
    except (UsageError, OSError) as error:
        return _fail(error)


def _fail(error: Exception | str) -> int:
    complain(error)
    return _FAILURE


def _read(what: str, words: Sequence[str]) -> tuple[list[str], Tree]:
    names, options = read_words(what, words, {"--tree": "a folder"})
    if bool(names) == (what == "list"):
        problem = "takes no names" if names else "needs names of packages"
        raise UsageError(f"--{what} {problem}" + ("" if names else ", URLs of git, or folders"))
    return names, Tree(Path(options.get("--tree", users_tree())))


def _list(tree: Tree) -> None:
    for record in tree.records().values():
        commit = record.commit[:12] or "no commit"
        print(f"{record.name} {record.version} ({commit}) from {record.source}")


class _Package(NamedTuple):
    """A package that was brought."""

    record: Record
    #: The files by their places in the tree.
    files: Mapping[str, Path]
    #: A remark for the user, or ''.
    remark: str


class _Installation:
    """Installs packages and what they need, each once. folder: for their sources."""

    def __init__(self, tree: Tree, folder: Path) -> None:
        self._tree = tree
        self._folder = folder
        self._known = {name.lower() for name in tree.records()}
        self._installed: list[Record] = []
        self._status = 0

    def install(self, asked: Sequence[str]) -> int:
        """Install packages by their names, or from URLs and folders; return the exit status.

        What fails is told, and the rest goes on. What a package needs may be among those that are
        asked: so these are all brought first.
        """
        waiting = [(word, "") for word in dict.fromkeys(asked)]
        while waiting:
            packages = list(filter(None, (self._package_for(word, user) for word, user in waiting)))
            waiting = []
            for package in filter(self._add_to_tree, packages):
                record = package.record
                waiting += [(name, record.name) for name in record.dependencies]
        for record in self._installed:
            self._try_modules(record)
        return self._status

    def _package_for(self, word: str, user: str) -> _Package | None:
        """Return the package that a word is for. user: the package that needs it, or ''."""
        try:
            if user and (word.lower() in self._known or provided_by_th(word)):
                return None
            self._known.add(word.lower())
            source = self._fetch_named(word, user)
        except (UsageError, OSError) as error:
            self._status = _fail(f"{user} needs {word}: {error}" if user else error)
            return None
        if source:
            self._known.add(source.record.name.lower())
        return source

    def _fetch_named(self, word: str, user: str) -> _Package | None:
        if not user and (re.search(r"[/\\:]|^\.", word)):
            return self._read(word, _short(word))
        if provided_by_th(word):
            print(f"{word} is part of th", flush=True)
            return None
        source = source_of(word) or (word if Path(word).is_dir() and not user else None)
        source = source or rockspec.source_in(self._rockspecs, word)
        if source is None:
            raise UsageError(f"the sources of {word} are not known: give the URL of its repository")
        return self._read(source, word)

    @cached_property
    def _rockspecs(self) -> Path:
        """A folder with the rockspecs of Torch7's packages."""
        checkout = self._folder / "rockspecs"
        fetch(ROCKS, checkout)
        return checkout

    def _read(self, source: str, fallback: str) -> _Package | None:
        checkout = Path(tempfile.mkdtemp(dir=self._folder)) / "sources"
        commit = fetch(source, checkout)
        spec = rockspec.read(checkout)
        name = package_name(checkout, spec, fallback)
        files = lua_files(checkout, spec, name)
        if not files:
            raise UsageError(f"{source} has no Lua files")
        needs_c = has_c_code(checkout) and needs_library(name, files)
        stays = is_loaded_by_th(name) or (needs_c and provided_by_th(name))
        if stays:
            reason = "needs C code that is not built" if needs_c else "is loaded before it"
            print(f"{name} is part of th, which stays: {source} {reason}", flush=True)
            files = {place: path for place, path in files.items() if path.suffix != ".lua"}
            if is_loaded_by_th(name) or not files:
                return None
        needed = tuple(spec.dependencies) if spec else ()
        version = spec.version if spec else ""
        origin = str(Path(source).resolve()) if Path(source).is_dir() else source
        record = Record(name, version, origin, commit, sorted(files), needed)
        return _Package(record, files, about_c_code(name) if needs_c and not stays else "")

    def _add_to_tree(self, package: _Package) -> bool:
        """Put a package's files into the tree, and tell it; return whether they could be."""
        record = package.record
        try:
            self._tree.install(record, package.files)
        except (UsageError, OSError) as error:
            self._status = _fail(error)
            return False
        self._installed.append(record)
        words = [record.name, record.version, f"({record.commit[:12]})" if record.commit else ""]
        count = sum(file.endswith(".lua") for file in record.files)
        what = counted(count, "Lua file") if count else counted(len(record.files), "other file")
        text = f"{' '.join(filter(None, words))}: {what}"
        print(text + (f"; {package.remark}" if package.remark else ""), flush=True)
        return True

    def _try_modules(self, record: Record) -> None:
        """Say so where a package that was installed cannot be loaded."""
        for module in modules_of(record.name, record.files):
            why = error_of_loading(str(self._tree.folder), module)
            if why:
                self._status = _fail(
                    f"{record.name} is installed, but require '{module}' fails: {why}"
                )


def _short(word: str) -> str:
    """Return the last part of a URL or path, which may be the package's name."""
    path = Path(word.rstrip("/"))
    name = path.resolve().name if path.is_dir() else path.name
    return name.removesuffix(".git").removesuffix(".lua")


# -- whether a package can be loaded


_SECONDS = 60


def modules_of(name: str, files: Sequence[str]) -> list[str]:
    """Return the modules of a package that stand at the top of its tree, else what it is called."""
    names = [file[:-4].removesuffix("/init") for file in files if file.endswith(".lua")]
    return [module for module in names if "/" not in module] or [name]


def error_of_loading(tree: str, module: str) -> str:
    """Return why `require` of a module fails; '' where it does not."""
    with tempfile.TemporaryDirectory(prefix="th-install-") as empty:
        try:
            done = subprocess.run(
                process_of("command.main", tree, module),
                cwd=empty,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"it takes longer than {_SECONDS} seconds"
    lines = done.stderr.strip().splitlines() or ["it ends the program"]
    return lines[-1] if done.returncode else ""


def main(tree: str, module: str) -> None:
    """Load a module; exit with the error in a line on the standard error."""
    from th_shell.runtime.shell import Engine, LuaError

    with Engine() as engine:
        search_tree(engine, tree)
        search_users_tree(engine)
        try:
            engine.require(os.fsencode(module))
        except LuaError as error:
            first, *more = error.message.split("\n")
            advice = next((line.strip() for line in more if line.startswith("\t'")), "")
            sys.exit(f"{first} {advice}" if advice else first.rstrip(":"))

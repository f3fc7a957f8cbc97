"""Which files of a checkout are Lua modules, and where `require` looks for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from th_shell.packages.rockspec import Rockspec
from th_shell.usage import UsageError

_C = {".c", ".cc", ".cpp", ".cu", ".m"}
_MODULE = re.compile(r"[\w-]+(\.[\w-]+)*")
_LISTED = re.compile(r"(?<![\w./}-])[\w.-]+(?:/[\w.-]+)+\.lua\b")
_PACKAGE = re.compile(r"^\s*ADD_TORCH_PACKAGE\s*\(\s*([\w-]+)", re.I | re.M)


def package_name(checkout: Path, rockspec: Rockspec | None, fallback: str) -> str:
    """The name under which programs require a package."""
    cmake = checkout / "CMakeLists.txt"
    found = _PACKAGE.findall(cmake.read_text(errors="replace")) if cmake.is_file() else []
    name = rockspec.package if rockspec else str(found[-1]) if found else fallback
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise UsageError(f"{name!r} is no name of a package")
    return name


def lua_files(checkout: Path, rockspec: Rockspec | None, name: str) -> dict[str, Path]:
    """Lua files by their places in a folder of modules: 'nn/init.lua'.

    They are those that the rockspec lists, else all that the checkout has.
    """
    listed = rockspec.modules if rockspec else {}
    files = {
        _place(module, path): _inside(checkout, path)
        for module, path in listed.items()
        if isinstance(path, str) and path.endswith(".lua")
    }
    if files:
        return files
    folders = (checkout / "lua" / name, checkout / name, checkout / "lua", checkout)
    top = next(
        folder for folder in folders if (folder / "init.lua").is_file() or folder == checkout
    )
    single = top / f"{name}.lua"
    if not (top / "init.lua").is_file() and single.is_file():
        return {single.name: single}
    found = {f"{name}/{path.relative_to(top).as_posix()}": path for path in _files(top, {".lua"})}
    return {f"{name}/{path.name}": path for path in _listed(checkout)} | found


def _listed(checkout: Path) -> Iterator[Path]:
    """Lua files of subfolders that CMakeLists.txt lists, all of which it installs in one folder."""
    cmake = checkout / "CMakeLists.txt"
    text = cmake.read_text(errors="replace") if cmake.is_file() else ""
    for path in _LISTED.findall(text):
        file = (checkout / path).resolve()
        if file.is_relative_to(checkout.resolve()) and file.is_file():
            yield file


def has_c_code(checkout: Path) -> bool:
    """Whether there are sources that would have to be compiled."""
    return next(_files(checkout, _C), None) is not None


def _files(top: Path, suffixes: set[str]) -> Iterator[Path]:
    for path in sorted(top.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(top).parts)
        if path.suffix in suffixes and not hidden and path.is_file() and not path.is_symlink():
            yield path


def _place(module: str, path: str) -> str:
    if not _MODULE.fullmatch(module):
        raise UsageError(f"{module!r} is no name of a module")
    place = module.replace(".", "/")
    is_init = Path(path).name == "init.lua" and not place.endswith("/init")
    return f"{place}/init.lua" if is_init else f"{place}.lua"


def _inside(checkout: Path, path: str) -> Path:
    file = (checkout / path).resolve()
    if not file.is_relative_to(checkout.resolve()) or not file.is_file():
        raise UsageError(f"the rockspec lists {path}, which is not there")
    return file

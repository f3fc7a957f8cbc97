"""``th-docs init``: writes the files by which a project's pages are tested from then on."""

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from th_shell.docs.command_lines import parser_of
from th_shell.docs.reporting.report import write_text
from th_shell.docs.settings.modules import patterns_of
from th_shell.files import write_file
from th_shell.packages.sources import git
from th_shell.toml import loads
from th_shell.visible import UsageError, complain

_CANNOT_WRITE = 2
#: Folders that a project has its Lua modules in.
_EXAMPLE_OF_PATH = '# lua_path = ["lib/?.lua", "lib/?/init.lua"]'


def main(words: Sequence[str]) -> int:
    """Write the files; the exit status."""
    parser = parser_of("th-docs init")
    options = parser.parse_args(words)
    if not os.path.isdir(options.folder):
        parser.error(f"no such folder: {options.folder}")
    for path, text in _files(Path(options.folder)).items():
        if os.path.lexists(path) and not options.force:
            write_text(f"kept {path}, which was there (--force replaces it)\n", 1)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            complain(f"{path} cannot be written: {error.strerror}", "th-docs init")
            return _CANNOT_WRITE
        write_text(f"wrote {path}\n", 1)
    return 0


def _files(folder: Path) -> dict[Path, str]:
    """Return the texts of the files by their paths; the workflow's is below the current folder."""
    texts = loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    top, shown = Path(), os.path.relpath(folder)
    if shown.startswith(os.pardir):
        top, shown = folder, os.curdir
    settings = texts["th-docs.toml"]
    up = os.path.relpath(top, folder)
    if patterns := [os.path.normpath(f"{up}/{pattern}") for pattern in patterns_of(top)]:
        lua_path = f"lua_path = {json.dumps(patterns, ensure_ascii=False)}"
        settings = settings.replace(_EXAMPLE_OF_PATH, lua_path)
    project = " ." if _installs_python(top) else ""
    workflow = texts["docs.yml"].format(
        folder=shlex.quote(shown), project=project, th_shell=shlex.quote(_requirement())
    )
    return {
        folder / "th-docs.toml": settings,
        top / ".github" / "workflows" / "docs.yml": workflow,
    }


def _requirement() -> str:
    """Return what pip installs to have this th-docs: where it is from a repository, its address."""
    from importlib.metadata import PackageNotFoundError, distribution  # late: they take 20 ms

    try:
        source = json.loads(distribution("th-shell").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        source = {}
    if "vcs_info" in source:
        return f"th-shell @ git+{source['url']}@{source['vcs_info']['commit_id']}"
    address = ""
    if "dir_info" in source:
        with suppress(UsageError):
            address = git(
                "-C", url2pathname(urlsplit(source["url"]).path), "remote", "get-url", "origin"
            ).strip()
    return f"th-shell @ git+{address}" if address.startswith("https://") else "th-shell"


def _installs_python(top: Path) -> bool:
    """Return whether a project installs a package of Python."""
    is_installed = any((top / name).is_file() for name in ("pyproject.toml", "setup.py"))
    return is_installed and any(any(top.glob(f"{up}*/__init__.py")) for up in ("", "src/"))

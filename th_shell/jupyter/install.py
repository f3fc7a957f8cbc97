"""``th --jupyter install`` and ``remove``: the kernelspec, by which Jupyter finds the kernel."""

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from th_shell.visible import complain

NAME = "th"
DISPLAY_NAME = "Torch7 (th)"

_MISSING = "the Jupyter kernel needs more libraries: pip install 'th-shell[jupyter]'"
_PLACES = "--user, --sys-prefix, --prefix FOLDER"
_USAGE = f"--jupyter takes install ({_PLACES}) or remove"


class _Wrong(Exception):
    """Why nothing was done."""


def run(words: Sequence[str]) -> int:
    """Do what the words behind --jupyter say; return the exit status."""
    try:
        print(_done(list(words)))
    except _Wrong as error:
        complain(error)
        return 1
    return 0


def _done(words: list[str]) -> str:
    try:
        import ipykernel  # noqa: F401 - the kernel's, needed when it starts
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError as error:
        raise _Wrong(f"{_MISSING} ({error})") from None
    manager = KernelSpecManager()
    if words == ["remove"]:
        return f"removed {_remove(manager)}"
    if words[:1] != ["install"]:
        raise _Wrong(_USAGE)
    return f"installed {_install(manager, _place(words[1:]))}"


def _place(words: list[str]) -> dict[str, Any]:
    """Return the place to install to, as jupyter_client takes it."""
    if not words:
        return {}
    if words == ["--user"]:
        return {"user": True}
    if words == ["--sys-prefix"]:
        return {"prefix": sys.prefix}
    if words[0].startswith("--prefix="):
        words = ["--prefix", words[0].removeprefix("--prefix="), *words[1:]]
    if len(words) == 2 and words[0] == "--prefix" and words[1]:
        return {"prefix": words[1]}
    raise _Wrong(_USAGE)


def _remove(manager: Any) -> str:
    try:
        return str(manager.remove_kernel_spec(NAME))
    except KeyError:
        raise _Wrong("the kernel is not installed") from None
    except OSError as error:
        why = f"{error.strerror}: {error.filename}"
        raise _Wrong(f"the kernel cannot be removed: {why}") from None


def _install(manager: Any, place: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # The folder is copied with its rights.
        (Path(folder) / "kernel.json").write_text(json.dumps(_spec(), indent=1) + "\n")
        with as_file(files("th_shell.jupyter") / "logo-svg.svg") as logo:
            shutil.copy(logo, folder)
        try:
            return str(manager.install_kernel_spec(folder, NAME, **place))
        except OSError as error:
            why = f"{error.strerror}: {error.filename}"
            raise _Wrong(f"the kernel cannot be installed: {why} (try --user)") from None


def _spec() -> dict[str, Any]:
    # -I: Python imports nothing from the notebook's folder.
    start = [sys.executable, "-I", "-m", "th_shell.jupyter", "-f", "{connection_file}"]
    return {"argv": start, "display_name": DISPLAY_NAME, "language": "lua"}

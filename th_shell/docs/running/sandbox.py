"""Keeps a run in a sandbox: it writes to its own folder alone and starts and reaches nothing.

The page's process gives up its rights by itself before it gets the first example. `landlock` leaves
it its folder, and, to read and to execute, the parts of engines: the system's libraries, the
folders of Python and of the engine's command, and the paths on which Lua and Python look for
modules. `seccomp` refuses system calls that start processes, reach the network or change other
processes.

The system's names, sizes and times of files remain visible everywhere, and the environment.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from th_shell.docs.running import landlock, seccomp
from th_shell.docs.running.landlock import READ, USE, WRITE, Access

#: Files and folders that programs need to run. In /etc: the places of libraries, the time zone.
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone"),
    *("/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path"),
    *("/dev/urandom", "/dev/random", "/dev/zero", "/sys/devices/system/cpu"),
    *("/proc/self", "/proc/stat", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm"),
)
_DEVICES = ("/dev/null", "/dev/full")
#: Packages that the engine loads when they are needed first.
_PACKAGES = ("th_shell", "th_shell.runtime", "lupa", "numpy", "scipy", "threadpoolctl")
#: The parts of an installation in a folder that has other files, too.
_PARTS = ("bin", "lib", "lib64", "libexec", "share/lua", "pyvenv.cfg")
_PATHS = ("LUA_PATH", "LUA_CPATH", "LUA_PATH_5_1", "LUA_CPATH_5_1", "PYTHONPATH", "LD_LIBRARY_PATH")


def missing() -> str:
    """Return, in one line, why this system cannot have a sandbox; '' if it can."""
    if not landlock.version():
        return "this system has no Landlock (Linux from 5.13 on, where the kernel has it enabled)"
    if not seccomp.is_available():
        return "this system has no seccomp filters on x86-64 or aarch64"
    return ""


def enter(folders: Sequence[str], read: Sequence[str], output: str, executes: bool) -> None:
    """Restrict this process to folders, for good. Raises OSError.

    read: files and folders to read and execute besides. output: the file that it prints into, which
    programs also open by its name, /dev/stdout. executes: see `seccomp.restrict`.
    """
    rules = {path: READ for path in (*_SYSTEM, *read)}
    rules |= {path: USE for path in _DEVICES}
    rules |= {path: WRITE for path in folders}
    rules[output] = Access.WRITE_FILE | Access.TRUNCATE
    seccomp.restrict(executes)
    landlock.restrict(rules)


def readable_paths(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the files and folders that an engine reads. command: () for the runtime."""
    paths = [*_searched(environment), *_packages()]
    program = shutil.which(command[0]) if command else sys.executable
    if program:
        paths += _installation(program)
    return paths + [os.path.abspath(word) for word in command[1:] if os.path.isfile(word)]


def _installation(program: str) -> Iterator[str]:
    """Yield the folders that a program was installed into, by its name and its real path."""
    for path in (Path(os.path.abspath(program)), Path(os.path.realpath(program))):
        yield str(path)
        prefix = path.parent.parent
        if path.parent.name not in ("bin", "sbin"):
            continue
        if prefix in (Path("/"), Path.home(), Path.home() / ".local"):
            yield from (str(prefix / part) for part in _PARTS)
        else:
            yield str(prefix)


def _packages() -> Iterator[str]:
    """Yield the folders of the engine's own packages, and of the libraries beside them."""
    for name in _PACKAGES:
        spec = find_spec(name)
        for folder in spec.submodule_search_locations or () if spec else ():
            yield folder
            beside = Path(folder).parent
            if beside.name in ("site-packages", "dist-packages"):
                yield str(beside)
            else:
                yield f"{folder}.libs"
    yield str(Path(find_spec.__code__.co_filename).parent.parent)  # the standard library


def _searched(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the absolute folders in which Lua and Python look for modules."""
    for name in _PATHS:
        for entry in environment.get(name, "").replace(";", ":").split(":"):
            folder = entry.partition("?")[0]
            folder = folder if folder.endswith("/") or "?" not in entry else os.path.dirname(folder)
            if os.path.isabs(folder) and os.path.normpath(folder) != "/":
                yield folder

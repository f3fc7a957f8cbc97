"""Keeps a run in a sandbox: it writes to its own folder alone and starts and reaches nothing.

The page's process gives up its rights by itself before it gets the first example. Landlock of Linux
leaves it its folder, and, to read and to execute, the parts of engines: the system's libraries, the
folders of Python and of the engine's command, and the paths on which Lua and Python look for
modules. `seccomp` refuses system calls that start processes, reach the network or change other
processes.

The system's names, sizes and times of files remain visible everywhere, and the environment.
"""

import ctypes
import os
import shutil
import stat
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import IntFlag
from importlib.util import find_spec
from pathlib import Path

from th_shell.docs.running import seccomp
from th_shell.docs.running.system import checked
from th_shell.packages.place import users_tree

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
    if not landlock_version():
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
    restrict_files(rules)


def readable_paths(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the files and folders that an engine reads. command: () for the runtime."""
    paths = [*_searched(environment), *_packages(), users_tree()]
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
    yield from (
        path for path in sys.path if os.path.basename(path) == ".editable"
    )  # pyproject.toml
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
    yield str(Path(__file__).resolve().parents[3] / ".editable")  # a checkout's link to th_shell


def _searched(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the absolute folders in which Lua and Python look for modules."""
    for name in _PATHS:
        for entry in environment.get(name, "").replace(";", ":").split(":"):
            folder = entry.partition("?")[0]
            folder = folder if folder.endswith("/") or "?" not in entry else os.path.dirname(folder)
            if os.path.isabs(folder) and os.path.normpath(folder) != "/":
                yield folder


# -- Landlock
#
# A process first names the rights that are denied unless a rule gives them, then gives them for
# files and for the contents of folders, and then restricts itself; it cannot undo that. Each
# version of the kernel knows more rights. A right that a kernel does not know is not asked for;
# `seccomp` denies the calls that it would deny.

# The numbers of the system calls are the same on all processors.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1


#: Rights to files, as in linux/landlock.h: each is a bit, from the lowest on.
Access = IntFlag(
    "Access",
    "EXECUTE WRITE_FILE READ_FILE READ_DIR REMOVE_DIR REMOVE_FILE MAKE_CHAR MAKE_DIR MAKE_REG "
    "MAKE_SOCK MAKE_FIFO MAKE_BLOCK MAKE_SYM REFER TRUNCATE IOCTL_DEV",
)

#: The rights of a rule: to read and execute; to use a device; to do all with a folder.
READ = Access.EXECUTE | Access.READ_FILE | Access.READ_DIR
USE = Access.READ_FILE | Access.WRITE_FILE | Access.TRUNCATE | Access.IOCTL_DEV
WRITE = Access((1 << 16) - 1) & ~(
    Access.EXECUTE | Access.MAKE_CHAR | Access.MAKE_BLOCK | Access.IOCTL_DEV
)

#: The rights that exist for what is no folder.
_OF_FILES = Access.EXECUTE | USE
#: The first version that knows rights: to files up to a right; to TCP; to other processes.
_KNOWN_FROM = {1: Access.MAKE_SYM, 2: Access.REFER, 3: Access.TRUNCATE, 5: Access.IOCTL_DEV}
_OTHERS = {4: 0b11, 6: 0b11}  # to bind and connect by TCP; to abstract sockets, and signals


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; 0 where it has none."""
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    except (OSError, AttributeError):  # not Linux, or not in this kernel
        return 0


def known_rights(of: int) -> Access:
    """Return the rights to files that a version of Landlock knows."""
    last = max(right for known_from, right in _KNOWN_FROM.items() if known_from <= of)
    return Access(2 * last - 1)


def restrict_files(rules: Mapping[str, Access], of: int | None = None) -> None:
    """Take from this process all rights to files that the rules do not give.

    rules: the rights by paths; paths that do not exist are left out. of: the version whose rights
    are used, by default the kernel's. Raises OSError. `seccomp.restrict`, or a privilege, comes
    first: the kernel demands that the process cannot gain rights by executing other programs.
    """
    used = of or landlock_version()
    ruleset = _create(used)
    try:
        for path, access in rules.items():
            _add(ruleset, path, access & known_rights(used))
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _create(used: int) -> int:
    # A kernel knows the members up to its version, and may refuse a longer structure.
    """Return the descriptor of new rules that deny all rights of a version."""
    members = [int(known_rights(used)), *(bits for since, bits in _OTHERS.items() if since <= used)]
    rules = struct.pack(f"={len(members)}Q", *members)
    return _call(_CREATE_RULESET, rules, ctypes.c_size_t(len(rules)), 0)


def _add(ruleset: int, path: str, access: Access) -> None:
    """Give rights to a path, if it exists."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # a missing file cannot be used, either
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            access &= _OF_FILES
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(*words: object) -> int:
    """Make a system call; return its result. Raises OSError."""
    return checked(ctypes.CDLL(None, use_errno=True).syscall(*words))

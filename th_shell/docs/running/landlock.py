"""Restricts this process and its children to files by rules, by Landlock of Linux.

A process first names the rights that are denied unless a rule gives them, then gives them for files
and for the contents of folders, and then restricts itself; it cannot undo that. Each version of the
kernel knows more rights. A right that a kernel does not know is not asked for; `seccomp` denies the
calls that it would deny.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Mapping
from enum import IntFlag

from th_shell.docs.running.system import checked

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


def version() -> int:
    """Return the version of Landlock that the kernel has; 0 where it has none."""
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    except (OSError, AttributeError):  # not Linux, or not in this kernel
        return 0


def known_rights(of: int) -> Access:
    """Return the rights to files that a version of Landlock knows."""
    last = max(right for known_from, right in _KNOWN_FROM.items() if known_from <= of)
    return Access(2 * last - 1)


def restrict(rules: Mapping[str, Access], of: int | None = None) -> None:
    """Take from this process all rights to files that the rules do not give.

    rules: the rights by paths; paths that do not exist are left out. of: the version whose rights
    are used, by default the kernel's. Raises OSError. `seccomp.restrict`, or a privilege, comes
    first: the kernel demands that the process cannot gain rights by executing other programs.
    """
    used = of or version()
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

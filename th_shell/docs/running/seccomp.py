"""Restricts this process and its children to harmless system calls of Linux, by seccomp.

The kernel runs a filter for each system call: a short program of 8-byte instructions, each with two
distances to jump, which looks at the call's number and arguments and decides whether it is allowed.
The filter here refuses the dangers that Landlock does not cover (see `sandbox`): to start
processes, to reach the network, to touch other processes, to change the attributes of files. Calls
that do many things by numbers are allowed with the numbers that programs need.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from th_shell.docs.running.system import checked
from th_shell.toml import loads

_SET_NO_NEW_PRIVILEGES, _GET_SECCOMP, _SET_SECCOMP = 38, 21, 22  # of prctl
_FILTER = 2
# The instructions: load a word of the call; compare; test bits; mask bits; end.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BITS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _PROCESSOR, _ARGUMENTS = 0, 4, 16  # offsets in what the kernel tells of a call

_CAPABILITY_VERSION, _READ_ALL = 0x20080522, 1 << 1  # CAP_DAC_OVERRIDE
#: Calls from this number on are younger than this list: who uses them can do without.
_UNKNOWN_FROM = 470

#: The column of a processor in `NUMBERS`, and its number in linux/audit.h.
_PROCESSORS = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

#: The calls that are refused, wholly or in part, with their numbers on each processor.
NUMBERS: Mapping[str, Sequence[int]] = loads(
    Path(__file__).with_name("system_calls.toml").read_text("utf-8")
)

#: The calls that are allowed to a process that may replace itself by another program.
_EXECUTES = ("execve", "execveat")
#: Calls that libraries replace by others if the kernel does not know them: see `_rules`.
_WITH_ANOTHER_WAY = frozenset(("clone3", "openat2"))

_CLONE_THREAD = 0x00010000
#: The allowed commands of fcntl: copies, flags, locks, sizes of pipes, seals; no signals.
_FCNTL = (*range(8), 36, 37, 38, *range(1030, 1035))
#: Allowed of ioctl: TCGETS, TCGETS2, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FICLONE.
_IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
_SET_FLAGS, _ASYNC = 4, 0x2000  # of fcntl: a terminal's programs would get signals


class Condition(NamedTuple):
    """A call is allowed if the masked bits of an argument have one of some values."""

    #: The number of the argument, from 0.
    argument: int
    values: Sequence[int]
    mask: int = 0xFFFFFFFF


class Instruction(NamedTuple):
    """An instruction of a filter."""

    code: int
    value: int
    #: How many instructions to pass over if its test holds.
    then: int = 0
    #: How many to pass over if it does not.
    otherwise: int = 0

    def packed(self) -> bytes:
        """Return the bytes of C's ``struct sock_filter``."""
        return struct.pack("=HBBI", self.code, self.then, self.otherwise, self.value)


def is_available() -> bool:
    """Tell whether the kernel has filters, and this module knows the processor's numbers."""
    if platform.machine() not in _PROCESSORS:
        return False
    try:
        # With a filter that it cannot read, the kernel says so if it has filters at all.
        _control(_SET_SECCOMP, _FILTER, 0)
    except (OSError, AttributeError) as error:
        return isinstance(error, OSError) and error.errno == errno.EFAULT
    return False


def restrict(executes: bool = False) -> None:
    """Take system calls from this process, and the privileges that it may have as root.

    executes: allow it to replace itself by another program. Raises OSError.
    """
    _control(_SET_NO_NEW_PRIVILEGES, 1, 0)
    _drop_privileges()
    rules = filter_for(platform.machine(), os.getpid(), executes)
    code = b"".join(rule.packed() for rule in rules)
    code_in_memory = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(rules), ctypes.addressof(code_in_memory))
    _control(_SET_SECCOMP, _FILTER, ctypes.c_char_p(program))


def filter_for(machine: str, process: int, executes: bool) -> list[Instruction]:
    """Return the filter of a process on a machine.

    process: its id, since it may send signals to itself. executes: see `restrict`.
    """
    column, audit = _PROCESSORS[machine]
    rules = [
        Instruction(_LOAD, _PROCESSOR),
        Instruction(_IF_EQUAL, audit, then=1),
        Instruction(_RETURN, _KILL),  # a call of another processor's: numbers mean other calls
        Instruction(_LOAD, _NUMBER),
        Instruction(_IF_AT_LEAST, _UNKNOWN_FROM, otherwise=1),
        _refusal(errno.ENOSYS),
    ]
    conditions = _conditions(process)
    for name, numbers in NUMBERS.items():
        if numbers[column] >= 0 and not (executes and name in _EXECUTES):
            tests = _rules(name, conditions.get(name))
            rules += [Instruction(_IF_EQUAL, numbers[column], otherwise=len(tests)), *tests]
    return [*rules, Instruction(_RETURN, _ALLOW)]


def _conditions(process: int) -> Mapping[str, Condition]:
    """Return the conditions of the calls that are refused in part, by names, for a process."""
    itself = Condition(0, (0, process))
    opens = (*range(4), *(os.O_TRUNC | mode for mode in range(1, 4)))  # not to read and yet to cut
    return {
        "clone": Condition(0, (_CLONE_THREAD,), _CLONE_THREAD),
        **dict.fromkeys(("kill", "tgkill"), Condition(0, (process,))),
        **dict.fromkeys(("prlimit64", "sched_setaffinity", "sched_setattr"), itself),
        **dict.fromkeys(("sched_setparam", "sched_setscheduler"), itself),
        "open": Condition(1, opens, os.O_TRUNC | os.O_ACCMODE),
        "openat": Condition(2, opens, os.O_TRUNC | os.O_ACCMODE),
        "fcntl": Condition(1, _FCNTL),
        "ioctl": Condition(1, _IOCTL),
        "socketpair": Condition(1, (1, 5), 0xF),  # datagrams could go to other sockets
    }


def _rules(name: str, condition: Condition | None) -> list[Instruction]:
    """Return the instructions that decide about a call, by its arguments."""
    refused, allowed = _refusal(errno.EPERM), Instruction(_RETURN, _ALLOW)
    if name in _WITH_ANOTHER_WAY:  # their arguments are in memory, where a filter cannot look
        return [_refusal(errno.ENOSYS)]
    if condition is None:
        return [refused]
    number, values, mask = condition
    tests = [Instruction(_IF_EQUAL, value, then=i) for i, value in enumerate(reversed(values), 1)]
    rules = [_argument(number), Instruction(_AND, mask), *reversed(tests), refused, allowed]
    if name == "fcntl":
        sets = Instruction(_IF_EQUAL, _SET_FLAGS, otherwise=3)
        is_async = Instruction(_IF_BITS, _ASYNC, otherwise=1)
        return [_argument(1), sets, _argument(2), is_async, refused, *rules]
    return rules


def _argument(position: int) -> Instruction:
    # The lower half: flags and ids are no longer.
    """Return the instruction that loads an argument of a call."""
    return Instruction(_LOAD, _ARGUMENTS + 8 * position)


def _refusal(code: int) -> Instruction:
    """Return the instruction that lets a call fail with an error code."""
    return Instruction(_RETURN, _REFUSE | code)


def _drop_privileges() -> None:
    """Give up root's privileges, except for reading the files of other users."""
    c_library = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    now = ctypes.create_string_buffer(24)
    checked(c_library.capget(header, now))
    capabilities = struct.unpack("=6I", now.raw)[1] & _READ_ALL
    checked(c_library.capset(header, struct.pack("=6I", capabilities, capabilities, 0, 0, 0, 0)))


def _control(option: int, value: int, pointer: object) -> None:
    """Call prctl. Raises OSError."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    words = [pointer if pointer else ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)]
    checked(prctl(option, ctypes.c_ulong(value), *words))

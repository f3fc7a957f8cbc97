"""The filter of system calls: its instructions, run by a small machine here, and its numbers."""

import os
import re
from pathlib import Path

import pytest

from th_shell.docs.running.seccomp import NUMBERS, Instruction, filter_for

ALLOWED, REFUSED, UNKNOWN, KILLED = 0x7FFF0000, 0x00050001, 0x00050000 | 38, 0x80000000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}
PROCESS = 4321


def run(rules: list[Instruction], call: dict[int, int]) -> int:
    """What a filter says to a call: its words by their offsets."""
    at, word = 0, 0
    while True:
        rule = rules[at]
        at += 1
        if rule.code == 0x20:
            word = call.get(rule.value, 0)
        elif rule.code == 0x54:
            word &= rule.value
        elif rule.code == 0x06:
            return rule.value
        else:
            holds = {
                0x15: word == rule.value,
                0x35: word >= rule.value,
                0x45: bool(word & rule.value),
            }[rule.code]
            at += rule.then if holds else rule.otherwise


def answer(machine: str, name: str | int, *args: int, executes: bool = False) -> int:
    number = name if isinstance(name, int) else NUMBERS[name][COLUMN[machine]]
    call = {0: number, 4: AUDIT[machine]} | {16 + 8 * i: word for i, word in enumerate(args)}
    return run(filter_for(machine, PROCESS, executes), call)


@pytest.mark.sample(35)
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("clone", (0x00010F00,), ALLOWED),  # a thread
        ("clone", (0x4111,), REFUSED),  # a process, as posix_spawn starts it
        ("clone3", (), UNKNOWN),
        ("execve", (), REFUSED),
        ("socket", (2, 1, 0), REFUSED),
        ("io_uring_setup", (), REFUSED),
        ("kill", (PROCESS,), ALLOWED),
        ("kill", (0,), REFUSED),
        ("kill", (1,), REFUSED),
        ("kill", (0xFFFFFFFF,), REFUSED),
        ("tgkill", (PROCESS, 7), ALLOWED),
        ("tgkill", (1, 1), REFUSED),
        ("prlimit64", (0,), ALLOWED),
        ("prlimit64", (PROCESS,), ALLOWED),
        ("prlimit64", (1,), REFUSED),
        ("openat", (0, 0, os.O_RDONLY), ALLOWED),
        ("openat", (0, 0, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), ALLOWED),
        ("openat", (0, 0, os.O_RDWR | os.O_TRUNC), ALLOWED),
        ("openat", (0, 0, os.O_RDONLY | os.O_CREAT | os.O_TRUNC), REFUSED),
        ("openat2", (), UNKNOWN),
        ("fcntl", (0, 0), ALLOWED),  # F_DUPFD
        ("fcntl", (0, 1030), ALLOWED),  # F_DUPFD_CLOEXEC
        ("fcntl", (0, 6, 0x7FFF2000), ALLOWED),  # F_SETLK, with a pointer
        ("fcntl", (0, 4, 0o4000), ALLOWED),  # F_SETFL, O_NONBLOCK
        ("fcntl", (0, 4, 0o24000), REFUSED),  # F_SETFL, O_NONBLOCK | O_ASYNC
        ("fcntl", (0, 8, 1), REFUSED),  # F_SETOWN
        ("fcntl", (0, 10, 9), REFUSED),  # F_SETSIG
        ("fcntl", (0, 15, 1), REFUSED),  # F_SETOWN_EX
        ("fcntl", (0, 1024, 1), REFUSED),  # F_SETLEASE
        ("fcntl", (0, 1026, 1), REFUSED),  # F_NOTIFY
        ("ioctl", (0, 0x5401), ALLOWED),  # TCGETS
        ("ioctl", (0, 0x5451), ALLOWED),  # FIOCLEX
        ("ioctl", (0, 0x8901), REFUSED),  # FIOSETOWN
        ("ioctl", (0, 0x8902), REFUSED),  # SIOCSPGRP
        ("ioctl", (0, 0x5452), REFUSED),  # FIOASYNC
        ("ioctl", (0, 0x5412), REFUSED),  # TIOCSTI
        ("ioctl", (0, 0x40086602), REFUSED),  # FS_IOC_SETFLAGS
        ("ioctl", (0, 0x401C5820), REFUSED),  # FS_IOC_FSSETXATTR
        ("ioctl", (0, 0x40806685), REFUSED),  # FS_IOC_ENABLE_VERITY
        ("socketpair", (1, 1), ALLOWED),
        ("socketpair", (1, 0x80005), ALLOWED),  # SOCK_SEQPACKET | SOCK_CLOEXEC
        ("socketpair", (1, 2), REFUSED),  # SOCK_DGRAM
        ("socketpair", (1, 0x80003), REFUSED),  # SOCK_RAW, which means datagrams, too
        ("sched_setaffinity", (0,), ALLOWED),
        ("sched_setscheduler", (1,), REFUSED),
        ("inotify_init1", (), REFUSED),
        ("fanotify_init", (), REFUSED),
        ("fchmod", (), REFUSED),
        (469, (), REFUSED),
        (470, (), UNKNOWN),
        (0x40000000 + 57, (), UNKNOWN),  # the numbers of x86-64 with pointers of 32 bits
        (0, (), ALLOWED),
    ],
)
def test_calls(machine: str, name: str | int, args: tuple[int, ...], expected: int) -> None:
    assert answer(machine, name, *args) == expected


def test_old_calls_of_x86_64() -> None:
    assert answer("x86_64", "fork") == answer("x86_64", "vfork") == REFUSED
    assert answer("x86_64", "open", 0, os.O_TRUNC) == REFUSED
    assert answer("x86_64", "open", 0, os.O_TRUNC | os.O_WRONLY) == ALLOWED


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_leave_to_execute(machine: str) -> None:
    assert answer(machine, "execve", executes=True) == ALLOWED
    assert answer(machine, "clone", 0x4111, executes=True) == REFUSED
    assert answer(machine, "socket", executes=True) == REFUSED


def test_calls_of_other_processors_end_the_process() -> None:
    assert run(filter_for("x86_64", PROCESS, False), {0: 0, 4: 0x40000003}) == KILLED


def test_instructions_are_packed_as_in_c() -> None:
    assert Instruction(0x15, 0x01020304, 5, 6).packed() == bytes((0x15, 0, 5, 6, 4, 3, 2, 1))


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0),
        ("/usr/include/asm-generic/unistd.h", 1),
    ],
)
def test_numbers_are_the_kernel_s(header: str, column: int) -> None:
    if not Path(header).exists():
        pytest.skip(f"this system has no {header}")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", Path(header).read_text())
    known = {name: int(number) for name, number in found}
    for name, numbers in NUMBERS.items():
        if name in known:
            assert numbers[column] == known[name], name
        else:  # there is none, or the header is older
            assert numbers[column] == -1 or numbers[column] > max(known.values()), name

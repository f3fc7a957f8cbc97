"""What prints addresses differs between the two runs of a page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner

SOURCES = [
    "{}",
    "function() end",
    "newproxy()",
    "coroutine.create(print)",
    *(f"torch.pointer({x})" for x in ("{}", "torch.Tensor(3)", "torch.LongStorage(3)", "print")),
    *(f"torch.data(torch.Tensor({n}))" for n in (3, 1000, 1e5, 1e6, 5e6)),
    "torch.data(torch.ByteTensor(7))",
    "torch.data(torch.rand(5):sort())",
    "torch.rand(1000):storage():data()",
    "torch.LongStorage(5):data()",
    "torch.cdata(torch.Tensor(2))",
    "ffi.new('int[3]')",
    *(f"ffi.C.malloc({n})" for n in (10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8)),
    "io.open('file', 'w')",
    "io.popen('true')",
]


def test_addresses_differ(runner: Runner) -> None:
    before = "ffi = require 'ffi' ffi.cdef 'void *malloc(size_t);' kept = {}"
    shown = "kept[#kept + 1] = value; return tostring(value)"
    inputs = [before, *(f"value = {source}; {shown}" for source in SOURCES)]
    examples = [Example(line, 0, Kind.PROMPT, text) for line, text in enumerate(inputs, 1)]
    outcomes = runner.evaluate(examples)[1:]
    assert [first.error for first, _ in outcomes] == [None] * len(SOURCES)
    same = [source for source, (a, b) in zip(SOURCES, outcomes, strict=True) if a == b]
    assert same == []


FILLS = """
import ctypes
import mmap
from th_shell.docs.running import addresses

def read_and_map():
    found = read()
    if found and len(mapped) < 3:
        start, end = found[0]
        mapped.append(library.mmap(start, mmap.PAGESIZE, 0, addresses._FLAGS, -1, 0))
    return found

library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
read, mapped = addresses._gaps, []
addresses._gaps = read_and_map
mmap.mmap(-1, 64 << 20).close()
addresses._fill_gaps()
print(len(mapped), read())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/maps")
def test_gaps_are_filled_though_python_maps_memory_while_it_reads_them() -> None:
    printed = subprocess.run([sys.executable, "-c", FILLS], capture_output=True, text=True)
    assert printed.stdout == "3 []\n", printed.stderr


@pytest.mark.parametrize(
    "source",
    [
        "torch.pointer(torch.Tensor(1000):storage())",
        "tonumber(tostring({}):match('0x(%x+)'), 16)",
        "tonumber(ffi.cast('intptr_t', torch.data(torch.Tensor(1000))))",
    ],
)
def test_a_documented_address_depends_on_chance(
    tmp_path: Path, runner: Runner, source: str
) -> None:
    page = tmp_path / "page.md"
    input_ = f"string.format('%d', {source})"
    page.write_text(f"```\nffi = require 'ffi'\n> {input_}\n94481316900688\n```\n")
    compiler = Compiler()
    result = check_page(read(page, compiler), runner).results[-1]
    assert result.got.strip() != "94481316900688"
    assert result.verdict is not Verdict.PASS
    first, second = runner.evaluate(read(page, compiler).examples)[-1]
    # A page that documents what the first run prints does not pass by that.
    page.write_text(f"```\nffi = require 'ffi'\n> {input_}\n{first.output.strip()}\n```\n")
    assert first != second
    result = check_page(read(page, compiler), runner).results[-1]
    assert result.verdict is Verdict.LAYOUT

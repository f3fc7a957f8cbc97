"""What prints addresses differs between the two runs of a page."""

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


@pytest.mark.thorough
def test_addresses_differ(runner: Runner) -> None:
    before = "ffi = require 'ffi' ffi.cdef 'void *malloc(size_t);' kept = {}"
    shown = "kept[#kept + 1] = value; return tostring(value)"
    inputs = [before, *(f"value = {source}; {shown}" for source in SOURCES)]
    examples = [Example(line, 0, Kind.PROMPT, text) for line, text in enumerate(inputs, 1)]
    outcomes = runner.evaluate(examples)[1:]
    assert [first.error for first, _ in outcomes] == [None] * len(SOURCES)
    same = [source for source, (a, b) in zip(SOURCES, outcomes, strict=True) if a == b]
    assert same == []


@pytest.mark.thorough
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

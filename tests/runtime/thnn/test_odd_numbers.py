"""Numbers that are no whole ones, or too large for these, in all places of whole numbers."""

import re
from pathlib import Path

import pytest

import th_shell.runtime.ops  # noqa: F401 (adds rows that those of nn's backend use)
import th_shell.runtime.thnn  # noqa: F401 (adds the rows)
from tests.conftest import Lua
from th_shell.runtime.shell import Engine
from th_shell.runtime.thnn.table import TABLE

HERE = Path(__file__).parent
FAMILIES = sorted(path.stem for path in (HERE / "cases").glob("*.lua"))

# What no int has room for, and what is no number; 64 bits have room for some.
REFUSED = {
    *("nan", "inf", "-inf", "1e+308", "2147483648", "1099511627776", "-1099511627776"),
    *("4.6116860184274e+18", "x", "nil"),
}
REFUSED_LONG = {"nan", "inf", "-inf", "1e+308", "x", "nil"}
OURS = re.compile(r"internal error|runtime/\w|\.py\b|traceback|Traceback")


def whole_numbers(name: str) -> dict[int, str]:
    """The C types of a function's whole numbers, by their positions among its arguments."""
    kinds = TABLE[name].kinds.replace("?", "")
    ctypes = {"i": "int", "l": "int64_t"}
    return {at: ctypes[kind] for at, kind in enumerate(kinds, 1) if kind in ctypes}


ANSWERED: dict[str, list[list[str]]] = {}  # by family, since two tests look at them


def answers(family: str, capfd: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Function, position, number and answer of all calls for a family's cases."""
    if family not in ANSWERED:
        ANSWERED[family] = asked(family, capfd)
    return ANSWERED[family]


def asked(family: str, capfd: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The same, of calls that are made now."""
    places = {name: ",".join(map(str, whole_numbers(name))) for name in TABLE}
    given = [f"{name}:{text}" for name, text in places.items() if text]
    arguments = [f"{HERE}/cases/{family}.lua", "1", "3", *given]
    with Engine() as engine:
        engine.set_arguments(b"odd_numbers.lua", [text.encode() for text in arguments])
        engine.call(engine.compile_file(f"{HERE}/odd_numbers.lua"))
        engine.flush()
    return [line.rstrip("\t").split("\t") for line in capfd.readouterr().out.splitlines()]


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_errors_are_about_the_number(family: str, capfd: pytest.CaptureFixture[str]) -> None:
    for name, at, value, answer in answers(family, capfd):
        assert not OURS.search(answer)
        ctype = whole_numbers(name)[int(at)]
        if value in (REFUSED if ctype == "int" else REFUSED_LONG):
            shown = {"x": "string", "nil": "nil"}.get(value)
            what = f"cannot convert '{shown}' to '{ctype}'"
            what = what if shown else f"{ctype} expected, got {value}"
            place = int(at) + 1
            assert answer == f"bad argument #{place} to 'v' ({what})"


@pytest.mark.thorough
def test_all_functions_have_cases(capfd: pytest.CaptureFixture[str]) -> None:
    tried = {(name, int(at)) for family in FAMILIES for name, at, *_ in answers(family, capfd)}
    assert tried == {(name, at) for name in TABLE for at in whole_numbers(name)}


@pytest.mark.parametrize("count", [1, 3, 5000])
@pytest.mark.parametrize("number", ["1.7", "1LL", "1"])
def test_numbers_are_cut(lua: Lua, count: int, number: str) -> None:
    """Class 1 is ignored, however few targets there are, and whatever a call has kept."""
    lua(f"require 'nn.THNN' x, t = torch.ones({count}, 2), torch.LongTensor({count}):fill(2)")
    lua("t[1] = 1 output, total = torch.zeros(1), torch.zeros(1)")
    for _ in range(3):
        lua(
            "x.THNN.ClassNLLCriterion_updateOutput(x:cdata(), t:cdata(), output:cdata(), false, "
            f"nil, total:cdata(), {number})"
        )
        assert lua("print(output[1], total[1])") == f"{1 - count}\t{count - 1}\t\n"

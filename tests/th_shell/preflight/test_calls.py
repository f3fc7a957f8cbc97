"""Numbers of arguments and literal sizes: what is told is an error, as the engine says."""

from __future__ import annotations

from itertools import product

import pytest

from tests.th_shell.preflight.conftest import Check
from th_shell.call_forms import takes
from th_shell.preflight.knowledge import Facts
from th_shell.runtime.shell import TABLE, Engine, LuaError


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("local y = torch.ones(3)\ny:add(1, 2, 3, 4)", "2:3: :add(): called with 4 arguments; it "
         "takes: [Tensor] number, [Tensor] [number] Tensor"),
        ("torch.ones(2,2):mm(torch.ones(3,3))", "1:17: :mm(): called with 1 argument; it takes: "
         "Tensor~2D Tensor~2D"),
        ("torch.zeros()", "1:7: torch.zeros(): called with 0 arguments; it takes: [*Tensor*] "
         "(LongStorage | dim1 [dim2...])"),
        ("torch.mm(torch.ones(2, 2), torch.ones(3, 3))", "1:7: torch.mm(): 2x2 and 3x3 cannot be "
         "multiplied; correct the sizes"),
        ("x = torch.ones(2, 2) * torch.ones(3)", "1:22: *: 2x2 and 3 cannot be multiplied; "
         "correct the sizes"),
        ("local n, k = 2, 3\nlocal a = torch.rand(n, k)\nx = a + torch.rand(n, n)",
         "3:7: +: 2x3 has 6 elements, and 2x2 has 4; correct the sizes"),
        ("local a = torch.rand(2, 3) a:cmul(torch.ones(2, 2))", "1:30: :cmul(): 2x3 has 6 "
         "elements, and 2x2 has 4; correct the sizes"),
        ("torch.range(1, 6):view(2, 4)", "1:19: :view(): 6 has 6 elements, and 2x4 has 8; correct "
         "the sizes"),
        ("torch.rand(6):view(-1, 4)", "1:15: :view(): the 6 elements of 6 are no multiple "
         "of 4; correct the sizes"),
        ("torch.Tensor{{1, 2}, {3, 4}}:view(3)", "1:30: :view(): 2x2 has 4 elements, and 3 has 3; "
         "correct the sizes"),
        ("torch.ones(2, 3, 4):t()", "1:21: :t(): 2x3x4 is no matrix; correct the sizes"),
    ],
)  # fmt: skip
def test_what_is_found(check: Check, source: str, expected: str) -> None:
    assert check(source, columns=True) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "local x = torch.ones(2) x:resize(5) x:view(5)",
        "local x = torch.ones(2) f(x) x:view(5)",
        "local x = torch.ones(2) torch.add(x, torch.ones(3), 1) x:view(3)",
        "local x = torch.ones(2) x = torch.ones(5) x:view(5)",
        "local x = torch.ones(2) y = x y:resize(5) x:view(5)",
        "local x = torch.ones(2) x:cmul(torch.ones(5), torch.ones(5)) x:view(5)",
        "local x = torch.ones(2) x:set(torch.ones(5)) x:view(5)",
        "torch.ones(2, 2):add(torch.ones(4))",
        "torch.ones(2):cmul(torch.ones(3), torch.ones(3))",
        "torch.ones(2, 3):t():mm(f()) torch.ones(2):add(f())",
        "torch.ones(2):add(...)",
        "torch.ones(2, 3):clone(1):narrow(1, 1, 2, 9):t(1)",
        "torch.zeros(f()) torch.zeros(...) torch.ones(2, f()):view(7)",
        "function torch.Tensor:add(a, b, c, d) end torch.ones(2):add(1, 2, 3, 4)",
        "local x = torch.rand(1, 2) for i = 1, 2 do x = x:t() end x:view(7)",
        "torch.rand(2, 3):resize(4, 4)",
        "local torch = {ones = f} torch.ones()",
    ],
)
def test_what_is_left_alone(check: Check, source: str) -> None:
    assert check(source, beside="f, y = 1") == []


def _operations(space: str) -> list[str]:
    return sorted(name for name in TABLE if "." not in name and "_" not in name)


#: Values of each kind that operations take.
_VALUES = ("x", "1", "torch.LongStorage{2}", "{x}", "'x'", "torch.LongTensor{1}", "true")


@pytest.mark.thorough
@pytest.mark.parametrize("space", ["function", "method"])
def test_no_call_works_that_is_told(engine: Engine, facts: Facts, space: str) -> None:
    """Of each operation, calls with numbers of arguments that are told fail whatever they are."""
    worked = []
    for name in sorted(facts.operations[space]):
        forms = facts.forms(name, space)
        for count in range(1 if space == "method" else 0, 8):
            if not forms or any(takes(form, count) or is_loose for form, is_loose in forms):
                continue
            free = count - (space == "method")
            mixed = [*product(_VALUES[:2], repeat=free)][:40] if free else [()]
            for values in [*mixed, *((one,) * free for one in _VALUES)]:
                start = f"x.{name}" if space == "method" else f"torch.{name}"
                arguments = ", ".join(["x"] * (space == "method") + list(values))
                code = f"local x = torch.ones(2, 2) return {start}({arguments})"
                if _works(engine, code):
                    worked.append(code)
    assert worked == []


def _works(engine: Engine, code: str) -> bool:
    try:
        engine.run(code)
    except LuaError:
        return False
    return True


_MADE = ("torch.ones(2, 3)", "torch.rand(3, 2)", "torch.eye(2)", "torch.range(1, 6)",
         "torch.Tensor{1, 2}", "torch.zeros(2, 2, 2)", "torch.randperm(3):double()")  # fmt: skip
_CALLS = ("{a} + {b}", "{a} - {b}", "{a} * {b}", "{a}:add({b})", "{a}:add(2, {b})",
          "torch.mm({a}, {b})",
          "torch.mv({a}, {b})", "torch.cmul({a}, {b})", "{a}:cmul({b}, {b})", "{a}:dot({b})",
          "torch.bmm({a}, {b})", "{a}:copy({b})", "torch.dot({a}, {b})",
          "{a}:t():add({b})", "torch.add({a}, 2, {b})")  # fmt: skip
_OWN = ("{a}:view(2, 3)", "{a}:view(-1, 3)", "{a}:view(4)", "{a}:t()", "{a}:reshape(3, 2)")


@pytest.mark.parametrize("call", [*_CALLS, *_OWN])
def test_what_is_told_of_sizes_is_an_error(check: Check, engine: Engine, call: str) -> None:
    """And the other way round: what fails is told, where it fails."""
    for a, b in product(_MADE, _MADE if call in _CALLS else [""]):
        code = call.format(a=a, b=b)
        assert bool(check(f"local x = {code}")) == (not _works(engine, f"return {code}")), code

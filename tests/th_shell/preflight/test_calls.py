"""Numbers of arguments and literal sizes: what is told is an error, as the engine says."""

from itertools import product

import pytest

from tests.conftest import run_text
from tests.data_files import data
from tests.th_shell.preflight.conftest import Check
from th_shell.call_forms import takes
from th_shell.preflight.knowledge import Facts
from th_shell.runtime.shell import TABLE, Engine, LuaError


@pytest.mark.parametrize(
    ("source", "expected"),
    data(__file__, "test_what_is_found")
)  # fmt: skip
def test_what_is_found(check: Check, source: str, expected: str) -> None:
    found = check(source, columns=True)
    assert [one for one in found if "not installed" not in one] == [expected]


@pytest.mark.parametrize("source", data(__file__, "test_what_is_left_alone"))
def test_what_is_left_alone(check: Check, source: str) -> None:
    found = check(source, beside="f, x, y = 1")
    assert [one for one in found if "not installed" not in one] == []


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
        run_text(engine, code)
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


@pytest.mark.sample(1)
@pytest.mark.parametrize("call", [*_CALLS, *_OWN])
def test_what_is_told_of_sizes_is_an_error(check: Check, engine: Engine, call: str) -> None:
    """And the other way round: what fails is told, where it fails."""
    for a, b in product(_MADE, _MADE if call in _CALLS else [""]):
        code = call.format(a=a, b=b)
        assert bool(check(f"local x = {code}")) == (not _works(engine, f"return {code}")), code

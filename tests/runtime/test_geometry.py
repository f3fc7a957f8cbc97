"""Geometry that Lua decides alone is what Python makes of the same calls.

A program is drawn step by step and run twice: with tensors that Lua alone knows, and with tensors
that were passed to Python before each step, so that Python decides. Both must print the same.
"""

import random
import sys

import pytest

from tests.conftest import Lua
from tests.data_files import data

# keep: what is done to each tensor, new or used. Errors are printed, without positions.
RUN = data(__file__, "RUN")

TYPES = ["Double", "Float", "Long", "Byte"]


def _size(draw: random.Random) -> str:
    count = draw.choice([1, 2, 3, 4, 1, 2, 3, 4, 6])
    return ", ".join(str(draw.randint(1, 4 if count < 5 else 2)) for _ in range(count))


def _steps(draw: random.Random) -> str:
    """The source of one step; at(k) is a tensor, add(x) keeps a new one."""
    k, j = draw.randint(1, 50), draw.randint(1, 50)
    d, e = draw.randint(1, 3), draw.randint(1, 3)
    size = _size(draw)
    first = draw.randint(1, 4)
    dtype = draw.choice(TYPES)
    return draw.choice(
        [
            f"add(torch.{dtype}Tensor({size}):fill({k}))",
            f"add(torch.{dtype}Tensor{{{size}}})",
            f"add(torch.{dtype}Tensor{{{{1, 2, {k}}}, {{4, 5, {j}}}}})",
            f"add(torch.{dtype}Tensor(torch.LongStorage{{{size}}}):zero())",
            f"add(at({k}):new())",
            f"add(at({k}).new():resizeAs(at({j})):fill({k}))",
            f"add(at({k}).new(at({k}):storage(), {first}, {draw.randint(1, 5)}))",
            f"add(at({k}).new(at({k}):storage(), {first}, torch.LongStorage{{{size}}}))",
            f"at({k}):resize({size})",
            f"at({k}):resize(torch.LongStorage{{{size}}})",
            f"at({k}):resizeAs(at({j}))",
            f"at({k}):set(at({j}))",
            f"at({k}):set()",
            f"at({k}):set(at({j}):storage(), {first}, {draw.randint(1, 6)})",
            f"at({k}):set(at({j}):storage(), {first}, {draw.randint(1, 3)}, {draw.randint(0, 3)})",
            f"at({k}):set(at({j}):storage(), {first}, torch.LongStorage{{{size}}})",
            f"at({k}):set(at({j}):storage())",
            f"at({k}):set(at({j}):storage(), {first}, torch.LongStorage{{{d}, {e}}}, "
            f"torch.LongStorage{{{first}, {draw.randint(0, 4)}}})",
            f"at({k}):view(at({j}), -1)",
            f"at({k}):view(at({j}), -1, {e}, 1)",
            f"at({k}):view(at({j}), torch.LongStorage{{{size}}})",
            f"at({k}):viewAs(at({j}), at({k + 1}))",
            f"at({k}):expand(at({j}), {size})",
            f"at({k}):expandAs(at({j}), at({k + 1}))",
            f"at({k}):cmul(at({j}), at({j}))",
            f"at({k}):storage():resize({draw.randint(1, 20)})",
            f"at({k}):storage()[{first}] = {j}",
            f"add(at({k}):narrow({d}, {first}, {e}))",
            f"add(at({k}):select({d}, {first}))",
            f"add(at({k}):sub({first}, -{e}))",
            f"add(at({k}):sub({first}, -1, {e}, -1))",
            f"add(at({k}):transpose({d}, {e}))",
            f"add(at({k}):t())",
            f"add(at({k}):permute({', '.join(map(str, draw.sample([1, 2, 3], 3)))})))"[:-1],
            f"add(at({k}):squeeze())",
            f"add(at({k}):squeeze({d}))",
            f"add(at({k}):unfold({d}, {e}, {draw.randint(1, 2)}))",
            f"add(at({k}):view(-1))",
            f"add(at({k}):view({e}, -1))",
            f"add(at({k}):view(-1, {e}, 1))",
            f"add(at({k}):view(torch.LongStorage{{{size}}}))",
            f"add(at({k}):viewAs(at({j})))",
            f"add(at({k}):expand({size}))",
            f"add(at({k}):expandAs(at({j})))",
            f"add(at({k}):clone())",
            f"add(at({k}):contiguous())",
            f"add(at({k}):{dtype.lower()}())",
            f"add(at({k}):typeAs(at({j})))",
            f"at({k}):copy(at({j}))",
            f"at({k})[{first}] = at({j})",
            f"at({k})[{{{{{first}, -1}}}}] = {j}",
            f"at({k}):fill({j})",
        ]
    )


def _program(draw: random.Random) -> str:
    steps = [f"add(torch.range(1, 12):resize({_size(draw)}))"]
    steps += [_steps(draw) for _ in range(draw.randint(5, 25))]
    return "\n".join(f"function(at, add) {step} end," for step in steps)


@pytest.mark.thorough
@pytest.mark.parametrize("count", [25, pytest.param(500, marks=pytest.mark.slow)])
def test_lua_decides_as_python(lua: Lua, count: int) -> None:
    lua.run(RUN)
    lua.engine.set_fill_pattern(1)
    for seed in range(count):
        program = _program(random.Random(seed))
        printed = lua.run(f"""
            local program = {{ {program} }}
            local alone = geometry_run(program, function(x) return x end)
            local known = geometry_run(program, function(x) x:retain() x:free() return x end)
            local seen = geometry_run(program, function(x) x:cdata() return x end)
            if alone ~= known then io.write(alone, '\\n---\\n', known) end
            if alone ~= seen then io.write(alone, '\\n--- seen\\n', seen) end
        """)
        assert printed == "", f"seed {seed}\n{program}"
    lua.engine.set_fill_pattern(None)


OVERFLOW = "$ Torch: invalid memory size -- maybe an overflow?"


@pytest.mark.parametrize("known", [False, True], ids=["lua", "python"])
@pytest.mark.parametrize("view", data(__file__, "test_elements_that_no_storage_has"))
def test_elements_that_no_storage_has(lua: Lua, view: str, known: bool) -> None:
    lua("S, s = torch.LongStorage, torch.Storage(10) x = torch.Tensor(3) y = torch.Tensor(s)")
    if known:
        lua("x:cdata() x:storage():retain() torch.sort(x)")
    assert lua.error(f"return torch.Tensor(s, {view})") == OVERFLOW
    assert lua.error(f"x:set(s, {view})") == OVERFLOW
    assert lua("print(x:dim(), x:size(1), x:stride(1), #s, y:size(1))") == "1\t3\t1\t10\t10\t\n"


@pytest.mark.parametrize(
    "sizes", ["2^32, 2^32", "2^16, 2^16, 2^16, 2^16", "S{2^32, 2^32, 1, 1, 2}"]
)
def test_sizes_whose_product_no_storage_has(lua: Lua, sizes: str) -> None:
    lua("S, x = torch.LongStorage, torch.Tensor(3) wide = torch.Tensor(1, 1, 1)")
    lua("wide = wide:expand(2^31, 2^31, 2^31)")
    for call in (
        f"torch.Tensor({sizes})",
        f"x:resize({sizes})",
        "x:resizeAs(wide)",
        "wide:clone()",
    ):
        assert lua.error(call) == OVERFLOW
    assert lua("print(x:dim(), x:size(1), wide:dim())") == "1\t3\t3\t\n"


@pytest.mark.parametrize("keep", ["", ":cdata()"], ids=["lua", "python"])
def test_a_step_that_wraps_leads_nowhere(lua: Lua, keep: str) -> None:
    lua("x = torch.Tensor{5, 6} " + (f"local c = x{keep}" if keep else ""))
    lua("for k = 1, 3 do x = x:unfold(1, 1, k == 3 and 2^31 or 2^62) end")
    assert lua("print(x:dim(), x:nElement(), x:stride(1), x:clone()[1][1][1][1])") == (
        "4\t1\t0\t5\t\n"
    )


@pytest.mark.parametrize(
    "made", ["clone(torch.FloatTensor())", "clone(torch.FloatTensor(3):set())"]
)
def test_copies_of_empty_tensors_become_views_without_python(lua: Lua, made: str) -> None:
    """Results of nn's modules start so, where a net was cloned or loaded."""
    lua("function clone(x) return torch.deserialize(torch.serialize(x)) end")
    lua(f"results = {{ {made}, {made}:clone() }} source = torch.FloatTensor(6):fill(2)")
    lua("function step(x) x:view(source, 2, 3) x:zero() end step(results[1]) step(results[2])")
    files = []
    sys.setprofile(lambda frame, *_: files.append(frame.f_code.co_filename))
    try:
        lua("step(results[1]) step(results[2])")
    finally:
        sys.setprofile(None)
    assert [file for file in files if "/ops/" in file] == []
    assert lua("print(source:sum(), #results[1]:size(), results[2]:size(2))") == "0\t2\t3\t\n"

"""What th --check finds in programs, and what it leaves alone."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.preflight.conftest import Check
from th_shell.preflight.finding import syntax_errors
from th_shell.preflight.knowledge import Facts
from th_shell.preflight.programs import Modules
from th_shell.runtime.shell import Engine

#: Globals that the sources use.
GIVEN = "x, y, f, m, b, t, Module = 1"


CPU = "th computes on the processor alone; use :float(), or th --gpu-as-cpu for the whole program"
GPU = "it computes on a GPU, and th on the processor alone; leave it out, or use th --gpu-as-cpu"
NN = "a package of Lua files that is not installed; th --install nn"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("require 'cunn'", [f"1: require 'cunn': {GPU}"]),
        ("local nn = require('nn')", [f"1: require 'nn': {NN}"]),
        (
            "\nrequire 'no.such.module'",
            [
                "2: require 'no.such.module': no such module is found; "
                "install it where package.path (LUA_PATH) finds it"
            ],
        ),
        (
            "require 'libmine'",
            [
                "1: require 'libmine': a C library that is not here; build it for LuaJIT 2.1, on "
                "package.cpath (LUA_CPATH)"
            ],
        ),
        ("model = nn.Linear(1, 2)\nnn.Tanh()", [f"1: nn.…: {NN}"]),
        ("cutorch.synchronize()", [f"1: cutorch.…: {GPU}"]),
        ("x = y:cuda()", [f"1: :cuda(): {CPU}"]),
        ("x = y\n:cudaLong()", [f"2: :cudaLong(): {CPU}"]),
        ("x:type('torch.CudaTensor')", [f"1: 'torch.CudaTensor': {CPU}"]),
        (
            "torch.setdefaulttensortype('torch.CudaTensor')",
            [f"1: 'torch.CudaTensor': {CPU}"],
        ),
        ("local T = torch; x = T.CudaTensor(3)", [f"1: torch.CudaTensor: {CPU}"]),
        (
            "x = torch.zeroes(3)",
            ["1: torch.zeroes: torch has no zeroes; there is zeros"],
        ),
        (
            "local T = require 'torch'; T.compile()",
            ["1: torch.compile: torch has no compile; define it, or leave it out"],
        ),
        ("math.sine(1)", ["1: math.sine: math has no sine; there is sin"]),
        (
            "torch.randn(3, 3):t():clonee()",
            ["1: :clonee(): no tensor has it; there is clone"],
        ),
        (
            "local x = torch.zeros(3)\nlocal function f() return x:requires_grad() end",
            ["2: :requires_grad(): no tensor has it; define it, or leave it out"],
        ),
        (
            "x = 1\ny = 7 // 2",
            [
                "2: syntax error: unexpected symbol near '/': "
                "// is an operator of Lua 5.3; use math.floor(a / b)"
            ],
        ),
        (
            "local x <const> = 1",
            [
                "1: syntax error: unexpected symbol near '<': "
                "attributes of locals are Lua 5.4's; leave them out"
            ],
        ),
        (
            "x = )",
            ["1: syntax error: unexpected symbol near ')': LuaJIT does not compile it; correct it"],
        ),
    ],
)
def test_what_is_found(check: Check, source: str, expected: list[str]) -> None:
    assert check(source, beside=GIVEN) == expected


@pytest.mark.parametrize("source", data(__file__, "test_what_is_left_alone"))
def test_what_is_left_alone(check: Check, source: str) -> None:
    assert check(source, beside=GIVEN) == []


@pytest.mark.parametrize(("source", "other"), data(__file__, "test_what_another_file_has"))
def test_what_another_file_has(check: Check, source: str, other: str) -> None:
    assert check(source, beside=GIVEN) != []
    assert check(source, other, beside=GIVEN) == []


@pytest.mark.parametrize("path", ["util/misc.lua", "util/misc/init.lua", "misc.lua"])
def test_modules_in_folders_above_the_file(
    engine: Engine, facts: Facts, tmp_path: Path, path: str
) -> None:
    module, program = tmp_path / path, tmp_path / "scripts" / "train.lua"
    for file in (module, program):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("require 'util.misc'")
    modules = Modules(engine, [program])
    assert modules.finds("util.misc", program)
    assert not modules.finds("util.other", program)


def test_the_package_that_a_folder_describes(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "mine-1.0-0.rockspec").touch()
    modules = Modules(engine, [])
    assert modules.finds("mine", tmp_path / "a.lua")
    assert modules.finds("mine.inner", tmp_path / "src" / "a.lua")
    assert not modules.finds("other", tmp_path / "a.lua")


def test_a_package_uses_its_own_global(check: Check, tmp_path: Path) -> None:
    assert check("unsup.psd()") != []
    (tmp_path / "unsup-1-1.rockspec").touch()
    assert check("unsup.psd()") == []


@pytest.mark.parametrize(
    ("module", "places"), data(__file__, "test_modules_that_a_program_loads_are_read")
)
def test_modules_that_a_program_loads_are_read(
    check: Check, tmp_path: Path, module: str, places: int
) -> None:
    (tmp_path / "extras.lua").write_text(module)
    (tmp_path / "inner.lua").write_text("torch.foo = 1 torch.Tensor.bar = 1 require 'extras'")
    assert len(check("require 'extras' torch.foo() torch.rand(3):bar()")) == places


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("x = " + "-".join("1" * 5000), 0),
        ("x = " + "(" * 5000, 1),
        ("require '" + "a" * 999 + "'", 1),
    ],
)
def test_what_is_very_long_or_deep(check: Check, source: str, count: int) -> None:
    assert len(check(source)) == count


@pytest.mark.parametrize(("source", "lines"), data(__file__, "test_lines_with_syntax_errors"))
def test_lines_with_syntax_errors(engine: Engine, source: str, lines: list[int]) -> None:
    assert [line for line, _ in syntax_errors(source.encode(), engine)] == lines


def test_places_of_syntax_errors(check: Check) -> None:
    assert check("local é = = 1\n\n  return = 2", columns=True) == [
        "1:11: syntax error: unexpected symbol near '=': LuaJIT does not compile it; correct it",
        "3:10: syntax error: unexpected symbol near '=': LuaJIT does not compile it; correct it",
    ]


def test_the_rest_is_still_read(check: Check) -> None:
    source = """
        require 'cutorch'
        local function f(a, 1) return torch.foo(a) end
        if f then x = torch.fooo() y = = require 'nowhere' end
        lcal = torch.ones(2):bar()
        function g( return lcall end
    """
    assert [line.partition(":")[0] for line in check(source)] == ["2", "3", "4", "5", "6"]


def test_names_that_broken_lines_may_declare_are_not_told(check: Check) -> None:
    assert check("for i = 1,, 2 do\n  print(i, someName)\nend\nprint(someNmae)") == [
        "1: syntax error: unexpected symbol near ',': LuaJIT does not compile it; correct it"
    ]

"""What th --check says of names: undefined globals, misspelt members, methods and fields."""

from __future__ import annotations

import pytest

from tests.th_shell.preflight.conftest import Check


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("prnt(1)", "1:1: prnt: a global that nothing defines; there is print"),
        ("print(undefined_name)", "1:7: undefined_name: a global that nothing defines; "
         "define it, or leave it out"),
        ("local é = 'é' .. nothing", "1:18: nothing: a global that nothing defines; "
         "define it, or leave it out"),
        ("do\n local inner = 1\nend print(inner)", "3:11: inner: a global that nothing defines; "
         "define it, or leave it out"),
        ("local count = 1; print(cuont)", "1:24: cuont: a global that nothing defines; there is "
         "count"),
        ("loadstring(code)() local count = 1; code = ''; print(cuont)",
         "1:54: cuont: no such variable; there is count"),
        ("nn = require 'nn'\nm = require('nn').Sequentail()", "2:19: nn.Sequentail: nn has no "
         "Sequentail; there is Sequential"),
        ("local o = require 'optim' o.sdg(1)", "1:29: optim.sdg: optim has no sdg; there is sgd"),
        ("arg:forwrad(1)", "1:5: :forwrad(): nothing here has it; there is forward"),
        ("local M = {} function M.compute() end M.comptue()", "1:41: .comptue: nothing here "
         "defines it; there is compute"),
        ("local M = {colour = 1} print(M.colur)", "1:32: .colur: nothing here defines it; there is "
         "colour"),
        ("arg:fowrard(1)", "1:5: :fowrard(): nothing here has it; there is forward"),
        ("torch.zeross(3)", "1:7: torch.zeross: torch has no zeross; there is zeros"),
    ],
)  # fmt: skip
def test_what_is_found(check: Check, source: str, expected: str) -> None:
    found = [one for one in check(source, columns=True) if "not installed" not in one]
    assert found == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "if other then other() end",
        "other = other or {} other.x = 1",
        "if type(other) == 'table' then print(other.x) end",
        "while not other do other() end",
        "_G[('x'):rep(3)] = 1; for k in pairs(_G) do end; print(other)",
        "setfenv(1, {print = print}) print(other)",
        "loadstring('other = 1')() print(other)",
        "module('mine', package.seeall) print(other)",
        "require 'no.such.module' print(other)",
        "require('mine' .. arg[1]) print(other)",
        "dofile(arg[1]) print(other)",
        "_G.other = 1 print(other)",
        "rawset(_G, 'other', 1) print(other)",
        "local class = require 'class' class 'Other' Other()",
        "torch.class('Other') Other()",
        "image.load('x')",
        "love.graphics.draw(other)",
        "describe('x', function() it('y', function() end) end)",
        "print(arg[1], _VERSION, unpack({}))",
        "nn.MyOwnLinear() nn.ReLU7() optim.sgdx()",
        "arg:foo() arg:methods() arg:stepp_all()",
        "local M = {compute = 1} print(M.computes, M.comput3, M[1].computing)",
        "local o = {count = 1} local other = require 'no.such' other.countt() require('no').coun()",
        "local lib = {count = 1} lib.C.coun(1)",
        "local o = {count = 1} if not o._count then print(o.couny == nil, o.conut or 1) end",
        "cmd = torch.CmdLine() cmd:option('-max_epoch', 1) local opt = cmd:parse(arg)\n"
        "print(opt.max_epoch, opt.maxepoch, opt.maxepoch)",
        "goto done; ::done::",
        "map(range(3)) zip(fold(1), take(2))",
        "nn.TemporalKMaxPooling() nn.LinearN()",
        "nn = require 'nn' torch.class('nn.ReTest') nn.ReTest()",
        "nn.Wheel = 1 nn.Wheel() local net = arg:next()",
    ],
)
def test_what_is_left_alone(check: Check, source: str) -> None:
    said = [one for one in check(source) if "install" not in one]
    assert said == []


def test_what_a_file_beside_it_defines(check: Check) -> None:
    assert check("print(other)") != []
    assert check("print(other)", "function other() end") == []
    assert check("print(other)", beside="local x\nother = 1") == []


def test_a_file_beside_it_that_only_asks(check: Check) -> None:
    assert check("print(other)", beside="print(other == 1)") != []

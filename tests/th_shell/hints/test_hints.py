from __future__ import annotations

from pathlib import Path

import pytest

from th_shell.entry import Entry
from th_shell.hints.hints import hints_on, hints_on_nil
from th_shell.runtime.shell import Engine, LuaError
from th_shell.session.session import Session

VALUES = """
x, a, b = torch.randn(2, 3), torch.randn(2, 3), torch.randn(2, 3)
v, w = torch.randn(3), torch.randn(2)
s = torch.DoubleStorage(6)
text = "three"
ints = torch.IntTensor(3)
t = { alpha = 1, sub = { beta = 2 } }
user = { add = function(n) return n.first.second end, fail = function() error('size mismatch') end }
"""


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def hinted(session: Session, source: str) -> list[str]:
    # The engine is that of all tests here: the values are made anew for each.
    assert session.evaluate(VALUES) is None
    error = session.evaluate(source)
    assert error is not None, f"{source} is no error"
    return hints_on(error, session.log, session.engine)


HINTS = [
    # '.' and ':'
    ("x.clone()", "a method is called with ':': x:clone(…)"),
    ("x.size(1)", "a method is called with ':': x:size(…)"),
    ("torch.zeros(2).add(1)", "a method is called with ':': :add(…)"),
    ("x.add(3)", "a method is called with ':': x:add(…)"),
    ("torch:randn(2)", "a function is called with '.': torch.randn(…)"),
    ("string:upper('a')", "a function is called with '.': string.upper(…)"),
    ("x:size", "a method needs its brackets: x:size()"),
    # products
    ("a * b", "a is 2x3, b is 2x3: b needs 3 rows; a * b:t() would fit"),
    ("torch.mm(a, b)", "a is 2x3, b is 2x3: b needs 3 rows; a * b:t() would fit"),
    ("a * a", "a is 2x3: a * a:t() would fit, or a:t() * a"),
    ("a * w", "a is 2x3, w is 2: w needs 3 elements; a:t() * w would fit"),
    ("a * torch.randn(7)", "the first is 2x3, the second is 7: the second needs 3 elements"),
    (
        "a:t() * b:t()",
        "the first is 3x2, the second is 3x2: the second needs 2 rows",
    ),
    # element by element
    ("a + w", "a has 6 elements, w has 2"),
    (
        "a:cmul(v)",
        "a has 6 elements, v has 3; nothing is repeated by itself: v:view(1, 3):expandAs(a) fits",
    ),
    ("a:dot(v)", "a has 6 elements, v has 3"),
    ("x:view(4, 2)", "2x3 has 6 elements, 4x2 would have 8"),
    # indices
    ("x[5]", "x is 2x3: the first index goes from 1 to 2"),
    ("x[0]", "x is 2x3: indices begin with 1"),
    ("x[{1, 7}]", "x is 2x3"),
    ("x[{{1, 9}}] = 1", "x is 2x3"),
    ("x:select(1, 9)", "x is 2x3"),
    ("x:size(4)", "x is 2x3: its dimensions are 1 to 2"),
    ("torch.sum(x, 3)", "x is 2x3: its dimensions are 1 to 2"),
    ("print(s[100])", "s has 6 elements, s[1] to s[6]"),
    ("v[4] = 1", "v has 3 elements, v[1] to v[3]"),
    ("v[0] = 1", "v is a vector: indices begin with 1"),
    ("v:sum(2)", "v is a vector"),
    # other sizes
    ("torch.cat(a, v, 2)", "a is 2x3, v is 3"),
    ("torch.inverse(a)", "a is 2x3"),
    # nil
    ("torch.rnad(2)", "there is torch.rand, torch.randn"),
    ("x:summ()", "there is x:sum"),
    ("print(t.alpah.x)", "there is t.alpha"),
    ("t.sub.betaa()", "there is t.sub.beta"),
    ("randn(3)", "there is torch.randn"),
    ("pirnt(3)", "there is print"),
    ("x + nope", "nope is nil"),
    ("torch.add(x, vv)", "vv is nil"),
    # names of other languages
    ("torch.CudaTensor(3)", "there is no GPU here: use torch.FloatTensor, or th --gpu-as-cpu"),
    ("torch.zeros_like(x)", "in place of zeros_like: x.new():resizeAs(x):zero()"),
    ("print(a.shape[1])", "in place of shape: a:size()"),
    ("len(x)", "in place of len: #t of a table or string, x:size(1) of a tensor"),
    (
        "np.zeros(2)",
        "numpy's functions are here in torch: torch.zeros(2, 3), torch.range(1, 10)",
    ),
    # methods and functions
    ("torch.narrow(x, 1, 1, 1)", "narrow is a method: x:narrow(…)"),
    ("torch.sub(x, 1, 1)", "sub is a method: x:sub(…)"),
    ("v:inverse()", "inverse is a function: torch.inverse(v)"),
    # types
    ("x < 3", "tensors are compared element by element by x:lt(3)"),
    ("x .. 'a'", "a tensor becomes text by tostring(x)"),
    ("'a' + 1", "texts are joined by '..': 'a' .. 1"),
    (
        "x:index(1, torch.Tensor{1})",
        "a LongTensor is needed in place of the DoubleTensor: :long() converts it",
    ),
    (
        "x:gather(1, v)",
        "a LongTensor is needed in place of the DoubleTensor: :long() converts it",
    ),
    (
        "v:add(ints)",
        "a DoubleTensor is needed in place of the IntTensor: :double() converts it",
    ),
    (
        "v + ints",
        "v is a DoubleTensor, ints an IntTensor: one must be converted, as by :double()",
    ),
    ("x ^ 2", "powers of the elements: torch.pow(x, 2)"),
    ("for i in 1, 3 do end", "a loop over numbers is written: for i = first, last do"),
    ("for k in t do end", "a loop over a table is written: for _, k in ipairs(t) do"),
    ("for e in x do end", "a loop over a tensor is written: for i = 1, x:size(1) do"),
    ("for k, v in t do end", "a loop over a table is written: for k, v in ipairs(t) do"),
    ("x(2)", "elements are written x[2]"),
    ("print(x(2, 3))", "elements are written x[{2, 3}]"),
    ("for i = 1, #x do end", "x has a size for each dimension: x:size(1) is a number"),
    ("for i = 1, x:size() do end", "x has a size for each dimension: x:size(1) is a number"),
    ("for i, e in ipairs(x) do end", "x is a tensor: x:totable() is a table"),
    ("table.concat(s)", "s is a storage: s:totable() is a table"),
    ("string.rep(x, 3)", "x is a tensor: tostring(x) is a text"),
    ("x:resize(t)", "t is a table: sizes are numbers, or torch.LongStorage(t)"),
    ("x:narrow(t, 1, 1)", "t is a table"),
    ("math.floor(text)", "text is a string"),
    ("if nope > 3 then end", "nope is nil"),
    # notations
    ("x != 3", "not equal is written ~="),
    ("x += 1", "write x = x + …"),
    ("i++", "write i = i + 1"),
    ("a[0:2]", "a range of indices is written a[{{first, last}}]; indices begin with 1"),
    ("x[1,2]", "several indices are written x[{1, 2}]; x[{{}, 2}] is the second column"),
    ("def f(q): return q", "write function f(q) … end"),
    ("if x = 3 then end", "equal is written =="),
    ("if x then y = 1 elif z then w = 2 end", "write elseif"),
    ("x && a", "write and"),
    ("y = x || a", "write or"),
    ("!x", "write not"),
    ("// text", "a comment begins with --"),
    ("y = [1, 2, 3]", "a list is written {1, 2, 3}"),
    ("for i = 1, 3 { print(i) }", "a block is written do … end"),
    (
        "for i = 1, 3: print(i)",
        "write then, or do, in place of the colon, and end behind the block",
    ),
    ("import numpy as np", "a package is loaded by require 'name'; torch is there already"),
    ("var n = 1", "write local n = …, or n = … for a global"),
    ("print x", "write print(x)"),
    ("y = x ** 2", "a power is written ^"),
    ("f = lambda q: q", "write function(q) return … end"),
]


@pytest.mark.thorough
def test_hints(session: Session) -> None:
    found = [(source, hinted(session, source)) for source, _ in HINTS]
    assert found == [(source, [f"hint: {hint}"]) for source, hint in HINTS]


NO_HINTS = [
    # errors of programs, whatever their texts
    """error("attempt to call field 'rnad' (a nil value)")""",
    """error("stdin:1: attempt to call method 'summ' (a nil value)", 0)""",
    "assert(false, 'size mismatch, m1: [2 x 3], m2: [2 x 3]')",
    "error('bad argument #1 to \\'clone\\' (out of range)') -- x[0]",
    "user.fail()",
    "error({ code = 1 })",
    "error(nil)",
    "xlua.error('module nn not found:')",
    # a value of which nothing is known
    "x:t():foo()",
    "(x):foo()",
    "t.sub.gamma()",
    "local t = { gamma = 1 }; t.gamm()",
    "local function f(x) x:summ() end f({})",
    "for _, x in ipairs{ {} } do x:summ() end",
    "print(x, y.foo)",
    "user.add({})",
    "nothing_like_it()",
    "x[1][0] = torch.randn(3)",
    "-x < 2",
    "x + nil",
    "1 + nil",
    "x[1] = torch.randn(3)[7]",
    "x[v[7]] = 1",
    "y = x[1] + x[9]",
    "x:t():select(1, 9)",
    "x:select(1, 1):select(1, 9)",
    "torch.sum(x + 1, 3)",
    "math.max(1, nothing, other)",
    "a:add(torch.randn(5))",
    "x[torch.ByteTensor{1}] = 7",
    "return torch.multinomial(nothing, 1)",
    "math.floor('a')",
    "(x)(2)",
    "for i = 1, t do end",
    # a right call with another error
    "x.add(x, 'a')",
    "x:add('a')",
    "torch.randn('a')",
    # no notation of another language
    "y = = 3",
    "print('!= && [1]' x)",
    "y = { 1, 2",
    's = "abc',
    "if x then",
    "x = { [1] = 2 3 }",
    "require 'no_such_module'",
]


def test_where_there_is_no_hint(session: Session) -> None:
    found = {source: hinted(session, source) for source in NO_HINTS}
    assert {source: hints for source, hints in found.items() if hints} == {}


def test_the_line_of_several_is_quoted(session: Session) -> None:
    assert hinted(session, "local q = 1\nlocal r = x:summ()\nprint(r)") == [
        "stdin:2:  local r = x:summ()",
        "hint: there is x:sum",
    ]


def test_the_line_of_a_file_is_quoted(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.lua").write_text("-- a file\nreturn x:summ() -- x\n")
    assert hinted(session, "dofile 'part.lua'") == [
        "part.lua:2:  return x:summ() -- x",
        "hint: there is x:sum",
    ]


def test_a_file_that_does_not_compile(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.lua").write_text("x = 1\nx += 1\n")
    assert hinted(session, "dofile 'bad.lua'") == ["bad.lua:2:  x += 1", "hint: write x = x + …"]


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("x = {1,2\n3}", "a comma is missing at the end of line 1"),
        ("x = {1,2\n3", "a comma is missing at the end of line 1"),
        (
            "x = {\n  {1, 2} -- a row, and no more\n\n  {3, 4}\n}",
            "a comma is missing at the end of line 2",
        ),
        ("x = {\n  a = 1\n  b = 2\n}", "a comma is missing at the end of line 2"),
        ("x = {'a'\n'b'}", "a comma is missing at the end of line 1"),
        ("x = {1, 2\ny = 3", "a comma, or the } is missing at the end of line 1"),
        ("print(1,\n2\n'a')", "a comma is missing at the end of line 2"),
        ("print(f\nx, 1)", "a comma is missing at the end of line 1"),
        ("print(f\nnil)", "a comma is missing at the end of line 1"),
    ],
)
def test_a_comma_between_two_lines(session: Session, source: str, missing: str) -> None:
    assert hinted(session, source)[-1] == f"hint: {missing}"


@pytest.mark.parametrize(
    "source",
    ["print(1\nx = 3)", "print(1\nf(2))", "x = { 1,\n 2 3 }", "x = { 1\n; = }", "x = { y and\n}"],
)
def test_another_mistake_than_a_comma(session: Session, source: str) -> None:
    assert not [line for line in hinted(session, source) if line.startswith("hint")]


def test_the_line_of_a_numbered_input_is_quoted(session: Session) -> None:
    assert session.evaluate(VALUES) is None
    error = LuaError("[2]:3: attempt to call method 'summ' (a nil value)")
    log = [Entry(2, "function f()\n\n  x:summ()\nend", None), Entry(3, "f()", error)]
    assert hints_on(error, log, session.engine) == ["[2]:3:  x:summ()", "hint: there is x:sum"]


def test_no_code_of_the_program_is_run(session: Session) -> None:
    session.evaluate(
        "odd = setmetatable({}, { __index = function(_, k) if asked then ran = true end end })"
    )
    error = session.evaluate("asked = false; odd.thing()")
    assert error is not None
    session.evaluate("asked = true")
    assert hints_on(error, session.log, session.engine) == []
    assert not session.engine.inspect("ran")


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("null", "in place of null: nil"),
        ("= None", "in place of None: nil"),
        ("x.shape", "in place of shape: x:size()"),
        ("x.T", "in place of T: x:t()"),
        ("torch.rnad", "there is torch.rand, torch.randn"),
        ("torch.matmul", "in place of matmul: a * b"),
    ],
)
def test_names_that_print_nil(engine: Engine, source: str, hint: str) -> None:
    engine.run(engine.compile(VALUES.encode()))
    assert hints_on_nil(source, engine) == [f"hint: {hint}"]


@pytest.mark.parametrize(
    "source", ["nothing", "t.shape", "t.alpah", "x.sum", "nil", "x", "undef.T"]
)
def test_names_that_may_well_be_nil(engine: Engine, source: str) -> None:
    engine.run(engine.compile(VALUES.encode()))
    assert hints_on_nil(source, engine) == []

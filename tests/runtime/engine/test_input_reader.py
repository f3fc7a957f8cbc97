"""Reading inputs: locals that outlive them, and where an expression behind statements begins."""

import time

import pytest

from th_shell.runtime.engine.input_reader import KEEP, keeping_locals, read


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"local a, b = 1, 2", [b"a", b"b"]),
        (b"local a; local function f(c) local d end", [b"a", b"f"]),
        (b"local a = function() local b end local c", [b"a", b"c"]),
        (b"do local a end if x then local b end for i = 1, 2 do local c end", []),
        (b"repeat local a until a local b = {c = 1}", [b"b"]),
        (b"local s = [[local t]] -- local u\nlocal v = 'local w' --[[ local x ]]", [b"s", b"v"]),
        (b"local a = 1 local a = 2", [b"a", b"a"]),
        (b"function f() local a end", []),
        (b"local \xc3\xa9 = 1", [b"\xc3\xa9"]),
    ],
)
def test_locals_of_the_chunk(source: bytes, expected: list[bytes]) -> None:
    assert list(read(source).locals) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"x=5; x", b"x"),
        (b"a=1 b=2; b", b"b"),
        (b"local t = 3\nt", b"t"),
        (b"local t = 3\nt, t + 1", b"t, t + 1"),
        (b"x = f{1} 'a'", None),
        (b"x = f 'a' 'b' {}\ny", b"y"),
        (b"x = {1}\n(y)", b"(y)"),
        (b"x = 5 -- five\n(y):z()", b"(y):z()"),
        (b"x = 1e-5\ny", b"y"),
        (b"x = 5\nnot y", b"not y"),
        (b"x = nil\n'text'", b"'text'"),
        (b"f() -1", None),
        (b"x = 1; f() -1", b"f() -1"),
        (b"x = function() end\ny", b"y"),
        (b"x = function() end function f() end f", b"f"),
        (b"for i = 1, 2 do f(i) end -1", b"-1"),
        (b"repeat x() until y\nz", b"z"),
        (b"::top:: x", b"x"),
        (b"x = 5 y", None),
        (b"x = 'a' 'b'", None),
        (b"x = a b", None),
        (b"x = 5;", None),
        (b"x = y -- z", None),
        (b"x", None),
        (b"x; y = 1", None),
    ],
)
def test_an_expression_behind_statements(source: bytes, expected: bytes | None) -> None:
    last = read(source).last
    assert (None if last is None else source[last.offset :]) == expected


TAKE_A = b" " + KEEP + b"(function()return a end) "


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"f()", b"f()"),
        (b"local a -- note", b"local a -- note\n" + TAKE_A[1:]),
        (b"local a return a", b"local a" + TAKE_A.replace(b" _", b"  _") + b"return a"),
        (
            b"local a if a then return end",
            b"local a if a then " + TAKE_A + b"return end\n" + TAKE_A[1:],
        ),
        (
            b"local a for a = 1, 2 do return end",
            b"local a for a = 1, 2 do return end\n" + TAKE_A[1:],
        ),
        (b"local a ::z::", b"local a " + TAKE_A + b"::z::"),
        (
            b"local a function f() return a end",
            b"local a function f() return a end\n" + TAKE_A[1:],
        ),
    ],
)
def test_locals_are_taken_over_where_the_chunk_may_end(source: bytes, expected: bytes) -> None:
    found = keeping_locals(source, read(source).exits)
    assert b" ".join(found.split(b" ")).replace(b"  ", b" ") == expected.replace(b"  ", b" ")


def test_a_function_takes_over_as_many_as_it_can_have_upvalues() -> None:
    source = b" ".join(b"local v%d" % i for i in range(120))
    assert keeping_locals(source, read(source).exits).count(b"function()return") == 3


@pytest.mark.thorough
def test_reading_takes_time_in_proportion_to_the_length() -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        read(b"local x = {1, 'a'} f(x) y = x " * count)
        return time.process_time() - start

    seconds(100)
    assert seconds(4000) < 20 * max(seconds(400), 1e-3)

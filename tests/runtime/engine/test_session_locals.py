"""Locals of a session: inputs share them with later inputs and with functions of earlier ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from th_shell.runtime.shell import Engine, LuaError, LuaSyntaxError


@pytest.fixture
def entered(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What inputs print, one after the other, and their errors."""
    engine = Engine()

    def enter(*inputs: str) -> str:
        for number, text in enumerate(inputs, 1):
            try:
                engine.enter(text.encode(), b"=[%d]" % number, number)
            except LuaError as error:
                engine.write(f"{error.message}\n{error.traceback}\n".replace("\n\n", "\n"))
        engine.flush()
        return capfd.readouterr().out

    return enter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 3; f()", "7\t\n"),
        ("x = 3 f()", ""),
        ("x = 3\nf()", "7\t\n"),
        ("for i = 1, 2 do f() end", ""),
        ("for i = 1, 2 do f() end f()", "7\t\n"),
        ("function g() return f() end g()", "7\t\n"),
        ("local x = 5; f(x)", "7\t5\t\n"),
        ("s = 'x; f()'; s:upper()", "X; F()\t\n"),
        ("f(1); f(2); f(3)", "7\t3\t\n"),
        ("x = 3; print(f())", "7\t\n"),
        ("x = 3; f();", ""),
        ("x = 3; f().x = 3", "[2]:1: attempt to index a number value\n"),
        ("a = 1; b = f()", ""),
        ("x = 3 -- f(); f()", ""),
        ("#'four'; f()", "[2]:1: unexpected symbol near '#'\n"),
        ("#! f(); f()", ""),
    ],
)
def test_a_call_behind_statements_is_printed_once(
    entered: Callable[..., str], text: str, expected: str
) -> None:
    found = entered("function f(...) return 7, ... end", text)
    assert found.partition("stack traceback")[0] == expected


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (["local y = 5", "y", "y = y + 1", "y"], "5\t\n6\t\n"),
        (["local y = 5", "function f() y = y + 1 end", "f() f()", "y"], "7\t\n"),
        (["local y = 5 function f() return y end", "y = 9", "f()"], "9\t\n"),
        (["local y = 5 function f() return y end", "local y = 1", "y, f()"], "1\t5\t\n"),
        (["y = 1", "local y = 2", "_G.y, y", "y = 3", "_G.y"], "1\t2\t\n1\t\n"),
        (["local y", "y"], "nil\t\n"),
        (["local a, b = 1", "a, b"], "1\tnil\t\n"),
        (["local function f(n) return n == 0 and 'end' or f(n - 1) end", "f(9)"], "end\t\n"),
        (["local y = 5 return y", "y"], "5\t\n5\t\n"),
        (["local y = 5 if y then return 'early' end", "y"], "early\t\n5\t\n"),
        (["local y = 5 goto out local z = 1 ::out::", "y, z"], "5\tnil\t\n"),
        (["local y = 5 -- five", "y -- again"], "5\t\n"),
        (["do local y = 5 end", "y"], "nil\t\n"),
        (["for y = 1, 2 do end", "y"], "nil\t\n"),
        (["local y = 5 local y = y + 1", "y"], "6\t\n"),
        (["local y = 5; y", "y"], "5\t\n5\t\n"),
        (["local t = {}", "t.t = 't'", "t.t"], "t\t\n"),
        (["local y = ...", "y, select('#', ...)"], "nil\t0\t\n"),
        (["local y = 1", "debug.getinfo(1, 'l').currentline + y"], "2\t\n"),
    ],
)
def test_locals_outlive_their_input(
    entered: Callable[..., str], inputs: list[str], expected: str
) -> None:
    assert entered(*inputs) == expected


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (
            ["local y = 5 error('no')", "y"],
            "[1]:1: no\nstack traceback:\n\t[C]: in function 'error'\n"
            "\t[1]:1: in main chunk\n5\t\n",
        ),
        (
            ["local y = 5", "\n\nerror(y)"],
            "[2]:3: 5\nstack traceback:\n\t[C]: in function 'error'\n\t[2]:3: in main chunk\n",
        ),
        (
            ["local y = 5\nlocal z = y.a.b", "y, z"],
            "[1]:2: attempt to index local 'y' (a number value)\nstack traceback:\n"
            "\t[1]:2: in main chunk\n5\tnil\t\n",
        ),
        (
            ["local y = 1 do local y = 2 error('no', 0) end", "y"],
            "no\nstack traceback:\n\t[C]: in function 'error'\n\t[1]:1: in main chunk\n1\t\n",
        ),
        (["local y = 5", "y y"], "[2]:1: '=' expected near 'y'\n"),
    ],
)
def test_errors(entered: Callable[..., str], inputs: list[str], expected: str) -> None:
    assert entered(*inputs) == expected


def test_many_locals(entered: Callable[..., str]) -> None:
    names = [f"v{i}" for i in range(150)]
    inputs = [f"local {', '.join(names)} = {', '.join(map(str, range(150)))}"]
    inputs += ["v0 + v149", f"local w = {{{', '.join(names[:50])}}}\n#w"]
    assert entered(*inputs) == "149\t\n50\t\n"


def test_an_input_that_uses_more_locals_than_a_function_has_upvalues(
    entered: Callable[..., str],
) -> None:
    inputs = [f"local v{i} = {i}" for i in range(250)]
    names = [f"v{i}" for i in range(250)]
    found = entered(
        *inputs,
        f"local sum = {' + '.join(names)} v0 = 'set' v249 = v1 + 1 x = 'global'",
        "sum, v0, v249, x, _G.v0",
    )
    assert found == "31125\tset\t2\tglobal\tnil\t\n"


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (["7", "8", "_1 + _2"], "7\t\n8\t\n15\t\n"),
        (["7", "x = 1", "_1, _2, _9"], "7\t\n7\tnil\tnil\t\n"),
        (["7, 8", "_1"], "7\t8\t\n7\t\n"),
        (["7;", "_1"], "nil\t\n"),
        (["7", "_1 = 'mine'", "_G._1"], "7\t\nnil\t\n"),
        (["_1 = 'mine'", "8", "_1, _2"], "8\t\nmine\t8\t\n"),
        (["7", "function f() return _1 end", "f()"], "7\t\n7\t\n"),
        (["7", "_RESULTS = {}", "_1, #_RESULTS, _LAST"], "7\t\nnil\t0\t7\t\n"),
        (["7", "rawget(_G, '_1')"], "7\t\nnil\t\n"),
    ],
)
def test_results_by_number(entered: Callable[..., str], inputs: list[str], expected: str) -> None:
    assert entered(*inputs) == expected


def test_the_last_thousand_results_are_kept(entered: Callable[..., str]) -> None:
    inputs = [str(i) for i in range(1, 1002)]
    found = entered(*inputs, "_1, _2, #_RESULTS, _RESULTS[1], _RESULTS[1001]")
    assert found.splitlines()[-1] == "nil\t2\t1001\tfalse\t1001\t"


@pytest.mark.parametrize("text", [";", " ; ;\n", ""])
def test_nothing(entered: Callable[..., str], text: str) -> None:
    assert entered(text) == ""


@pytest.mark.parametrize(
    ("text", "incomplete"),
    [("x = 5; y +", True), ("x = 5; 1 +", True), ("x = 5; y y", False), ("x =", True)],
)
def test_whether_only_the_end_is_missing(text: str, incomplete: bool) -> None:
    with pytest.raises(LuaSyntaxError) as caught:
        Engine().check_syntax(text.encode())
    assert caught.value.incomplete is incomplete


def test_names_have_the_locals() -> None:
    engine = Engine()
    engine.enter(b"local mine, t = 5, {key = 1}")
    names = engine.names("")
    assert (names["mine"], names["t"]) == ("number", "table")
    assert engine.names("t") == {"key": "number"}

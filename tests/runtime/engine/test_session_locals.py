"""Locals of a session: inputs share them with later inputs and with functions of earlier ones."""

from collections.abc import Callable

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Engine, LuaError, LuaSyntaxError


@pytest.fixture
def entered(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What inputs print, one after the other, and their errors."""
    engine = Engine()

    def enter(*inputs: str) -> str:
        for number, text in enumerate(inputs, 1):
            try:
                engine.inputs.enter(text.encode(), b"=[%d]" % number, number)
            except LuaError as error:
                engine.write(f"{error.message}\n{error.traceback}\n".replace("\n\n", "\n"))
        engine.flush()
        return capfd.readouterr().out

    return enter


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("text", "expected"), data(__file__, "test_a_call_behind_statements_is_printed_once")
)
def test_a_call_behind_statements_is_printed_once(
    entered: Callable[..., str], text: str, expected: str
) -> None:
    found = entered("function f(...) return 7, ... end", text)
    assert found.partition("stack traceback")[0] == expected


@pytest.mark.sample(8)
@pytest.mark.parametrize(("inputs", "expected"), data(__file__, "test_locals_outlive_their_input"))
def test_locals_outlive_their_input(
    entered: Callable[..., str], inputs: list[str], expected: str
) -> None:
    assert entered(*inputs) == expected


@pytest.mark.parametrize(("inputs", "expected"), data(__file__, "test_errors"))
def test_errors(entered: Callable[..., str], inputs: list[str], expected: str) -> None:
    assert entered(*inputs) == expected


def test_many_locals(entered: Callable[..., str]) -> None:
    names = [f"v{i}" for i in range(150)]
    inputs = [f"local {', '.join(names)} = {', '.join(map(str, range(150)))}"]
    inputs += ["v0 + v149", f"local w = {{{', '.join(names[:50])}}}\n#w"]
    assert entered(*inputs) == "149\t\n50\t\n"


@pytest.mark.parametrize(("inputs", "expected"), data(__file__, "test_results_by_number"))
def test_results_by_number(entered: Callable[..., str], inputs: list[str], expected: str) -> None:
    assert entered(*inputs) == expected


def test_the_last_values() -> None:
    with Engine() as engine:
        for _ in range(2):  # of two prompts, one within the other
            engine.inputs.keep_results(10)
        for source in (b"6 * 7", b"x = 1", b"_ + 1", b"__, _"):
            engine.inputs.enter(source)
        assert list(engine.values.eval("_RESULTS").to_python()) == [42, 43, 42]
        engine.inputs.enter(b"_, y = 1, 2")
        engine.inputs.enter(b"_ + y")
        assert engine.values.eval("_LAST") == 3


@pytest.mark.parametrize("globals_have", ["nil", "{}", "{ __index = { a = 1 } }"])
def test_without_the_last_values(globals_have: str) -> None:
    with Engine() as engine:
        engine.values.run(f"setmetatable(_G, {globals_have})")
        engine.inputs.keep_results(10)
        engine.inputs.enter(b"6 * 7")
        assert engine.values.eval("rawequal(_, nil)") is True


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
        Engine().inputs.check_syntax(text.encode())
    assert caught.value.incomplete is incomplete


def test_names_have_the_locals() -> None:
    engine = Engine()
    engine.inputs.enter(b"local mine, t = 5, {key = 1}")
    names = engine.variables.names("")
    assert (names["mine"], names["t"]) == ("number", "table")
    assert engine.variables.names("t") == {"key": "number"}

"""The HTML of values, made in Lua."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import th_shell.jupyter
from tests.data_files import data
from th_shell.runtime.shell import Engine

Html = Callable[[str], "str | None"]

SOURCE = (Path(th_shell.jupyter.__file__).parent / "values.lua").read_bytes()


def maker(engine: Engine) -> Html:
    """Makes the HTML of the values of an expression."""
    functions = engine.module(SOURCE, b"=[th] jupyter/values", lambda: None)
    engine.inputs.set_receiver(functions[b"receive"])
    engine.call(functions[b"expect"], b"result")

    def made(source: str) -> str | None:
        engine.inputs.evaluate(source.encode())
        found = engine.call(functions[b"html"])
        return None if found is None else found.decode()

    return made


@pytest.fixture
def html(engine: Engine) -> Html:
    return maker(engine)


@pytest.fixture(scope="module")
def shared() -> Html:
    """For tests that change nothing."""
    return maker(Engine())


def rows(text: str | None) -> list[str]:
    """The rows of the tables in HTML, with spaces between cells; and the texts around them."""
    assert text is not None
    lines = re.sub(r"</tr>|</div>|</?table[^>]*>|</?t(?:head|body)>", "\n", text)
    found = (re.sub(r"<[^>]*>", " ", line).split() for line in lines.splitlines())
    return [" ".join(words) for words in found if words]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("torch.Tensor{1, 2.5}", ["1 1.0000", "2 2.5000", "[torch.DoubleTensor of dimension 2]"]),
        ("torch.eye(2)", ["1 2", "1 1 0", "2 0 1", "[torch.DoubleTensor of dimension 2x2]"]),
        (
            "torch.Tensor{{0/0, 1/0}, {-1/0, 1e-8}}",
            ["1 2", "1 nan inf", "2 -inf 1.0000e-08", "[torch.DoubleTensor of dimension 2x2]"],
        ),
        (
            "torch.FloatTensor{1e6, 0.5}",
            ["1 1.0000e+06", "2 5.0000e-01", "[torch.FloatTensor of dimension 2]"],
        ),
        (
            "torch.ByteTensor(2, 1, 2):fill(7)",
            ["(1,.,.) =", "1 2", "1 7 7", "(2,.,.) =", "1 2", "1 7 7"]
            + ["[torch.ByteTensor of dimension 2x1x2]"],
        ),
        ("{5, x = '<b>'}", ["1 5", 'x "&lt;b&gt;"'.replace('"', "&quot;")]),
        ("{{1}, {}}", ["1", "1 1", "2 {}"]),
        (
            "{torch.ones(2, 3), torch.Tensor()}",
            ["1 DoubleTensor - size: 2x3"] + ["2 DoubleTensor - empty"],
        ),
        ("{[true] = 1}", ["true 1"]),
    ],
)
def test_values(shared: Html, source: str, expected: list[str]) -> None:
    assert rows(shared(source)) == expected


@pytest.mark.parametrize("source", data(__file__, "test_values_whose_text_says_all"))
def test_values_whose_text_says_all(shared: Html, source: str) -> None:
    assert shared(source) is None


def test_large_tensors_are_elided(shared: Html) -> None:
    found = rows(shared("torch.range(1, 10000):resize(100, 100)"))
    assert found[0] == "1 2 3 4 ⋯ 97 98 99 100"
    assert found[1] == "1 1 2 3 4 ⋯ 97 98 99 100"
    assert found[11] == "⋮ ⋮ ⋮ ⋮ ⋮ ⋱ ⋮ ⋮ ⋮ ⋮"
    assert [line.split()[0] for line in found[12:22]] == [str(i) for i in range(91, 101)]
    assert found[22:] == ["[torch.DoubleTensor of dimension 100x100]; print(_LAST) shows all"]
    found = rows(shared("torch.range(1, 100)"))
    assert found[9:12] == ["10 10", "⋮ ⋮", "91 91"]
    found = rows(shared("torch.ones(9, 1, 1)"))
    assert found[3:8] == ["(2,.,.) =", "1", "1 1", "⋮", "(8,.,.) ="]


def test_large_tables_are_elided(shared: Html) -> None:
    found = rows(shared("(function() local t = {} for i = 1, 100 do t[i] = i end return t end)()"))
    assert found[19:] == ["20 20", "⋮ 80 more; print(_LAST) shows all"]


def test_tables_in_themselves(html: Html, engine: Engine) -> None:
    engine.inputs.evaluate(b"t = {} t.t = t")
    assert rows(html("t")) == ["t", "t", "t", "t {...}"]


def test_tables_of_tables_have_an_end(html: Html, engine: Engine) -> None:
    source = b"t = {} for i = 1, 30 do t[i] = {} for j = 1, 30 do t[i][j] = j end end"
    engine.inputs.evaluate(source)
    assert len(rows(html("t"))) < 300


def test_no_code_of_the_program_runs(html: Html, engine: Engine) -> None:
    engine.inputs.evaluate(
        b"t = setmetatable({5}, {__index = error, __pairs = error, __len = error}) "
        b"print = function() end"
    )
    assert rows(html("t")) == ["1 5"]


def test_what_fails_has_no_html(html: Html, engine: Engine) -> None:
    engine.inputs.evaluate(b"t = {setmetatable({}, {__tostring = error})} print = function() end")
    assert html("t") is None

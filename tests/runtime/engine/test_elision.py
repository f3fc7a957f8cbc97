"""Large values at the prompt: which part of them is shown, and what is said of the rest."""

from collections.abc import Callable, Iterator
from time import perf_counter

import pytest

from tests.data_files import data
from th_shell.runtime.host import numpy_functions
from th_shell.runtime.shell import Engine

Show = Callable[..., str]


@pytest.fixture
def new_engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture
def shown(new_engine: Engine, capfd: pytest.CaptureFixture[str]) -> Show:
    """What the prompt shows of an input's values."""

    def show(source: str, limit: int | None = 20) -> str:
        new_engine.inputs.set_elision(limit)
        new_engine.inputs.evaluate(source.encode())
        new_engine.flush()
        return capfd.readouterr().out

    return show


MATRIX = data(__file__, "MATRIX")
VECTOR = data(__file__, "VECTOR")
SLICES = """\
(1,1,.,.) =#
  1
  5

(2,1,.,.) =#
  1
  5

…

(4,3,.,.) =#
  1
  5

(5,3,.,.) =#
  1
  5
[torch.IntTensor of dimension 5x3x2x1]
(30 elements, 8 of them shown; print(_LAST) shows all)

""".replace("#", " ")
STORAGE = data(__file__, "STORAGE")
SCALED = data(__file__, "SCALED")
WIDE = data(__file__, "WIDE")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("torch.range(1, 108):resize(9, 12)", MATRIX),
        ("torch.range(1, 30)", VECTOR),
        ("x = torch.IntTensor(5, 3, 2, 1):fill(5) x:select(3, 1):fill(1) return x", SLICES),
        ("torch.LongStorage(21):fill(2)", STORAGE),
        (
            "x = torch.FloatTensor(40, 2):fill(1e6) x[40] = 1.25e6 x[1][1] = 1e6 + 0.5 return x",
            SCALED,
        ),
        ("x = torch.Tensor(1, 30):fill(1e-20) x[1][30] = 1.25 return x", WIDE),
    ],
)
def test_large_tensors_and_storages_show_their_ends(shown: Show, source: str, text: str) -> None:
    assert shown(source) == text


@pytest.mark.parametrize(
    ("width", "cells"), [(20, 3), (40, 5), (80, 13), (120, 19), (400, 65), (2000, 300)]
)
def test_as_many_columns_are_shown_as_there_is_room_for(
    shown: Show, monkeypatch: pytest.MonkeyPatch, width: int, cells: int
) -> None:
    monkeypatch.setattr(numpy_functions, "columns", lambda: width)
    first, *_ = shown("torch.range(1001, 1300):resize(1, 300)").splitlines()
    assert len(first.split()) == cells
    assert first.endswith("1300") and len(first) < width


@pytest.mark.parametrize(
    "source", data(__file__, "test_what_is_not_large_is_shown_as_print_shows_it")
)
def test_what_is_not_large_is_shown_as_print_shows_it(shown: Show, source: str) -> None:
    assert shown(source) == shown(source, None) == shown(f"print({source})")


TABLE = data(__file__, "TABLE")
NESTED = f"""\
{{
  1 : DoubleTensor - size: 40x40
  2 :{" "}
    {{
      1 : "{"y" * 99}… (302 characters)
    }}
}}
(a part; print(_LAST) shows all)
"""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("t = {} for i = 1, 1234 do t[i] = i end return t", TABLE),
        ("{torch.ones(40, 40), {('y'):rep(300)}}", NESTED),
        (
            "('é'):rep(101)",
            f"{'é' * 10}…\n(202 characters, 20 of them shown; print(_LAST) shows all)\n",
        ),
        (
            "('x'):rep(300), 2, 'b'",
            f"{'x' * 20}…\n(300 characters, 20 of them shown; print shows all)\n2\tb\t\n",
        ),
    ],
)
def test_large_tables_and_strings_show_their_beginning(shown: Show, source: str, text: str) -> None:
    assert shown(source) == text


def test_the_names_of_a_library_stand_in_columns(shown: Show) -> None:
    lines = shown("t = {} for i = 1, 50 do t['name' .. i] = print end return t").splitlines()
    rows = [line.split() for line in lines[:-1]]
    columns = [row[at] for at in range(len(rows[0])) for row in rows if at < len(row)]
    assert columns == sorted(f"name{i}" for i in range(1, 51))
    assert lines[-1] == "(50 names; print(_LAST) shows what they are)"


def test_tables_in_tables_have_room_for_200_entries(shown: Show) -> None:
    text = shown("t = {} for i = 1, 40 do t[i] = {} for j = 1, 39 do t[i][j] = j end end return t")
    assert text.count(" : ") == 200
    assert text.endswith("  … 35 more\n}\n(a part; print(_LAST) shows all)\n")


@pytest.mark.parametrize(
    "before",
    data(__file__, "test_what_the_program_has_replaced_prints_whole"),
)
def test_what_the_program_has_replaced_prints_whole(shown: Show, before: str) -> None:
    shown(before)
    assert "shows all" not in shown("torch.ones(50)")


def test_print_and_the_last_value_are_whole(shown: Show) -> None:
    shown("torch.range(1, 30)")
    assert shown("print(_LAST)").count("\n") == 32
    assert shown("_LAST:sum()") == "465\t\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "source",
    ["t = {} for i = 1, 1e6 do t['k' .. i] = i end", "t = torch.LongTensor(1, 1):expand(1e6, 1e6)"],
)
def test_a_million_entries_are_shown_at_once(shown: Show, source: str) -> None:
    shown(source)
    start = perf_counter()
    shown("t", 1000)
    assert perf_counter() - start < 1  # in 0.02 s where nothing else runs


CONTROL = r"'\27]0;pwn\7\127\194\155\27[31m'"
DIGITS = r"\027]0;pwn\007\127\194\155\027[31m"


@pytest.mark.sample(5)
@pytest.mark.parametrize("limit", [0, 5])
@pytest.mark.parametrize(
    ("source", "text"),
    [
        (CONTROL, f"{DIGITS}\t\n"),
        (f"1, {CONTROL}", f"1\t{DIGITS}\t\n"),
        (f"{{[{CONTROL}] = {CONTROL}}}", f'{{\n  {DIGITS} : "{DIGITS}"\n}}\n'),
        (f"print{{{{{CONTROL}}}}}", f'{{\n  1 : \n    {{\n      1 : "{DIGITS}"\n    }}\n}}\n'),
        (f"print({CONTROL})", "\x1b]0;pwn\x07\x7f\x9b\x1b[31m\t\n"),
        ("'a\\tb\\nc é'", "a\tb\nc é\t\n"),
        (
            "setmetatable({}, {__tostring = function() return '\\27[31mred\\27[2J' end})",
            "\x1b[31mred\\027[2J\n",
        ),
    ],
)
def test_control_codes_are_digits(shown: Show, limit: int, source: str, text: str) -> None:
    assert shown(source, limit) == text


def test_control_codes_in_parts_are_digits(shown: Show) -> None:
    text = shown("t = {} for i = 1, 50 do t[i .. '\\27'] = '\\27' end return t")
    assert "\x1b" not in text and text.count("\\027") == 40
    assert shown("('\\27'):rep(300)").startswith("\\027" * 20 + "…\n")


def test_values_of_scripts_are_as_they_are(shown: Show) -> None:
    assert shown(f"{{{CONTROL}}}", None).startswith('{\n  1 : "\x1b]0;pwn\x07')

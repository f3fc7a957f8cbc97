from __future__ import annotations

from collections.abc import Callable

import pytest

from runtime import Engine
from runtime.calls.table import ALL, FLOATS, TABLE, Row
from runtime.core.dtypes import BYTE
from th_shell.help.forms import about

LEGEND = "[x] may be left out, *x* is the destination; of a method, the first one is its object.\n"
TWIST = f"""\
torch.twist(...), x:twist(...)
    DoubleTensor~2D LongTensor
        A tensor twisted.
    [*DoubleTensor*] DoubleTensor [double] [index]   (Float, Double)
        A tensor twisted by a number.
{LEGEND}"""
BEND = f"""\
torch.bend(...)
    [*ByteTensor*] ByteTensor   (Byte)
x:bend(...)
    *ByteTensor* [ByteTensor]   (Byte)
{LEGEND}"""


def twist() -> None:
    """A tensor twisted.

    More on that.
    """


def twist_by() -> None:
    """A tensor twisted by a number."""


def bend() -> None:
    pass


BY = "[*T*] T [real=1] <Generator> [index=__ndim__]"
ROWS = {
    "twist": [
        Row("twist", "T~2D LongTensor", "T~2D LongTensor", ALL, twist),
        Row("twist", BY, BY, FLOATS, twist_by),
    ],
    "bend": [Row("bend", "*T* [T=1]", "[*T*] T", (BYTE,), bend)],
}

Ask = Callable[[str], str]


@pytest.fixture
def ask(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Ask:
    for name, rows in ROWS.items():
        monkeypatch.setitem(TABLE, name, rows)
    source = b"x = torch.Tensor(2) t = { twist = 1, b = { c = print } }"
    engine.run(engine.compile(source))
    return lambda name: about(name, engine.names)


@pytest.mark.parametrize("name", ["torch.twist", "twist", "x:twist", "x.twist", " twist ( ) ;"])
def test_call_forms_and_their_meaning(ask: Ask, name: str) -> None:
    assert ask(name) == TWIST


def test_forms_of_method_and_function_where_they_differ(ask: Ask) -> None:
    assert ask("torch.bend") == BEND


def test_storages_have_a_section(ask: Ask) -> None:
    assert "s:fill(...)\n    *Storage* double\n" in ask("fill")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t.twist", "t.twist: number\n"),
        ("t", "t: table, and after it:\n  b twist\n"),
        ("t.b.c", "t.b.c: a function of Lua, without call forms of its own\n"),
        ("string.rep", "string.rep: a function of Lua, without call forms of its own\n"),
        ("nowhere", "nothing is known about nowhere\n"),
        ("torch.narow", "nothing is known about torch.narow; there is narrow\n"),
        ("1 + 1", "? takes a name, as in: ? torch.randn\n"),
    ],
)
def test_other_names(ask: Ask, name: str, expected: str) -> None:
    assert ask(name) == expected


def test_there_is_text_for_every_operation(ask: Ask) -> None:
    for name in TABLE:
        if "_" not in name and "." not in name:
            assert ask(f"x:{name}").endswith(LEGEND), name

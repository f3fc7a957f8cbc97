"""The language of call forms."""

from typing import Any

import pytest

from th_shell.runtime.calls.forms import Foreign, as_number, lua_type, parse_form
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT, INT, LONG
from th_shell.runtime.core.storage import STORAGE_CLASSES
from th_shell.runtime.core.tensor import TENSOR_CLASSES

Double, Int = TENSOR_CLASSES[DOUBLE.index], TENSOR_CLASSES[INT.index]
VECTOR, MATRIX, WHOLE = Double.new((2,)), Double.new((2, 2)), Int.new((2,))
SIZES = STORAGE_CLASSES[LONG.index].new(2)
SIZES.data[:] = 2, 3


@pytest.mark.parametrize(
    ("form", "dtype", "help"),
    [
        ("*T* [T=1] real", DOUBLE, "*DoubleTensor* [DoubleTensor] double"),
        ("[*T*] T [real=1] T", INT, "[*IntTensor*] IntTensor [int] IntTensor"),
        ("*T* real", FLOAT, "*FloatTensor* float"),
        ("accreal accreal [accreal=1]", INT, "long long [long]"),
        ("accreal", FLOAT, "double"),
        ("T~2D LongTensor index", DOUBLE, "DoubleTensor~2D LongTensor index"),
        (
            "[*T*] (LongStorage | dim1 [dim2...])",
            INT,
            "[*IntTensor*] (LongStorage | dim1 [dim2...])",
        ),
        ("{T+} [index=-1]", INT, "{IntTensor+} [index]"),
        ("<*T*> T boolean (V|F)", DOUBLE, "DoubleTensor boolean (V|F)"),
    ],
)
def test_help(form: str, dtype: Any, help: str) -> None:
    assert parse_form(form, dtype).help == help


@pytest.mark.parametrize(
    ("form", "args", "places"),
    [
        ("*T* [T=1] real", (VECTOR, 3), [0, None, 1]),
        ("*T* [T=1] real", (VECTOR, MATRIX, 3.5), [0, 1, 2]),
        ("*T* [T=1] real", (VECTOR, b"3"), [0, None, 1]),
        ("*T* [T=1] real", (VECTOR, b"x"), None),
        ("*T* [T=1] real", (VECTOR,), None),
        ("*T* [T=1] real", (VECTOR, MATRIX, 3, 4), None),
        ("*T* [T=1] real", (WHOLE, 3), None),
        ("[*T*] T", (VECTOR,), [None, 0]),
        ("[*T*] T", (VECTOR, MATRIX), [0, 1]),
        ("[*T*] T [real=1] T", (VECTOR, MATRIX), [None, 0, None, 1]),
        ("[*T*] T [real=1] T", (VECTOR, MATRIX, VECTOR), [0, 1, None, 2]),
        ("[*T*] T [real=1] T", (VECTOR, 2, MATRIX), [None, 0, 1, 2]),
        ("T~2D", (VECTOR,), None),
        ("T~2D", (MATRIX,), [0]),
        ("[*T*] (LongStorage | dim1 [dim2...])", (2, 3, b"4"), [None, 0]),
        ("[*T*] (LongStorage | dim1 [dim2...])", (VECTOR, SIZES), [0, 1]),
        ("[*T*] (LongStorage | dim1 [dim2...])", (VECTOR, SIZES, 3), None),
        ("[*T*] (LongStorage | dim1 [dim2...])", (), None),
        ("{T+} [index=-1]", ([VECTOR, MATRIX],), [0, None]),
        ("boolean", (True,), [0]),
        ("boolean", (1,), None),
        ("real", (True,), None),
        ("T (V|F)", (VECTOR, b"F"), [0, 1]),
        ("T (V|F)", (VECTOR, b"G"), None),
    ],
)
def test_match(form: str, args: tuple[Any, ...], places: list[int | None] | None) -> None:
    assert parse_form(form, DOUBLE).match(args) == places


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3),
        (2.5, 2.5),
        (b"3", 3),
        (b" 0x10 ", 16),
        (b"1e2", 100),
        (b"-0", -0.0),
        (b"1_0", None),
        (b"", None),
        (b"x", None),
        (b"0xg", None),
        (True, None),
        (None, None),
        (VECTOR, None),
    ],
)
def test_as_number(value: Any, number: float | None) -> None:
    assert as_number(value) == number
    assert type(as_number(value)) is not bool


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "nil"),
        (True, "boolean"),
        (1, "number"),
        (1.5, "number"),
        (b"a", "string"),
        ([VECTOR], "table"),
        (Foreign("function"), "function"),
        (Foreign("table", "MyClass"), "table"),
        (VECTOR, "userdata"),
        (SIZES, "userdata"),
    ],
)
def test_lua_type(value: Any, name: str) -> None:
    assert lua_type(value) == name


@pytest.mark.parametrize(
    ("form", "value", "read"),
    [
        ("index", 3.9, 2),
        ("long", -2.7, -2),
        ("real", 3.9, 3),
        ("real", b"7.5", 7),
        ("index", b"4", 3),
    ],
)
def test_readers_convert_as_c_does(form: str, value: Any, read: Any) -> None:
    reader = parse_form(form, INT).arguments[0].kind.reader(value)
    assert reader is not None
    assert reader(value) == read


def test_unknown_kind() -> None:
    with pytest.raises(KeyError):
        parse_form("T nonsense", DOUBLE)

"""What may stand at the cursor of an input of Python."""

from __future__ import annotations

import math
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from th_shell.paragraphs import MOST_NAMES
from th_shell.python.completing import complete


class Point:
    """A class whose properties must not be called."""

    shared = [1]

    def __init__(self) -> None:
        self.where = {"north": "x", "no key": 1}

    @property
    def spoiled(self) -> str:
        raise AssertionError

    @property
    def unknown(self):  # type: ignore[no-untyped-def]
        raise AssertionError

    @cached_property
    def late(self) -> Point:
        raise AssertionError

    @staticmethod
    def fixed() -> list[int]:
        raise AssertionError

    def moved(self, by: int, *, far: bool = False) -> Point:
        raise AssertionError

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def _hidden(self) -> None: ...


class Slotted:
    __slots__ = ("inside",)

    def __init__(self) -> None:
        self.inside = "text"


def summed(*args: Any) -> Any:
    """summed(Tensor input, *, torch.dtype dtype = None)
    summed(Tensor input, tuple of ints dim = (0, 1), bool keepdim = False)

    What may be called in two ways.
    """


def made() -> list[int]:
    raise AssertionError


def making(*args: Any) -> Any: ...


making.__wrapped__ = made  # type: ignore[attr-defined]

NAMES: dict[str, Any] = {
    "point": Point(),
    "Point": Point,
    "slotted": Slotted(),
    "math": math,
    "sys": sys,
    "numbers": [1.5, {"deep": b""}],
    "summed": summed,
    "making": making,
    1: "no name",  # type: ignore[dict-item]
}


def completed(text: str, behind: str = "") -> list[str]:
    return [one.text for one in complete(text + behind, len(text), NAMES).candidates]


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("math.fa", ["fabs", "factorial"]),
        ("x = math.fa", ["fabs", "factorial"]),
        ("f(math.fa", ["fabs", "factorial"]),
        ("poi", ["point"]),
        ("Poi", ["Point"]),
        ("impor", ["import"]),
        ("isinst", ["isinstance"]),
        ("point.sp", ["spoiled"]),
        ("point.spoiled.zf", ["zfill"]),
        ("point.unknown.", []),
        ("point.late.late.mo", ["moved"]),
        ("point.moved(1).sha", ["shared"]),
        ("point.moved(1, far=[2]).sha", ["shared"]),
        ("point.fixed().app", ["append"]),
        ("Point().whe", []),
        ("Point().sp", ["spoiled"]),
        ("point.where['north'].zf", ["zfill"]),
        ("point.nothing.", []),
        ("making().app", ["append"]),
        ("slotted.inside.zf", ["zfill"]),
        ("numbers[0].hex", ["hex"]),
        ("numbers[-1]['deep'].is", ["isalnum", "isalpha", "isascii", "isdigit"]),
        ("numbers[5].", []),
        ("numbers[point].", []),
        ("'text'.zf", ["zfill"]),
        ("f'{1}'.zf", ["zfill"]),
        ("[1, 2].app", ["append"]),
        ("(1).bit_l", ["bit_length"]),
        ("{}.ke", ["keys"]),
        ("1.", []),
        ("1.5.he", []),
        ("# math.fa", []),
        ("nothing.at_all", []),
        ("if math.fa", ["fabs", "factorial"]),
        ("return math.\\\nfa", ["fabs", "factorial"]),
        ("for item in x:\n    ite", ["item"]),
        ("point.moved(f", ["far=", "filter", "finally"]),
        ("summed(ke", ["keepdim="]),
        ("summed(point, di", ["dim=", "dict", "dir"]),
        ("numbers[ke", []),
        ("?math.fa", ["fabs", "factorial"]),
        ("%timei", ["%timeit"]),
        ("%%tim", []),
        ("%time math.fa", ["fabs", "factorial"]),
        ("import mat", ["math"]),
        ("import sys, mat", ["math"]),
        ("import sys as s, mat", ["math"]),
        ("from mat", ["math"]),
        ("from math import fa", ["fabs", "factorial"]),
        ("from math import (pi, fa", ["fabs", "factorial"]),
        ("import importlib.mac", ["machinery"]),
        ("from importlib import mac", ["machinery"]),
        ("from nothing.at import a", []),
        ("point.where['no", ["north']", "no key']"]),
        ('point.where["nor', ['north"]']),
    ],
)
def test_what_is_listed(text: str, some: list[str]) -> None:
    assert [one for one in completed(text) if not one.startswith("_")][: len(some) or 9] == some


def test_names_with_an_underscore_are_listed_when_one_is_typed() -> None:
    assert "_hidden" not in completed("point.")
    assert completed("point._hid") == ["_hidden"]
    assert "__name__" not in completed("")


def test_what_is_left_out_is_counted() -> None:
    names = {f"name{number}": number for number in range(MOST_NAMES + 5)}
    found = complete("nam", 3, names)
    assert (len(found.candidates), found.more) == (MOST_NAMES, 5)


@pytest.mark.parametrize(
    ("text", "behind", "found"),
    [
        ("open('so", "", ["some file.py'", "some/"]),
        ("open('so", "')", ["some file.py", "some/"]),
        ('open("some/', "", ["it's\""]),
        ("open('some/", "", ["it\\'s'"]),
        ("open(r'so", "", ["some file.py'", "some/"]),
        ("open('''so", "", ["some file.py", "some/"]),
        ("$ cat so", "", ["some\\ file.py", "some/"]),
        ("!cat 'so", "", ["some file.py'", "some/"]),
        ("%cd so", "", ["some\\ file.py", "some/"]),
    ],
)
def test_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, behind: str, found: list[str]
) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some file.py").touch()
    (tmp_path / "some" / "it's").touch()
    monkeypatch.chdir(tmp_path)
    assert sorted(completed(text, behind)) == sorted(found)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("point.moved", "moved(self, by: 'int', *, far: 'bool' = False) -> 'Point'"),
        ("point.where", "dict"),
        ("point.spoiled", "str"),
        ("point.unknown", "object"),
        ("math.pi", "float"),
        ("summed", "summed(Tensor input, *, torch.dtype dtype = None) …"),
        ("isinstance", "isinstance(obj, class_or_tuple, /)"),
        ("Poin", "Point() -> 'None'"),
    ],
)
def test_what_is_shown_beside_a_name(text: str, detail: str) -> None:
    (found,) = complete(text, len(text), NAMES).candidates
    assert found.detail == detail


@pytest.mark.parametrize(
    "text",
    [
        "x.t().num",
        "x.T.num",
        "x[0].num",
        "(-x + 1).num",
        "torch.add(x, 1).num",
        "torch.ones(2).num",
    ],
)
def test_what_gives_a_tensor(text: str) -> None:
    torch = pytest.importorskip("th_shell.torch")
    names = {"torch": torch, "x": torch.ones(2, 2)}
    found = complete(text, len(text), names).candidates
    assert [one.text for one in found] == ["numel", "numpy"]
    assert found[0].detail == "numel()"
    assert complete("torch.add(x, al", 15, names).candidates[0].text == "alpha="

"""What may stand at the cursor of an input of Python."""

from __future__ import annotations

import math
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.data_files import data
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


@pytest.mark.sample(30)
@pytest.mark.parametrize(("text", "some"), data(__file__, "test_what_is_listed"))
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


@pytest.mark.parametrize(("text", "behind", "found"), data(__file__, "test_files"))
def test_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, behind: str, found: list[str]
) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some file.py").touch()
    (tmp_path / "some" / "it's").touch()
    monkeypatch.chdir(tmp_path)
    assert sorted(completed(text, behind)) == sorted(found)


@pytest.mark.parametrize(("text", "detail"), data(__file__, "test_what_is_shown_beside_a_name"))
def test_what_is_shown_beside_a_name(text: str, detail: str) -> None:
    (found,) = complete(text, len(text), NAMES).candidates
    assert found.detail == detail


@pytest.mark.parametrize("text", data(__file__, "test_what_gives_a_tensor"))
def test_what_gives_a_tensor(text: str) -> None:
    torch = pytest.importorskip("th_shell.torch")
    names = {"torch": torch, "x": torch.ones(2, 2)}
    found = complete(text, len(text), names).candidates
    assert [one.text for one in found] == ["numel", "numpy"]
    assert found[0].detail == "numel()"
    assert complete("torch.add(x, al", 15, names).candidates[0].text == "alpha="

"""Permutations of so many numbers that no test makes them: the same with fewer."""

from __future__ import annotations

import pytest

from th_shell.torch.streams import uniform
from th_shell.torch.streams.words import Words


def inserted(words: Words, count: int) -> list[int]:
    """Each number goes to a place among those before it, or behind them; what was there, behind."""
    order: list[int] = []
    for n in range(count):
        high, low = words.take(2).tolist()
        at = (high << 32 | low) % (n + 1)
        order.append(n)
        order[n], order[at] = order[at], n
    return order


@pytest.mark.parametrize("count", [10, 700, 20000])
def test_long_permutations_take_two_words_for_each(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uniform, "_LONG", 10)
    assert uniform.permutation(Words(5), count).tolist() == inserted(Words(5), count)

"""How pages are divided among machines."""

import pytest

from th_shell.docs.command.selection import Shard

SIZES = {"a.md": 900, "b.md": 10, "c.md": 400, "d.md": 500, "e.md": 10, "f.md": 0}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_all_parts_together_have_each_page_once(count: int) -> None:
    parts = [Shard(number, count).choose(SIZES) for number in range(1, count + 1)]
    assert sorted(name for part in parts for name in part) == sorted(SIZES)


def test_parts_have_about_the_same_to_do() -> None:
    assert Shard(1, 2).choose(SIZES) == {"a.md", "b.md", "f.md"}
    assert Shard(2, 2).choose(SIZES) == {"c.md", "d.md", "e.md"}


def test_the_order_of_the_pages_does_not_count() -> None:
    other = dict(reversed(SIZES.items()))
    assert Shard(2, 3).choose(other) == Shard(2, 3).choose(SIZES)


def test_empty_pages_are_divided_too() -> None:
    sizes = dict.fromkeys("abcdef", 0)
    assert [len(Shard(number, 3).choose(sizes)) for number in (1, 2, 3)] == [2, 2, 2]


def test_parse() -> None:
    assert Shard.parse("2/4") == Shard(2, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2", "'2' is not like 1/4"),
        ("a/b", "'a/b' is not like 1/4"),
        ("-1/4", "'-1/4' is not like 1/4"),
        ("0/4", "'0/4': there are parts from 1 to 4"),
        ("5/4", "'5/4': there are parts from 1 to 4"),
        ("1/0", "'1/0' is not like 1/4"),
    ],
)
def test_wrong_parts(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Shard.parse(text)
    assert str(caught.value) == message

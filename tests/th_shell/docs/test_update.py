"""What --update writes, the next check accepts, and another --update leaves as it is."""

from pathlib import Path

import pytest

from tests.th_shell.docs.conftest import CheckPage


def ledger(folder: Path) -> str:
    path = folder / "page.md.errata"
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize(
    "examples",
    [
        "> print('a\\rb')\nzzz\n> > x\n5\n> n = 1 error('a\\n b')\n5\n> os.clock()\n-1",
        "> if torch.random(2) == 1 then error('a\\nb') end\n5\n> os.exit(3)\n2\n> 1\n3",
        "> x = torch.ones(2)\n> y = x.clone()\n> y:sum()\n2\n> X:sum()\n2",
        "> x = 1\n" + "> x\n2\n" * 5,
    ],
)
def test_check_after_update(check_text: CheckPage, tmp_path: Path, examples: str) -> None:
    page = f"# A\n\n```lua\n{examples}\n```\n"
    assert not check_text(page, update=True).failed
    assert not check_text(page).failed
    written = ledger(tmp_path)
    assert not check_text(page, update=True).failed
    assert ledger(tmp_path) == written


def test_what_holds_again_is_struck(check_text: CheckPage, tmp_path: Path) -> None:
    page = "```lua\n> 1\n1\n> 2\n3\n```\n"
    (tmp_path / "page.md.errata").write_text("One.\n  2: 1\n    | 1\nTwo.\n  4: 2\n    | 2\n")
    (old,) = [r.note for r in check_text(page).results if r.failed]
    assert old == "the ledger says: One. But it is pass now: strike it."
    assert not check_text(page, update=True).failed
    assert ledger(tmp_path) == "Two.\n    4: > 2\n        @ /1 #4e074085\n        | 2\n"


def test_an_input_that_holds_no_more(check_text: CheckPage, tmp_path: Path) -> None:
    page = "```lua\n> 1 + 1\n3\n```\n"
    (tmp_path / "page.md.errata").write_text("One.\n  2: 1 + 1\n    > 1 + 3\n")
    assert check_text(page).failed
    assert not check_text(page, update=True).failed
    assert not check_text(page).failed
    assert "        | 2\n" in ledger(tmp_path)

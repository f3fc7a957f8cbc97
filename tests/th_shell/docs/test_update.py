"""What --update writes, the next check accepts, and another --update leaves as it is."""

from pathlib import Path

import pytest

from tests.th_shell.docs.conftest import CheckPage


def beside(folder: Path) -> str:
    return (folder / "page.md.th-docs").read_text()


@pytest.mark.thorough
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
    written = beside(tmp_path)
    assert not check_text(page, update=True).failed
    assert beside(tmp_path) == written


@pytest.mark.thorough
def test_what_holds_again_is_struck(check_text: CheckPage, tmp_path: Path) -> None:
    page = "```lua\n> 1\n1\n> 2\n3\n```\n"
    (tmp_path / "page.md.th-docs").write_text(
        "[[errata]]\nreason = 'One.'\ninput = '1'\nprints = '1'\n"
        "[[errata]]\nreason = 'Two.'\ninput = '2'\nprints = '2'\n"
    )
    (old,) = [r.note for r in check_text(page).results if r.failed]
    assert old == "its erratum says: One. But it is pass now: strike it."
    assert not check_text(page, update=True).failed
    assert beside(tmp_path) == (
        "[[errata]]\nreason = 'Two.'\nheading = \"\"\ninput = '2'\nordinal = 1\n"
        "documented = \"4e074085\"\nprints = '2'\n\n"
        '[verdicts]\n"/1/1" = "pass"\n'
        '"/1/2" = "erratum"\n'
    )


@pytest.mark.thorough
def test_an_input_that_holds_no_more(check_text: CheckPage, tmp_path: Path) -> None:
    page = "```lua\n> 1 + 1\n3\n```\n"
    (tmp_path / "page.md.th-docs").write_text(
        "[[errata]]\nreason = 'One.'\ninput = '1 + 1'\nright = '1 + 3'\n"
    )
    assert check_text(page).failed
    assert not check_text(page, update=True).failed
    assert not check_text(page).failed
    assert 'prints = "2"\n' in beside(tmp_path)

"""Examples are told apart without the numbers of their lines."""

from pathlib import Path

from tests.data_files import data
from tests.th_shell.docs.conftest import read_page
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.cutting import cut
from th_shell.docs.reading.examples import identities

PAGE = data(__file__, "PAGE")


def names(folder: Path, text: str) -> list[str]:
    page = folder / "page.md"
    page.write_text(text)
    return [str(identity) for identity in identities(cut(read_page(page).blocks, Compiler()))]


def test_by_heading_ordinal_and_first_line(tmp_path: Path) -> None:
    found = names(tmp_path, PAGE)
    assert found == [
        "/1/x = 1",
        "One, two and three/1/x",
        "One, two and three/1/f(",
        "One, two and three/2/x",
    ]


def test_other_lines_above_change_nothing(tmp_path: Path) -> None:
    more = "Text.\n\n```\n> y = 2\n```\n\n" + PAGE.replace("> f(", "> g()\n> f(")
    assert set(names(tmp_path, PAGE)) < set(names(tmp_path, more))


def test_where_input_and_output_stand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    places = [(e.line, e.last, e.documented) for e in cut(read_page(page).blocks, Compiler())]
    assert places == [(2, 2, None), (8, 8, (9, 9)), (10, 11, None), (12, 12, (13, 13))]

import pytest

from tests.outside import programs
from tests.outside.programs import masked
from tests.outside.sources import rows


def test_each_program_has_a_line_in_the_ledger_and_the_page_is_that_of_the_list() -> None:
    listed = [str(program) for program in programs.listed_programs()]
    assert [row["program"] for row in rows("programs_ledger.tsv")] == listed
    assert programs.PAGE.read_text() == programs.page()


@pytest.mark.parametrize(
    ("printed", "compared"),
    [
        ("a 0.12345678 b", "a 0.1235 b"),
        ("0.65625 0.65624999999999", "0.6563 0.6563"),
        ("err = 3.2e-05s, 12 ms", "err = TIME, TIME"),
        ("time elapsed: 12.5\n0.5", "time elapsed: TIME\n0.5"),
        (" [==>..]\b\b 1/2 \r\r [====]\b\b 2/2 \n\rdone\n", "done"),
        ("\033[31mtable: 0x7f12\033[0m", "table: ADDRESS"),
        ("/usr/y/a.lua:3: bad\n/tmp/x", "a.lua:3: bad\nPLACE"),
        ("[torch.DoubleTensor of size 2]", "[torch.DoubleTensor of dimension 2]"),
    ],
)
def test_what_may_change_is_masked(printed: str, compared: str) -> None:
    assert masked(printed.encode(), "/tmp/x") == compared.encode()

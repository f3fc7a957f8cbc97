import pytest

from tests.data_files import data
from tests.outside import programs
from tests.outside.programs import masked
from tests.outside.sources import rows


def test_each_program_has_a_line_in_the_ledger_and_the_page_is_that_of_the_list() -> None:
    listed = [str(program) for program in programs.listed_programs()]
    assert [row["program"] for row in rows("programs_ledger.tsv")] == listed
    assert programs.PAGE.read_text() == programs.page()


@pytest.mark.parametrize(
    ("printed", "compared"),
    data(__file__, "test_what_may_change_is_masked"),
)
def test_what_may_change_is_masked(printed: str, compared: str) -> None:
    assert masked(printed.encode(), "/tmp/x") == compared.encode()

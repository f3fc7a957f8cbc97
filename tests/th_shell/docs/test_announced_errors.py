"""Which comments announce an error, and what becomes of the examples that raise one."""

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import CheckPage
from th_shell.docs.judging.comparison import announces_error, rules_out


@pytest.mark.parametrize(
    "comment",
    data(__file__, "test_announces"),
)  # fmt: skip
def test_announces(comment: str) -> None:
    assert announces_error(comment)


@pytest.mark.parametrize(
    "comment",
    data(__file__, "test_announces_nothing"),
)  # fmt: skip
def test_announces_nothing(comment: str) -> None:
    assert not announces_error(comment)


@pytest.mark.parametrize(("comment", "message", "another"), data(__file__, "test_words_of_errors"))
def test_words_of_errors(comment: str, message: str, another: bool) -> None:
    assert rules_out(comment, message) is another


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "verdict"), data(__file__, "test_verdicts"))
def test_verdicts(check_text: CheckPage, text: str, verdict: str) -> None:
    assert check_text(text + "\n").results[-1].verdict.value == verdict

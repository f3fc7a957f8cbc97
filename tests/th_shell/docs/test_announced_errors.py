"""Which comments announce an error, and what becomes of the examples that raise one."""

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import CheckPage
from th_shell.docs.judging.comparison import announces_error, rules_out


@pytest.mark.parametrize(
    "comment",
    [
        "error", "this fails", "> fails", "raises an error because y is nil", "will throw an error",
        "Error: no such field", "ERROR! y is nil", "[ERROR]", "=> error!", "this is not allowed",
        "illegal", "invalid!", "invalid argument", "syntax error", "do not do this: error",
        "calling it twice raises an error", "throws 'attempt to call'",
    ],
)  # fmt: skip
def test_announces(comment: str) -> None:
    assert announces_error(comment)


@pytest.mark.parametrize(
    "comment",
    [
        "compute the error", "there is no error here", "no error", "never fails",
        "retry if it fails",
        "should not raise an error", "prints the error rate", "mean squared error", "error rate",
        "handles invalid input", "raises x to the power of 2", "does not throw an error", "",
    ],
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

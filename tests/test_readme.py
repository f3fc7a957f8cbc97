"""The README's session is a page like any other: its examples hold."""

from pathlib import Path

from th_shell.docs.compiler import Compiler
from th_shell.docs.verdicts import Verdict, check_page, read_examples

README = Path(__file__).parents[1] / "README.md"


def test_session_holds() -> None:
    examples = read_examples(README, Compiler())
    result = check_page(README, examples, 60)
    verdicts = [judged.verdict for judged in result.results]
    assert len(verdicts) >= 5
    assert set(verdicts) <= {Verdict.PASS, Verdict.RAN}

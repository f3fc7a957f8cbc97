"""The README's session is a page like any other: its examples hold."""

from pathlib import Path

from th_shell.docs.checking import Checker
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.configuration import Configuration

README = Path(__file__).parents[1] / "README.md"


def test_session_holds() -> None:
    with Starter() as starter:
        result = Checker(starter, Compiler(), Configuration()).check(README)
    assert result.problem == ""
    # The commands that the page tells are text, or shell lines that are not run.
    commands = (Verdict.SKIPPED, Verdict.TEXT)
    verdicts = [one.verdict for one in result.results if one.verdict not in commands]
    assert len(verdicts) >= 5
    assert set(verdicts) <= {Verdict.PASS, Verdict.RAN}

"""The README's session is a page like any other: its examples hold."""

from pathlib import Path

from th_shell.docs.judging.pages import Options, check_page, read_examples
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Starter

README = Path(__file__).parents[1] / "README.md"


def test_session_holds() -> None:
    compiler = Compiler()
    examples = read_examples(README, compiler)
    with Starter() as starter:
        result = check_page(README, examples, Runner(starter), compiler, Options())
    # The commands that the page tells are text.
    verdicts = [r.verdict for r in result.results if r.verdict is not Verdict.SKIPPED]
    assert len(verdicts) >= 5
    assert set(verdicts) <= {Verdict.PASS, Verdict.RAN}

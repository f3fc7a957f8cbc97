"""Marks that do not hold where an example finds what it needs; the page's engine decides."""

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.configured import configured_runner, with_marks_decided
from th_shell.docs.running.evaluation import unrunnable
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import Configuration, Mark


@pytest.mark.parametrize(
    ("mark", "holds"),
    [
        (Mark(), True),
        (Mark("", ("CI",)), False),
        (Mark("", ("EMPTY",)), True),
        (Mark("", ("CI", "NONE")), True),
        (Mark("", (), ("nn",)), False),
        (Mark("", (), ("nn", "cunn")), True),
        (Mark("", ("CI",), ("nn",)), False),
        (Mark("", ("NONE",), ("nn",)), True),
    ],
)
def test_marks(mark: Mark, holds: bool) -> None:
    assert mark.holds({"CI": "1", "EMPTY": ""}, {"nn"}) is holds


PAGE = data(__file__, "PAGE")


def test_the_engine_of_a_page_decides(starter: Starter, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    (tmp_path / "mine.lua").write_text("error('it is looked for, and not loaded')")
    said = Configuration(
        lua_path=str(tmp_path / "?.lua"),
        environment={"TH_DOCS_TEST": "yes"},
        prelude={"lua": "\n\n"},
    )
    runner = configured_runner(starter, said)
    examples = with_marks_decided(read(page, Compiler()).examples, runner)
    assert [bool(unrunnable(example)) for example in examples] == [False, True, False, False]
    assert examples[3].settings.xfail is None

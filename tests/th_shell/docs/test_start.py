"""A page loads what it needs, and no more: most of the time of a short one goes into that."""

from pathlib import Path

import pytest

from tests.processes import run_python
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reading import compiler
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Starter


@pytest.mark.parametrize(
    ("module", "needless"),
    [
        ("running.starter", "runtime lupa numpy dataclasses tomllib tempfile"),
        ("cli", "importlib.metadata platform markdown_it docutils numpy"),
    ],
)
def test_a_start_loads_nothing_needless(module: str, needless: str) -> None:
    code = (
        f"import sys, th_shell.docs.{module}\n"
        f"needless = {needless!r}.split()\n"
        "print([name for name in needless if name in sys.modules])"
    )
    found = run_python("-I", "-c", code, check=True)
    assert found.stdout == "[]\n"


@pytest.mark.thorough
def test_a_page_of_python_needs_no_lua(
    tmp_path: Path, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(compiler, "Engine")
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n2\n>>> one = 1\n>>> One\n1\n```\n")
    results = check_page(read(page, Compiler()), runner).results
    assert [one.verdict for one in results] == [Verdict.PASS, Verdict.RAN, Verdict.HEALED]


@pytest.mark.thorough
def test_numpy_comes_with_the_first_tensor(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    has_numpy = "> io.open('/proc/self/maps'):read('*a'):find('_multiarray_umath') ~= nil\n"
    page.write_text(f"```lua\n{has_numpy}false\n> x = torch.rand(1)\n{has_numpy}true\n```\n")
    with Starter() as starter:
        results = check_page(read(page, Compiler()), Runner(starter)).results
    assert [one.verdict for one in results] == [Verdict.PASS, Verdict.RAN, Verdict.PASS]

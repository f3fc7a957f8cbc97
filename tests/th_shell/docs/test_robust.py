"""What no page should do to a run: its fault is its own, and costs the others nothing."""

import json
import os
import time
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from markdown_it.ruler import Ruler

from tests.th_shell.docs.conftest import CheckPage
from th_shell.docs import checking
from th_shell.docs.cli import main
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.formats import markdown
from th_shell.docs.reading.page import read_text
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.settings.settings import PageError

GOOD = "```lua\n> 1 + 1\n2\n```\n"


def _results(pages: list[Path], tmp_path: Path) -> list[dict[str, object]]:
    """What the JSON of a run says of pages."""
    file = tmp_path / "results.json"
    main(["--json", str(file), *map(str, pages)])
    found = json.loads(file.read_text())["pages"]
    assert isinstance(found, list)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "input_"),
    [
        (b"lua", rb"> '\255\254', 0.25"),
        (b"lua", rb"> io.write('\255\254') --> \255\253"),
        (b"lua", rb"> error('\255\254')"),
        (b"python", rb'>>> print("\udcff\udcfe")'),
        (b"python", rb'>>> {"\udcff"}'),
        (b"python", rb'>>> raise ValueError("\udcff")'),
    ],
)
def test_outputs_that_are_no_text(language: bytes, input_: bytes, tmp_path: Path) -> None:
    odd, good = tmp_path / "odd.md", tmp_path / "good.md"
    odd.write_bytes(b"```%s\n%s\n\xff\xfd\n%s  # \xff 0.25\n```\n" % (language, input_, input_))
    good.write_text(GOOD)
    first, second = _results([odd, good], tmp_path)
    assert first["problem"] == ""
    assert first["failed"]
    assert second["counts"] == {"pass": 1}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (LookupError("nobody knows"), "LookupError: nobody knows"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_an_unexpected_fault_is_the_problem_of_its_page(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fault: Exception,
    told: str,
) -> None:
    pages = [tmp_path / name for name in ("a.md", "odd.md", "z.md")]
    for page in pages:
        page.write_text(GOOD)
    pages[1].write_text("```lua\n> odd\n```\n")
    ready = checking.with_imports

    def with_imports(runner: Runner, examples: Sequence[Example]) -> Runner:
        if examples[0].source == "odd":
            raise fault
        return ready(runner, examples)

    monkeypatch.setattr(checking, "with_imports", with_imports)
    problems = [page["problem"] for page in _results(pages, tmp_path)]
    assert problems == ["", f"th-docs cannot check it: {told}", ""]
    assert "Traceback" not in "".join(capfd.readouterr())


def test_each_page_has_a_parser_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_rules = vars(Ruler)["__compile__"]

    def slowly(ruler: Ruler) -> None:  # as where the system gives another thread the processor
        ruler.__cache__ = {"": []}
        time.sleep(0.01)
        compile_rules(ruler)

    monkeypatch.setattr(Ruler, "__compile__", slowly)
    lines = ["```lua", "x = 1", "```"] * 20
    for _ in range(3):
        spec = spec_from_file_location("fresh", markdown.__file__)
        assert spec is not None
        assert spec.loader is not None
        fresh = module_from_spec(spec)
        spec.loader.exec_module(fresh)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(fresh.find, [lines] * 8))
        assert [len(list(blocks)) for blocks in found] == [20] * 8


@pytest.mark.parametrize(
    "text",
    [
        "".join("  " * depth + "* item\n\n" for depth in range(1500)),
        "".join("  " * depth + "words\n" for depth in range(1500)),
        "".join("   " * depth + ".. note::\n\n" for depth in range(1500)),
    ],
)
def test_deep_lists_are_refused_before_they_take_memory(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(PageError, match=r"^its lists or margins are nested too deep$"):
            read_text(text, "page.rst")
        assert tracemalloc.get_traced_memory()[1] < 20 * len(text)
    finally:
        tracemalloc.stop()


def test_lists_within_lists_are_read() -> None:
    text = "".join("  " * depth + "* item\n\n" for depth in range(60)) + "::\n\n  x = 1\n"
    assert len(read_text(text, "page.rst").blocks) == 1


@pytest.mark.thorough
def test_what_was_stopped_is_not_run_again(check_text: CheckPage, tmp_path: Path) -> None:
    log = tmp_path / "log"
    result = check_text(
        "<!-- th-docs: timeout=0.5 -->\n```lua\n"
        f"> f = io.open('{log}', 'a') f:write('x') f:close() while true do end\n"
        "```\n```lua\n> torch.rand(1)[1]\n0.51234\n> one = 1\n> One\n1\n> 2\n3\n```\n"
    )
    verdicts = [Verdict.ERROR, Verdict.LAYOUT, Verdict.RAN, Verdict.HEALED, Verdict.DIFFERS]
    assert [one.verdict for one in result.results] == verdicts
    assert log.read_text() == "xx"  # by the two first runs


@pytest.mark.thorough
def test_devices_and_pipes_are_no_pages(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    good = tmp_path / "good.md"
    good.write_text(GOOD)
    found = _results([Path("/dev/zero"), tmp_path / "pipe.md", Path("-"), good], tmp_path)
    kind = "cannot be read: it is a pipe, a device or the like, and no file"
    missing = "cannot be read: No such file or directory"
    assert [page["problem"] for page in found] == [kind, kind, missing, ""]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "unit", [r"\n", " ", "0 ", r"(1,.,.) =\n", "-- ", "a.b:", "<", '[string ""]:0', r"\\{"]
)
def test_outputs_are_judged_in_linear_time(check_text: CheckPage, unit: str) -> None:
    start = time.thread_time()
    page = check_text(f"```lua\n> print(([[{unit}]]):gsub('\\\\n', '\\n'):rep(20000))\nx\n```\n")
    assert [result.verdict for result in page.results] == [Verdict.DIFFERS]
    assert time.thread_time() - start < 5

"""What the inputs of a page do in the child processes that run them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.running.evaluation import Outcome, Plan, Runner, unrunnable
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import Mark, Settings

Evaluate = Callable[..., list[tuple[Outcome, Outcome]]]
CRASH = "ffi.cast('int *', 8)[0] = 1"


def page(*sources: str, block: int = 0) -> list[Example]:
    return [Example(line, block, Kind.PROMPT, source) for line, source in enumerate(sources, 1)]


@pytest.fixture
def evaluate(starter: Starter) -> Evaluate:
    return lambda examples, seconds=60: Runner(starter, seconds=seconds).evaluate(examples)


@pytest.fixture
def outputs(evaluate: Evaluate) -> Callable[..., list[str]]:
    """What the first run of inputs prints."""
    return lambda *sources: [outcome.output for outcome in first(evaluate(page(*sources)))]


def first(outcomes: list[tuple[Outcome, Outcome]]) -> list[Outcome]:
    return [pair[0] for pair in outcomes]


def test_values_are_printed_and_globals_live(outputs: Callable[..., list[str]]) -> None:
    assert outputs("x = 2", "x + 1", "= x", "x;", "return x") == ["", "3\t\n", "2\t\n", "", "2\t\n"]


def test_output_of_all_kinds_is_in_program_order(outputs: Callable[..., list[str]]) -> None:
    source = (
        "print(1) io.write('2\\n') require('ffi').cdef('int puts(const char *)') "
        "require('ffi').C.puts('3') io.stderr:write('4\\n') os.execute('echo 5') print(6)"
    )
    found = outputs("require('ffi').cdef('int fflush(void *)')", source, "print(7)")
    assert [" ".join(text.split()) for text in found[1:]] in (["1 2 3 4 5 6", "7"],)


def test_values_stand_after_what_was_printed(evaluate: Evaluate) -> None:
    outcome = first(evaluate(page("(function() print('a') return 'b' end)()")))[0]
    assert (outcome.printed, outcome.output) == ("a\t\n", "a\t\nb\t\n")


def test_errors_do_not_end_the_page(evaluate: Evaluate) -> None:
    found = first(evaluate(page("x = = 1", "print('a') error('bad')", "1")))
    assert found == [
        Outcome(error="stdin:1: unexpected symbol near '='", undefined=frozenset("x")),
        Outcome("a\t\n", "a\t\n", "stdin:1: bad"),
        Outcome("1\t\n", "", None),
    ]


def test_bytes_that_are_no_text_pass(outputs: Callable[..., list[str]]) -> None:
    assert outputs("'\udcff'") == ["\udcff\t\n"]


def test_runs_differ_in_seed_and_fresh_memory(evaluate: Evaluate) -> None:
    (seeded, fresh, same) = evaluate(
        page("torch.rand(1)[1]", "torch.LongTensor(1)[1]", "torch.zeros(1)[1]"), 60
    )
    assert seeded[0] != seeded[1]
    assert fresh[0].output == "0\t\n"
    assert float(fresh[1].output) == pytest.approx(0x3F3F3F3F3F3F3F3F)
    assert same[0] == same[1]


@pytest.mark.parametrize(
    "source",
    ["os.time()", "os.date('%Y-%m-%d %H')", "os.date('*t').yday", "math.floor(sys.clock())"],
)
def test_runs_differ_in_the_clock(evaluate: Evaluate, source: str) -> None:
    first_, second = evaluate(page(source))[0]
    assert first_.error is None
    assert first_.output != second.output


def test_times_that_are_given_do_not_differ(evaluate: Evaluate) -> None:
    first_, second = evaluate(
        page("os.date('!%Y', 86400), os.time({year = 2000, month = 1, day = 1})")
    )[0]
    assert first_.output.startswith("1970\t") and first_ == second


def test_each_run_is_repeatable(evaluate: Evaluate) -> None:
    example = page("torch.rand(3)")
    assert evaluate(example) == evaluate(example)


def test_default_type_is_restored_at_each_block(evaluate: Evaluate) -> None:
    ask = "torch.getdefaulttensortype()"
    examples = [
        *page("torch.setdefaulttensortype('torch.FloatTensor')", ask, block=0),
        *page(ask, block=1),
    ]
    found = [outcome.output for outcome in first(evaluate(examples))]
    assert found == ["", "torch.FloatTensor\t\n", "torch.DoubleTensor\t\n"]


def test_page_that_loses_torch_goes_on(evaluate: Evaluate) -> None:
    examples = [*page("torch = nil", block=0), *page("1", block=1)]
    assert [outcome.output for outcome in first(evaluate(examples))] == ["", "1\t\n"]


def test_page_runs_in_an_empty_folder_of_its_own(evaluate: Evaluate) -> None:
    examples = [
        Example(1, 0, Kind.SHELL, "ls"),
        Example(2, 0, Kind.SHELL, "echo Hello > hello.txt"),
        Example(3, 0, Kind.PROMPT, "io.open('hello.txt'):read('*l')"),
    ]
    for run in zip(*evaluate(examples), strict=True):
        assert [outcome.output for outcome in run] == ["", "", "Hello\t\n"]


def test_input_is_empty(outputs: Callable[..., list[str]]) -> None:
    assert outputs("io.read('*l')", "1") == ["nil\t\n", "1\t\n"]


@pytest.mark.unguarded("the process says more")
def test_crash_costs_its_own_example(evaluate: Evaluate) -> None:
    found = first(evaluate(page("ffi = require('ffi'); x = 5", "print(1) " + CRASH, "x")))
    assert found[1] == Outcome("1\t\n", lost="the process was killed by SIGSEGV in this input")
    assert found[2] == Outcome("5\t\n", "", None)


@pytest.mark.thorough
def test_exit_costs_its_own_example(evaluate: Evaluate) -> None:
    found = first(evaluate(page("os.exit(3)", "os.exit(0)", "1")))
    assert [outcome.lost for outcome in found] == [
        "the process ended with status 3 in this input",
        "the process ended in this input",
        "",
    ]


def test_a_run_ends_behind_its_last_example(runner: Runner, tmp_path: Path) -> None:
    log = tmp_path / "log"
    source = f"io.open('{log}', 'a'):write('x'):close()"
    found = runner.evaluate(page(source, source, source), [Plan(1, last=1)])
    assert [outcome.error for (outcome,) in found] == [None] * 3
    assert log.read_text() == "xx"


@pytest.mark.thorough
def test_all_crashes_cost_only_their_own_examples(evaluate: Evaluate) -> None:
    found = first(evaluate(page(*["os.exit(1)"] * 5, "1")))
    assert [outcome.lost[:12] for outcome in found] == [*["the process "] * 5, ""]


@pytest.mark.thorough
def test_an_example_that_is_stopped_costs_nothing_else(
    evaluate: Evaluate,
) -> None:
    found = first(evaluate(page("x = 1", "x = 2 print(x) while true do end", "x"), 1))
    assert found[1:] == [
        Outcome("2\t\n", "2\t\n", lost="was stopped after 1 s"),
        Outcome("2\t\n", ""),
    ]


@pytest.mark.thorough
def test_an_example_that_does_not_stop_is_killed(evaluate: Evaluate) -> None:
    loop = "for _ = 1, 1e9 do os.execute('sleep 1') pcall(torch.ones, 1) end"
    found = first(evaluate(page("x = 1", f"x = 2 loadstring([[{loop}]])()", "x"), 3))
    how = "was killed: it did not stop at the end of its time"
    assert found[1:] == [Outcome(lost=f"the process {how} in this input"), Outcome("1\t\n", "")]


@pytest.mark.thorough
def test_what_is_not_run(evaluate: Evaluate) -> None:
    examples = [
        Example(1, 0, Kind.TEXT, "", "prose"),
        Example(2, 0, Kind.PROMPT, "x = 1", settings=Settings(skip=Mark())),
        Example(3, 0, Kind.SHELL, "th"),
        Example(4, 0, Kind.PROMPT, "? torch.randn"),
        Example(5, 0, Kind.PROMPT, "x"),
    ]
    assert [unrunnable(example) for example in examples] == [
        "no input: this text does not compile as Lua",
        "the page says so",
        "starts a session: the lines after it run as the page's",
        "asks the prompt for help; not Lua",
        "",
    ]
    assert first(evaluate(examples))[4] == Outcome("nil\t\n", "")


def python_page(*cells: tuple[str, str]) -> list[Example]:
    return [
        Example(line, 0, Kind.PROMPT, source, expected, language="python")
        for line, (source, expected) in enumerate(cells, 1)
    ]


def test_inputs_of_python_that_are_sent_together_wait_for_none_that_fails(
    evaluate: Evaluate,
) -> None:
    cells = [("1 + 1", "2"), ("later", "3"), ("later = 3", ""), ("later", "3")]
    found = first(evaluate(python_page(*cells)))
    assert [outcome.output.strip() for outcome in found] == ["2", "", "", "3"]
    assert (found[1].error or "").endswith("NameError: name 'later' is not defined")
    assert found[1].undefined == {"later"}  # when it ran


def test_inputs_of_python_wait_for_none_that_shows_nothing(evaluate: Evaluate) -> None:
    found = first(evaluate(python_page(("x = None", ""), ("x", "5"), ("del x", ""), ("1", "1"))))
    assert [outcome.undefined for outcome in found] == [frozenset()] * 4
    assert [outcome.output for outcome in found] == ["", "", "", "1\n"]


@pytest.mark.parametrize("source", ["print('nil')", "print(20 * ' ')"])
def test_inputs_of_python_go_on_behind_one_that_prints_no_value(
    evaluate: Evaluate, source: str
) -> None:
    found = first(evaluate(python_page((source, "1"), ("2", "2"))))
    assert [(outcome.lost, outcome.output.strip()) for outcome in found][1:] == [("", "2")]
    assert found[0].lost == ""


@pytest.mark.thorough
def test_an_exit_among_inputs_that_are_sent_together_costs_its_own(evaluate: Evaluate) -> None:
    cells = [("x = 1", ""), ("import os; os._exit(3)", ""), ("x + 1", "2"), ("x", "1")]
    found = first(evaluate(python_page(*cells)))
    assert [outcome.output for outcome in found] == ["", "", "2\n", "1\n"]
    assert found[1].lost == "the process ended with status 3 in this input"


@pytest.mark.thorough
def test_one_that_is_stopped_among_inputs_costs_nothing_else(evaluate: Evaluate) -> None:
    cells = [("x = 1", ""), ("while True: pass", ""), ("x + 1", "2"), ("x", "1")]
    found = first(evaluate(python_page(*cells), seconds=0.3))
    assert found[1].lost == "was stopped after 0.3 s"
    assert [outcome.output for outcome in found] == ["", "", "2\n", "1\n"]

"""What the inputs of a page do in the child processes that run them."""

import time

import pytest

from th_shell.docs.evaluation import Outcome, evaluate, unrunnable
from th_shell.docs.examples import Example, Kind

CRASH = "ffi.cast('int *', 8)[0] = 1"


def page(*sources: str, block: int = 0) -> list[Example]:
    return [Example(line, block, Kind.PROMPT, source) for line, source in enumerate(sources, 1)]


def first(outcomes: list[tuple[Outcome, Outcome]]) -> list[Outcome]:
    return [pair[0] for pair in outcomes]


def outputs(*sources: str) -> list[str]:
    return [outcome.output for outcome in first(evaluate(page(*sources), 60))]


def test_values_are_printed_and_globals_live() -> None:
    assert outputs("x = 2", "x + 1", "= x", "x;", "return x") == ["", "3\t\n", "2\t\n", "", "2\t\n"]


def test_output_of_all_kinds_is_in_program_order() -> None:
    source = (
        "print(1) io.write('2\\n') require('ffi').cdef('int puts(const char *)') "
        "require('ffi').C.puts('3') io.stderr:write('4\\n') os.execute('echo 5') print(6)"
    )
    found = outputs("require('ffi').cdef('int fflush(void *)')", source, "print(7)")
    assert [" ".join(text.split()) for text in found[1:]] in (["1 2 3 4 5 6", "7"],)


def test_values_stand_after_what_was_printed() -> None:
    outcome = first(evaluate(page("(function() print('a') return 'b' end)()"), 60))[0]
    assert (outcome.printed, outcome.output) == ("a\t\n", "a\t\nb\t\n")


def test_errors_do_not_end_the_page() -> None:
    found = first(evaluate(page("x = = 1", "print('a') error('bad')", "1"), 60))
    assert found == [
        Outcome(error="stdin:1: unexpected symbol near '='"),
        Outcome("a\t\n", "a\t\n", "stdin:1: bad"),
        Outcome("1\t\n", "", None),
    ]


def test_bytes_that_are_no_text_pass() -> None:
    assert outputs("'\udcff'") == ["\udcff\t\n"]


def test_runs_differ_in_seed_and_fresh_memory() -> None:
    (seeded, fresh, same) = evaluate(
        page("torch.rand(1)[1]", "torch.LongTensor(1)[1]", "torch.zeros(1)[1]"), 60
    )
    assert seeded[0] != seeded[1]
    assert fresh[0].output == "0\t\n"
    assert float(fresh[1].output) == pytest.approx(0x3F3F3F3F3F3F3F3F)
    assert same[0] == same[1]


def test_each_run_is_repeatable() -> None:
    example = page("torch.rand(3)")
    assert evaluate(example, 60) == evaluate(example, 60)


def test_default_type_is_restored_at_each_block() -> None:
    ask = "torch.getdefaulttensortype()"
    examples = [
        *page("torch.setdefaulttensortype('torch.FloatTensor')", ask, block=0),
        *page(ask, block=1),
    ]
    found = [outcome.output for outcome in first(evaluate(examples, 60))]
    assert found == ["", "torch.FloatTensor\t\n", "torch.DoubleTensor\t\n"]


def test_page_that_loses_torch_goes_on() -> None:
    examples = [*page("torch = nil", block=0), *page("1", block=1)]
    assert [outcome.output for outcome in first(evaluate(examples, 60))] == ["", "1\t\n"]


def test_page_runs_in_an_empty_folder_of_its_own() -> None:
    examples = [
        Example(1, 0, Kind.SHELL, "ls"),
        Example(2, 0, Kind.SHELL, "echo Hello > hello.txt"),
        Example(3, 0, Kind.PROMPT, "io.open('hello.txt'):read('*l')"),
    ]
    for run in zip(*evaluate(examples, 60), strict=True):
        assert [outcome.output for outcome in run] == ["", "", "Hello\t\n"]


def test_input_is_empty() -> None:
    assert outputs("io.read('*l')", "1") == ["nil\t\n", "1\t\n"]


def test_crash_costs_its_own_example() -> None:
    found = first(evaluate(page("ffi = require('ffi'); x = 5", "print(1) " + CRASH, "x"), 60))
    assert found[1] == Outcome("1\t\n", lost="the process was killed by SIGSEGV in this input")
    assert found[2] == Outcome("5\t\n", "", None)


def test_exit_costs_its_own_example() -> None:
    found = first(evaluate(page("os.exit(3)", "os.exit(0)", "1"), 60))
    assert [outcome.lost for outcome in found] == [
        "the process ended with status 3 in this input",
        "the process ended in this input",
        "",
    ]


def test_page_that_keeps_crashing_is_given_up() -> None:
    found = first(evaluate(page(*["os.exit(1)"] * 5, "1"), 60))
    assert [outcome.lost[:12] for outcome in found] == [
        *["the process "] * 4,
        *["lost: the pa"] * 2,
    ]


def test_hanging_example_is_cut_by_the_limit() -> None:
    examples = page("1", "print(2) while true do end", "3")
    for limit in (1, 5, 25):  # on a busy machine, the process may have no time to start
        start = time.monotonic()
        found = first(evaluate(examples, limit))
        assert limit <= time.monotonic() - start < limit + 25
        if not found[0].lost:
            break
    assert found == [
        Outcome("1\t\n", ""),
        Outcome("2\t\n", lost="the process ran into the time limit in this input"),
        Outcome(lost="lost: the page's process ran into the time limit before this input"),
    ]


def test_what_is_not_run() -> None:
    examples = [
        Example(1, 0, Kind.TEXT, "", "prose"),
        Example(2, 0, Kind.PROMPT, "x = 1", skip=True),
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
    assert first(evaluate(examples, 60))[4] == Outcome("nil\t\n", "")

"""Pasted pages: which examples are run, and what is said of each."""

from collections.abc import Callable

import pytest

from tests.data_files import data
from tests.processes import run_python
from tests.th_shell.conftest import TOP
from th_shell.runtime.shell import Engine
from th_shell.session.conversation import ASCII, UNICODE
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.fixture(scope="module")
def engine() -> Engine:
    """One for all tests of the module."""
    return Engine()


ONES = " 1  1\n[torch.DoubleTensor of dimension 1x2]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "> x = 3\n> x\n3",
            "th> x = 3\nth> x\n3\t\n✓\n2 inputs: 1 as documented, 1 without output",
        ),
        ("> 1 + 1\n3", "2\t\n✗ page: 3 here: 2\n1 input: 1 different"),
        ("x = 1\n> x\n1", "th> x = 1\nth> x\n1\t\n✓\n2 inputs: 1 as documented, 1 without output"),
        (
            "> for i = 1, 2 do\n>> print(i)\n>> end\n1\n2",
            "1\t\n2\t\n✓\n1 input: 1 as documented",
        ),
        ("> io.write('no end\\n') io.write('of line')\nno end\nof line", None),
        ("> error('no', 0)\nno", None),
        ("> nosuch()\n5", None),
        ("> x = 1 + 1 --> 3\n", "✗ page: 3 here: 2\n1 input: 1 different"),
        ("> x = 1 + 1 --> 2\n", "✓\n1 input: 1 as documented"),
        ("print(1)\n1", "1\t\n✓\n1 input: 1 as documented"),
        (f"print(torch.ones(1, 2))\n{ONES}", f"{ONES}\n✓\n1 input: 1 as documented"),
        ("> io.write('hi ')\nhi file (0x7fff1234)", None),
        ("> $ pip install x\n> 1\n1", "1\t\n✓\n1 input: 1 as documented, 1 not run"),
        (
            "> print('a')\na\n> print('b')\nb, with what was not copied ...",
            None,
        ),
        ("> print('a\\nb')\na", "a\nb\t\n✓ as far as it was copied\n1 input: 1 as documented"),
        ("> t = {2}; tostring(t[1])\n2", "2\t\n✓\n1 input: 1 as documented"),
        ("> torch.manualSeed(1) torch.rand(1)\n 0.5\n[torch.DoubleTensor of dimension 1]", None),
    ],
)
def test_what_is_said(session: Session, printed: Printed, text: str, expected: str | None) -> None:
    session.submit(text)
    found = printed()
    if expected is not None:
        assert found == expected + "\n"


@pytest.mark.parametrize(
    ("page", "mark", "counts"), data(__file__, "test_a_damaged_page_is_told_from_a_wrong_one")
)
def test_a_damaged_page_is_told_from_a_wrong_one(
    session: Session, printed: Printed, page: str, mark: str, counts: str
) -> None:
    session.submit(page)
    found = printed()
    assert f"{mark}\n" in found
    assert len(session.log) == page.count("> ")  # what is tried is no input of the session
    assert found.endswith(f"inputs: {counts}\n")


@pytest.mark.parametrize(("text", "summary"), data(__file__, "test_prose_is_not_run"))
def test_prose_is_not_run(session: Session, printed: Printed, text: str, summary: str) -> None:
    session.submit(text)
    found = printed()
    assert found.endswith(summary + "\n") and "error" not in found


def test_a_page_shows_no_value_of_a_call_behind_statements(
    session: Session, printed: Printed
) -> None:
    """As Torch7 prints none."""
    page = "> function f() print(1) return 2 end\n> x = 3; f()\n1\n> x = 3; f()\n1\n2\n> f()\n1\n"
    session.submit(page + "> 5\n5\n")
    assert "5 inputs: 3 as documented, 1 different, 1 without output" in printed()


def test_addresses_are_others_here(session: Session, printed: Printed) -> None:
    hexadecimal = "> ('0x%x'):format(255)\n0xfe\n"
    session.submit(f"> function() end\nfunction: 0x41000000\n{hexadecimal}")
    found = printed()
    assert found.count("\n✓\n") == 1
    assert "✗ page: 0xfe here: 0xff\n2 inputs: 1 as documented, 1 different" in found


@pytest.mark.parametrize(("text", "held"), data(__file__, "test_transcripts_of_a_prompt"))
def test_transcripts_of_a_prompt(session: Session, printed: Printed, text: str, held: int) -> None:
    session.submit(text)
    text = printed()
    assert text.count("\n✓\n") == held
    assert "✗" not in text and "failed" not in text


def marks(text: str) -> list[str]:
    """The marks and the summary among what was printed."""
    return [
        line for line in text.splitlines() if line.startswith(("✓", "✗", "≈")) or " input" in line
    ]


@pytest.mark.parametrize(
    ("text", "expected"), data(__file__, "test_only_what_depends_on_chance_is_compared_by_layout")
)
def test_only_what_depends_on_chance_is_compared_by_layout(
    session: Session, printed: Printed, text: str, expected: list[str]
) -> None:
    session.submit(text)
    assert marks(printed())[:-1] == expected[: len(expected)]


def test_an_earlier_input_of_the_session_may_depend_on_chance(
    session: Session, printed: Printed
) -> None:
    session.submit("x = torch.rand(1)")
    session.submit("> x\n 7\n[torch.DoubleTensor of dimension 1]")
    assert marks(printed())[0] == "≈ layout"


PAGE = data(__file__, "PAGE")


def test_of_a_whole_page_the_examples_are_run(session: Session, printed: Printed) -> None:
    session.submit(PAGE)
    assert printed() == (
        "th> x = torch.ones(2)\nth> x:sum()\n2\t\n✓\nth> local y = x:sum()\nth> y\n2\t\n"
        "✗ page: 3 here: 2\n4 inputs: 1 as documented, 1 different, 2 without output, 1 not run\n"
    )
    assert [entry.source for entry in session.log][-2:] == ["local y = x:sum()", "y"]


@pytest.mark.parametrize("text", data(__file__, "test_code_is_no_page"))
def test_code_is_no_page(session: Session, printed: Printed, text: str) -> None:
    session.submit(text)
    assert "input" not in printed()


@pytest.mark.parametrize("text", ["[torch.DoubleTensor of dimension 2]", "```\nsome words\n```"])
def test_a_page_without_inputs(session: Session, printed: Printed, text: str) -> None:
    session.submit(text)
    assert printed() == "no input in this text\n"


def test_a_copy_may_begin_within_a_block(session: Session, printed: Printed) -> None:
    session.submit("> 1\n1\n```\n\nProse about things that follow.\n\n```\n> 2\n2\n```")
    assert marks(printed()) == ["✓", "✓", "2 inputs: 2 as documented"]


def test_prose_between_prompts_is_no_output(session: Session, printed: Printed) -> None:
    session.submit("> 1\n1\n\nThis is what the next one prints.\n\n> 2\n2")
    assert marks(printed()) == ["✓", "✓", "2 inputs: 2 as documented"]


def test_each_block_of_a_page_begins_with_the_default_type(
    session: Session, printed: Printed
) -> None:
    float_type = "torch.setdefaulttensortype('torch.FloatTensor')"
    session.submit(
        f"```\n> {float_type}\n```\nAnd now:\n```\n> torch.Tensor():type()\ntorch.DoubleTensor\n```"
    )
    assert marks(printed())[0] == "✓"


def test_locals_of_a_page_stay_as_those_of_the_session_do(
    session: Session, printed: Printed
) -> None:
    session.submit("local mine = 5\n> mine\n5")
    assert marks(printed())[0] == "✓"
    session.submit("_G.mine, mine")
    assert printed() == "nil\t5\t\n"


def test_without_files_it_runs_all_the_same(
    session: Session, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("th_shell.session.output._channel", fail)
    session.submit("> 1\n2")
    assert printed() == "not compared with the page: Too many open files\n1\t\n"


def test_directives_of_a_page_hold_at_the_prompt(session: Session, printed: Printed) -> None:
    session.submit(
        "<!-- th-docs: skip -->\n```\n> left = 1\n```\n<!-- th-docs: setup\nx = 5\n-->\n"
        "```\n> x\n5\n> left\nnil\n```\n<!-- th-docs: seed=3 -->\n```\n> torch.rand(1)\n"
        " 0.5508\n[torch.DoubleTensor of dimension 1]\n```\n"
    )
    assert marks(printed()) == ["✓", "✓", "✓", "3 inputs: 3 as documented, 1 not run"]


@pytest.mark.parametrize(
    ("condition", "summary"),
    data(__file__, "test_conditions_of_directives"),
)
def test_conditions_of_directives(
    session: Session, printed: Printed, condition: str, summary: str
) -> None:
    session.submit(f"<!-- th-docs: skip {condition} -->\n```\n> 1\n1\n```")
    assert marks(printed())[-1] == summary


def test_directives_that_are_not_followed(session: Session, printed: Printed) -> None:
    session.submit("<!-- th-docs: sleep -->\n```\n> 1\n1\n```")
    assert printed().splitlines()[0] == (
        "the page's directives are not followed: the text:1: unknown directive 'sleep': "
        "there are skip, xfail, setup, teardown, filter, reset"
    )


def test_marks_where_the_terminal_has_only_ascii(engine: Engine, printed: Printed) -> None:
    session = Session(engine, marks=ASCII)
    session.submit("> 1\n1\n> 2\n3")
    assert printed().isascii()


def test_marks_in_colours(engine: Engine, printed: Printed) -> None:
    session = Session(engine, marks=UNICODE.coloured())
    session.submit("> 1\n1")
    assert printed() == "1\t\n\x1b[32m✓\x1b[0m\n\x1b[90m1 input: 1 as documented\x1b[0m\n"


def test_one_time_for_all(engine: Engine, printed: Printed) -> None:
    Session(engine, marks=UNICODE._replace(time="<{}>")).submit("> 1\n1\n> 2\n2")
    assert printed().count("s]>") == 1


def test_exit_in_a_page_leaves(session: Session, printed: Printed) -> None:
    assert not session.submit("> 1\n1\n> exit\n> 2\n2")
    assert marks(printed()) == ["✓"]


def test_an_error_in_the_shell_restores_the_output(
    session: Session, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(session, "show_error", fail)
    with pytest.raises(RuntimeError):
        session.submit("> error()\n1")
    session.submit("'here'")
    assert printed().endswith("here\t\n")


@pytest.mark.thorough
def test_what_an_input_prints_before_it_ends_the_process_is_shown() -> None:
    code = (
        "from th_shell.runtime.shell import Engine\n"
        "from th_shell.session.session import Session\n"
        "Session(Engine()).submit(\"> print('bye') os.exit(3)\\nbye\")"
    )
    done = run_python("-c", code, cwd=TOP)
    assert (done.stdout, done.returncode) == ("bye\t\n", 3)


@pytest.mark.parametrize(("text", "more"), data(__file__, "test_whether_a_transcript_goes_on"))
def test_whether_a_transcript_goes_on(session: Session, text: str, more: bool) -> None:
    assert session.wants_more(text) is more

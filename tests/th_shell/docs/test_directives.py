"""Directives in the comments of a page: where they may stand, what they hold for, what they do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import PageResult
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Block, Example, Line, PageText
from th_shell.docs.reading.page import read as read_page_of
from th_shell.docs.reading.page import read_text
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.settings.directives import find_comments, without_comments
from th_shell.docs.settings.settings import Configuration, Layer, Settings, SettingsError

Read = Callable[..., list[Example]]
Check = Callable[[str], PageResult]


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler()


@pytest.fixture
def read(tmp_path: Path, compiler: Compiler) -> Read:
    """The examples of a page."""

    def run(text: str, name: str = "page.md") -> list[Example]:
        (tmp_path / name).write_text(text)
        return list(read_page_of(tmp_path / name, compiler).examples)

    return run


@pytest.fixture
def check(read: Read, runner: Runner, compiler: Compiler, tmp_path: Path) -> Check:
    """The results of a page."""

    def run(text: str) -> PageResult:
        read(text)
        page = tmp_path / "page.md"
        return check_page(read_page_of(page, compiler), runner)

    return run


def skipped(examples: list[Example]) -> str:
    """Which examples are skipped: '-' for those that are not."""
    return "".join("s" if example.settings.skip else "-" for example in examples)


def verdicts(page: PageResult) -> list[str]:
    assert not page.problem
    return [result.verdict.value for result in page.results]


def notes(page: PageResult) -> list[str]:
    return [result.note for result in page.results]


# -- where directives stand

SKIP = "<!-- th-docs: skip -->"
TWO = "```lua\n> 1\n> 2\n```\n"


@pytest.mark.parametrize("name", ["page.md", "page.txt"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{TWO}\ntext\n\n{TWO}", "----"),
        (f"{SKIP}\n{TWO}\ntext\n\n{TWO}", "ss--"),
        (f"{SKIP}\n\n\n{TWO}", "ss"),
        (f"{SKIP}\r\n```lua\r\n> 1\r\n```\r\n", "s"),
        (f"{TWO}\n{SKIP}\n\n{TWO}", "--ss"),
        (f"{SKIP}\n<!-- th-docs: atol=1 -->\n{TWO}", "ss"),
        (f"<!-- th-docs:\nskip\n reason='why'\n-->\n{TWO}", "ss"),
        (f"text <!-- th-docs: skip -->\n\n{TWO}", "ss"),
        (f"{TWO}\ntext\n\n<!-- th-docs page: skip -->\n\ntext\n\n{TWO}", "ssss"),
        (f"<!-- a comment -->\n{TWO}", "--"),
        (f"<!-- th-docs checks this page -->\n{TWO}", "--"),
        ("```lua\n-- th-docs: skip\n> 1\n> 2\n```\n", "s-"),
        ("```lua\n> 1\n1\n# th-docs: skip\n> 2\n2\n```\n", "-s"),
        ("```lua\n> 1 -- th-docs: skip\n> 2\n```\n", "s-"),
        ("```lua\n> (function()\n return 2 -- th-docs: skip\n end)()\n> 2\n```\n", "s-"),
        ("```lua\n> 1\n-- th-docs page: skip\n> 2\n```\n", "ss"),
        (f"```html\n{SKIP}\n```\n\n{TWO}", "--"),
        (f"<!-- ` -->\n{SKIP}\n{TWO}", "ss"),
        (f"{TWO}{SKIP}\n{TWO}", "--ss"),
    ],
)
def test_places(read: Read, name: str, text: str, found: str) -> None:
    assert skipped(read(text, name)) == found


def test_code_within_a_paragraph_of_markdown(read: Read) -> None:
    text = f"As in `{SKIP}`, or\n``{SKIP} ` ``, but ` not\n\n{SKIP}\n\n{TWO}\n`{SKIP}`\n"
    assert skipped(read(text)) == "ss"


def test_a_place_in_html(read: Read) -> None:
    page = "<pre>> 1</pre>\n<!-- th-docs: skip -->\n<pre>\n> 2\n</pre>\n"
    assert skipped(read(page, "page.html")) == "-s"


def test_places_in_text_pages(read: Read) -> None:
    text = f"-- th-docs: skip\n{TWO}\ntext\n\n# th-docs page: timeout=3\n\n{TWO}"
    examples = read(text, "page.txt")
    assert skipped(examples) == "ss--"
    assert {example.settings.timeout for example in examples} == {3}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".. th-docs: skip\n", [(1, 1, "th-docs: skip")]),
        ("a\n\n  .. th-docs: setup\n\n     x = 1\n       y = 2\n\n     z = 3\n\ntext\n",
         [(3, 8, "th-docs: setup\n\nx = 1\n  y = 2\n\nz = 3")]),
        (".. code-block:: rst\n\n   .. th-docs: skip\n\n.. th-docs: skip\n",
         [(5, 5, "th-docs: skip")]),
        ("Like this::\n\n   .. th-docs: skip\n\ntext\n", []),
        ("<!-- th-docs: skip -->\n-- th-docs: skip\n", []),
    ],
)  # fmt: skip
def test_places_in_restructuredtext(text: str, found: list[tuple[int, int, str]]) -> None:
    comments = find_comments(read_text(text, "page.rst"))
    assert [(one.line, one.last, one.text) for one in comments] == found


def test_places_in_the_comments_of_lua_sources(read: Read) -> None:
    lines = "-- th-docs: skip\n--\n-- @usage\n-- th-docs: atol=1\n-- > x\nlocal y = 1".split("\n")
    block = Block(3, 6, "lua", (Line(4, "th-docs: atol=1"), Line(5, "> x")))
    comments = find_comments(PageText("page.lua", ".lua", lines, [block]))
    assert [(one.line, one.text, one.block) for one in comments] == [
        (1, "th-docs: skip", None),
        (4, "th-docs: atol=1", 0),
    ]
    (cut,) = without_comments([block], comments)
    assert [line.text for line in cut.lines] == ["", "> x"]


def test_directives_are_no_part_of_inputs_and_outputs(read: Read) -> None:
    text = "> x = 1 -- th-docs: skip\n> x\n1\n# th-docs: atol=1\n-- th-docs: setup y = 1\n> y"
    examples = read(f"```lua\n{text}\n```\n")
    assert [(one.source, one.expected) for one in examples] == [
        ("x = 1", ""),
        ("x", "1"),
        ("y", ""),
    ]
    assert [one.line for one in examples] == [2, 3, 7]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{SKIP}\n\ntext\n\n{TWO}",
         "1: the directive holds for nothing: no block of examples stands right under it"),
        (f"{TWO}\n{SKIP}\n",
         "6: the directive holds for nothing: no block of examples stands right under it"),
        (f"{SKIP}\n```sh\nls\n```\n{TWO}",
         "1: the directive holds for nothing: no block of examples stands right under it"),
        ("```lua\n> 1\n-- th-docs: skip\n```\n\ntext\n\n```lua\n> 2\n```\n",
         "3: the directive holds for nothing: no example follows in its block"),
        ("```lua\n> 1\n-- th-docs: skip\n1\n```\n",
         "3: the directive holds for nothing: it stands within an example, "
         "neither behind an input nor before one"),
        ("```lua\n> 1\n1 -- th-docs: skip\n```\n",
         "3: the directive holds for nothing: it stands within an example, "
         "neither behind an input nor before one"),
        ("```lua\n-- th-docs: skip\nno code\n```\n",
         "2: the directive holds for nothing: what follows is no input"),
        ("```lua\n> -- th-docs: skip\n> 1\n```\n",
         "2: the directive holds for nothing: it stands behind no input"),
        ("<!-- th-docs page: skip -->\n",
         "1: the directive holds for nothing: the page has no examples"),
        (f"{TWO}\n<!-- th-docs: setup x = 1 -->\n",
         "6: the directive holds for nothing: no example follows"),
        (f"\n<!-- th-docs: skipp -->\n{TWO}",
         "2: unknown directive 'skipp': there are skip, xfail, setup, teardown, filter, reset"),
        (f"<!-- th-docs: tol=1 -->\n{TWO}", "1: unknown setting 'tol'"),
        (f"<!-- th-docs: skip because='x' -->\n{TWO}",
         "1: skip: unknown setting 'because': there are reason, unless_env, unless_module"),
        (f"<!-- th-docs: skip reason=too slow -->\n{TWO}", "1: not 'key=value': slow"),
        (f"<!-- th-docs: atol=1 atol=2 -->\n{TWO}", "1: atol: said twice"),
        (f"<!-- th-docs: atol=-1 -->\n{TWO}", "1: atol: not a number from 0 up"),
        (f"<!-- th-docs: atol=inf -->\n{TWO}", "1: atol: not a number from 0 up"),
        (f"<!-- th-docs: rtol=small -->\n{TWO}", "1: rtol: not a number"),
        (f"<!-- th-docs: timeout=0 -->\n{TWO}", "1: timeout: not a number above 0"),
        (f"<!-- th-docs: seed=1.5 -->\n{TWO}", "1: seed: not a whole number from 0 up"),
        (f"<!-- th-docs: strict=1 -->\n{TWO}", "1: strict: neither true nor false"),
        (f"{TWO}\n<!-- th-docs: reset -->\n",
         "6: the directive holds for nothing: no example follows"),
        (f"<!-- th-docs: reset all -->\n{TWO}", "1: not 'key=value': all"),
        (f"<!-- th-docs: filter match='(' replace='' -->\n{TWO}",
         "1: filters: not a regular expression: missing ), unterminated subpattern at position 0"),
        (f"<!-- th-docs: filter match='a' replace='\\1' -->\n{TWO}",
         "1: filters: not a regular expression: invalid group reference 1 at position 1"),
        (f"<!-- th-docs: filter match='a' -->\n{TWO}",
         "1: filters: a filter has 'match' and 'replace'"),
        (f"<!-- th-docs: setup -->\n{TWO}", "1: setup has no code"),
        (f"<!-- th-docs: -->\n{TWO}", "1: the directive says nothing"),
        (f"<!-- th-docs skip -->\n{TWO}",
         "1: a directive is written 'th-docs: …' or 'th-docs page: …'"),
        (f"{TWO}\n<!-- th-docs: skip\n", "6: the comment has no end"),
    ],
)  # fmt: skip
def test_wrong_directives(read: Read, text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(text)
    assert str(caught.value) == f"page.md:{problem}"


# -- what directives do


def test_skip_shows_its_reason(check: Check) -> None:
    page = check(
        '<!-- th-docs: skip reason="says \\"no\\"" -->\n```\n> error(1)\n```\n\n'
        "text\n\n```\n> error(2) -- th-docs: skip\n"
        "> error(3) -- th-docs: skip unless_env=PATH\n```"
    )
    assert verdicts(page) == ["skipped", "skipped", "error"]
    assert notes(page) == ['says "no"', "the page says so", ""]


@pytest.mark.thorough
def test_xfail_of_an_example(check: Check) -> None:
    page = check(
        "```\n> 1 + 1 -- th-docs: xfail reason='a bug'\n3\n> 1 + 1\n3\n"
        "-- th-docs: xfail\n> error('x')\n> nothing.at -- th-docs: xfail\n```"
    )
    assert verdicts(page) == ["xfail", "differs", "xfail", "xfail"]
    assert notes(page)[0] == "a bug"


def test_xfail_that_holds_is_a_failure(check: Check) -> None:
    page = check(
        "```\n> 1 + 1 -- th-docs: xfail reason='a bug'\n2\n> x = 1 -- th-docs: xfail\n"
        "> 2 -- th-docs: xfail unless_env=PATH\n2\n```"
    )
    assert verdicts(page) == ["differs", "differs", "pass"]
    assert notes(page)[:2] == [
        "page.md:2 says that it fails (a bug), but it is pass now: strike it",
        "page.md:4 says that it fails, but it is ran now: strike it",
    ]


@pytest.mark.thorough
def test_xfail_of_a_block_needs_one_failure(check: Check) -> None:
    block = "<!-- th-docs: xfail -->\n```\n> x = 1\n> x\n{}\n```\n\ntext\n\n"
    page = check(block.format(2) + block.format(1))
    assert verdicts(page) == ["ran", "xfail", "differs", "pass"]
    assert notes(page)[2] == "page.md:10 says that it fails, but it is ran now: strike it"


@pytest.mark.thorough
@pytest.mark.parametrize(("said", "found"), data(__file__, "test_tolerance"))
def test_tolerance(check: Check, said: str, found: str) -> None:
    page = check(
        f"<!-- th-docs page: {said or 'atol=0'} -->\n```\n> 0.503\n0.5000\n> 1.0015\n1\n"
        "> torch.Tensor{1000.5}\n 1001.5\n[torch.DoubleTensor of dimension 1]\n```"
    )
    assert verdicts(page) == found.split()


@pytest.mark.thorough
def test_tolerance_does_not_make_infinity_any_number(check: Check) -> None:
    page = check("<!-- th-docs: atol=1 rtol=1 -->\n```\n> 5\ninf\n> 1/0\n5\n> 1/0\ninf\n```")
    assert verdicts(page) == ["differs", "differs", "pass"]


@pytest.mark.thorough
def test_tolerance_adds_to_what_rounding_of_documented_numbers_allows(check: Check) -> None:
    page = check(
        "```\n> x = torch.rand(1)\n> x\n 0.5000\n[torch.DoubleTensor of dimension 1]\n\n"
        "> x[1] * 1e4 -- th-docs: atol=4\n5005.0\n> x[1] * 1e4\n5005.0\n"
        "> x[1] * 1e4\n5001.0\n> 5000 -- th-docs: atol=4\n5005.0\n```"
    )
    assert verdicts(page)[2:] == ["pass", "differs", "pass", "differs"]


@pytest.mark.thorough
def test_tolerance_holds_for_what_follows_from_documented_numbers(check: Check) -> None:
    text = (
        "```\n> x = torch.rand(1)\n> x\n 0.5000\n[torch.DoubleTensor of dimension 1]\n\n"
        "> x * 100{}\n 50.1000\n[torch.DoubleTensor of dimension 1]\n```"
    )
    assert verdicts(check(text.format("")))[-1] == "differs"
    assert verdicts(check(text.format(" -- th-docs: rtol=0.01")))[-1] == "pass"


def test_special_places_stand_over_general_ones(read: Read) -> None:
    examples = read(
        "<!-- th-docs page: atol=1 rtol=1 timeout=1 -->\n\n<!-- th-docs: atol=2 rtol=2 -->\n"
        "```\n> 1 -- th-docs: atol=3\n> 2\n```\n\ntext\n\n```\n> 3\n```\n"
    )
    assert [(e.settings.atol, e.settings.rtol, e.settings.timeout) for e in examples] == [
        (3, 2, 1),
        (2, 2, 1),
        (1, 1, 1),
    ]


def test_where_a_directive_stands_in_the_page_does_not_count(read: Read) -> None:
    examples = read("<!-- th-docs: atol=2 -->\n```\n> 1\n```\n\n<!-- th-docs page: atol=1 -->\n")
    assert examples[0].settings.atol == 2


@pytest.mark.thorough
def test_timeout_of_an_example(check: Check) -> None:
    page = check("```\n> while true do end -- th-docs: timeout=0.3\n> 1\n1\n```")
    assert verdicts(page) == ["error", "pass"]
    assert notes(page)[0] == "was stopped after 0.3 s"


@pytest.mark.thorough
@pytest.mark.parametrize("said", ["<!-- th-docs page: seed=7 -->", "<!-- th-docs: seed=7 -->"])
def test_seed_makes_chance_the_same_in_each_run(check: Check, said: str) -> None:
    text = "```\n> torch.random(1000)\n{}\n> torch.random(1000)\n{}\n```"
    first = check(f"{said}\n\n" + text.format(1, 1)).results
    numbers = [int(result.got) for result in first]
    assert first[0].verdict.value == "differs"
    assert verdicts(check(f"{said}\n\n" + text.format(*numbers))) == ["pass", "pass"]


def test_seed_before_an_example(check: Check) -> None:
    page = check("```\n> a = torch.rand(1)[1]; -- th-docs: seed=3\n> 1\n1\n"
                 "-- th-docs: seed=3\n> a == torch.rand(1)[1]\ntrue\n```")  # fmt: skip
    assert verdicts(page) == ["ran", "pass", "pass"]


@pytest.mark.thorough
def test_filter_compares_something_else(check: Check) -> None:
    said = '<!-- th-docs: filter match="took \\d+ s" replace="took T" -->\n'
    text = (
        "```\n> print('took ' .. torch.random() .. ' s')\ntook 3 s\n> print('took')\ntook 3 s\n```"
    )
    assert verdicts(check(said + text)) == ["pass", "differs"]


def test_filter_of_an_error_message(check: Check) -> None:
    said = '<!-- th-docs: filter match="at \\w+" replace="" -->\n'
    assert verdicts(check(said + "```\n> error('at x: bad')\nstdin:1: at y: bad\n```")) == ["pass"]


def test_strict_of_a_page(check: Check) -> None:
    page = check("```\n> 1\n> 2 -- th-docs: strict=true\n```")
    assert verdicts(page) == ["ran", "differs"]


def test_a_page_may_be_less_strict_than_the_command_line(
    read: Read, runner: Runner, compiler: Compiler, tmp_path: Path
) -> None:
    read("```\n> 1\n> 2 -- th-docs: strict=false\n```")
    path = tmp_path / "page.md"
    strict = read_page_of(path, compiler, Configuration(Layer(Settings(strict=True))))
    assert verdicts(check_page(strict, runner)) == ["differs", "ran"]


def test_setup_runs_where_it_stands(check: Check) -> None:
    page = check(
        "```\n> x\nnil\n```\n\n"
        "<!-- th-docs: setup\nx = 1 -- one\nlocal y = x\nprint(x + y)\n-->\n\n"
        "text\n\n```\n> x\n1\n-- th-docs: setup x = 2\n> x\n2\n```\n\n"
        "<!-- th-docs page: setup z = 3 -->\n\n```\n> z\n3\n```"
    )
    assert verdicts(page) == ["pass"] * 4


def test_page_level_setup_comes_first(check: Check) -> None:
    page = check("```\n> z\n3\n```\n\n<!-- th-docs page: setup z = 3 -->\n")
    assert verdicts(page) == ["pass"]


def test_setup_of_a_skipped_example_runs(check: Check) -> None:
    page = check("```\n-- th-docs: setup x = 1\n> 0 -- th-docs: skip\n> x\n1\n```")
    assert verdicts(page) == ["skipped", "pass"]


@pytest.mark.thorough
def test_names_of_a_setup_are_no_fragments(check: Check) -> None:
    page = check("```\n-- th-docs: setup x = 1\n> x\n2\n```")
    assert verdicts(page) == ["differs"]


def test_setup_that_fails(check: Check) -> None:
    page = check("```\n-- th-docs: setup error('bad')\n> 1\n1\n> 2\n2\n```")
    assert verdicts(page) == ["error", "pass"]
    assert notes(page)[0] == "not run: the setup at page.md:2 fails: stdin:1: bad"


def test_setup_runs_again_where_the_page_starts_again(check: Check) -> None:
    page = check("```\n-- th-docs: setup x = 1\n> x\n1\n> os.exit(1)\n> x\n1\n```")
    assert verdicts(page) == ["pass", "ran", "pass"]


def test_setup_that_ends_the_page(check: Check) -> None:
    page = check("```\n> 1\n1\n-- th-docs: setup os.exit(3)\n> 2\n2\n> 3\n3\n```")
    assert verdicts(page) == ["pass", "error", "pass"]
    assert notes(page)[1] == "the process ended with status 3 in the setup at page.md:4"


def test_teardown_runs_at_the_end_also_after_failures(check: Check, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    page = check(
        f"<!-- th-docs: teardown local f = io.open('{mark}', 'a') f:write(x, ' ') f:close() -->\n"
        "```\n> x = 1\n> error('bad')\n> os.exit(1)\n> x = 2\n```"
    )
    assert verdicts(page) == ["ran", "error", "ran", "ran"]
    assert set(mark.read_text().split()) == {"2"}


def test_teardown_that_fails(check: Check) -> None:
    page = check("```\n> 1\n1\n```\n\n<!-- th-docs: teardown error('bad') -->\n")
    assert page.problem == "the teardown at page.md:6 fails: stdin:1: bad"


def test_pages_of_both_suffixes_of_restructuredtext_have_directives() -> None:
    names = ("page.rst", "page.rest", "page.REST")
    found = [find_comments(read_text(".. th-docs: skip", name)) for name in names]
    assert [[comment.text for comment in comments] for comments in found] == [["th-docs: skip"]] * 3


# -- sessions

ONE = "```lua\n> x = 1\n```\n"
ASKS = "```lua\n> x\nnil\n```\n"
RESET = "<!-- th-docs: reset -->"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("page.md", f"{RESET}\n{TWO}text\n\n{TWO}", "1111"),
        ("page.md", f"{TWO}\n{RESET}\n\ntext\n\n{TWO}\n{RESET}\n{TWO}", "001122"),
        ("page.md", f"{TWO}<!-- clear-namespace -->\n{TWO}", "0011"),
        ("page.md", f"{TWO}\n<!--- clear-namespace -->\n\n{TWO}\n% clear-namespace\n\n{TWO}",
         "001122"),
        ("page.md", f"{TWO}\n`clear-namespace`\n\n{TWO}", "0000"),
        ("page.md", "```lua\n> 1\n> 2 -- th-docs: reset\n> 3\n-- th-docs: reset\n> 4\n```\n",
         "0112"),
        ("page.txt", f"{TWO}\n-- th-docs: reset\n\ntext\n\n{TWO}", "0011"),
        ("page.rst",
         ">>> 1\n\n.. th-docs: reset\n\ntext\n\n>>> 2\n\n.. clear-namespace\n\n>>> 3\n", "012"),
        ("page.lua", "-- @usage\n-- x = 1\nx = 1\n-- th-docs: reset\n\n-- @usage\n-- x = 2\n",
         "01"),
    ],
)  # fmt: skip
def test_a_new_session_begins(read: Read, name: str, text: str, found: str) -> None:
    groups = [example.group for example in read(text, name)]
    assert "".join(group.removeprefix("\n") or "0" for group in groups) == found


def test_groups_have_sessions_of_their_own(read: Read) -> None:
    text = ".. doctest:: {0}\n\n   >>> {0}\n\n"
    page = f"{text.format(1)}{text.format(2)}.. th-docs: reset\n\n{text.format(1)}"
    assert [example.group for example in read(page, "page.rst")] == ["1", "2", "1\n1"]


@pytest.mark.thorough
def test_a_session_knows_nothing_of_the_one_before(check: Check) -> None:
    page = check(
        f"{ONE}\n{RESET}\n<!-- th-docs: setup y = 2 -->\n\n{ASKS}"
        "```lua\n> y\n2\n```\n```python\n>>> x = 1\n```\n\n<!-- th-docs: reset -->\n"
        "```python\n>>> x\nTraceback (most recent call last):\nNameError: name 'x' is not defined\n"
        "```\n```lua\n> y\nnil\n```\n"
    )
    assert verdicts(page) == ["ran", "pass", "pass", "ran", "pass", "pass"]


def test_a_teardown_runs_in_the_session_that_it_stands_in(check: Check, tmp_path: Path) -> None:
    teardown = f"<!-- th-docs: teardown io.open('{tmp_path}/log', 'a'):write(x, ' '):close() -->\n"
    page = check(
        f"{ONE}\n{RESET}\n```lua\n> x = 2\n```\n\n{teardown}\n{RESET}\n```lua\n> x = 3\n```\n"
    )
    assert verdicts(page) == ["ran", "ran", "ran"]
    assert set((tmp_path / "log").read_text().split()) == {"2"}


def test_the_file_beside_a_page_begins_sessions(read: Read, tmp_path: Path) -> None:
    (tmp_path / "page.md.th-docs").write_text("[[examples]]\ninput = '2'\nreset = true\n")
    assert [example.group for example in read(TWO)] == ["", "\n1"]

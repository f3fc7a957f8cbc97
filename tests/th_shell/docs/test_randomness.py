"""What depends on chance is told by what it is and by runs that differ for sure, never by luck."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner

Judged = Callable[[str, str], list[Verdict]]

PASS, LAYOUT, DIFFERS, RAN, ERROR = (
    Verdict.PASS,
    Verdict.LAYOUT,
    Verdict.DIFFERS,
    Verdict.RAN,
    Verdict.ERROR,
)


@pytest.fixture
def judged(runner: Runner, tmp_path: Path) -> Judged:
    """The verdicts of the examples in a block of a language."""

    def run(language: str, text: str) -> list[Verdict]:
        page = tmp_path / "page.md"
        page.write_text(f"```{language}\n{text}\n```\n")
        found = check_page(read(page, Compiler()), runner)
        assert not found.problem
        return [result.verdict for result in found.results]

    return run


def in_lua(*examples: tuple[str, str]) -> str:
    return "\n".join(f"> {source}\n{expected}" for source, expected in examples)


def in_python(*examples: tuple[str, str]) -> str:
    return "\n".join(f">>> {source}\n{expected}" for source, expected in examples)


EACH = "for k, v in pairs{ann = 30, bob = 40} do print(k, v) end"
JOINED = "local s = ''; for k in pairs{ann = 30, bob = 40} do s = s .. k end; print(s)"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("source", "expected", "verdict"),
    [
        (EACH, "ann 30\nbob 40", LAYOUT),
        (EACH, "bob 40\nann 30", LAYOUT),
        (EACH, "bob 30\nann 40", DIFFERS),
        (JOINED, "annbob", LAYOUT),
        (JOINED, "bobann", LAYOUT),
        (JOINED, "bobanm", DIFFERS),
        ("{ann = 30, bob = 40}", "{\n  bob : 40\n  ann : 30\n}", LAYOUT),
        ("{ann = 30, bob = 40}", "{\n  ann : 30\n  bob : 40\n}", LAYOUT),
        ("for k, v in pairs{10, 20} do print(k, v) end", "1 10\n2 20", PASS),
        ("for k, v in pairs{10, 20} do print(k, v) end", "2 20\n1 10", DIFFERS),
        ("for k in pairs{7, one = 1} do print(k) end", "1\none", PASS),
        (
            "for k in pairs(setmetatable({a = 1, b = 2}, {__pairs = function() "
            "return function(_, k) return not k and 'own' or nil end end})) do print(k) end",
            "own",
            PASS,
        ),
        ("next(pairs{a = 0}({}, nil) and {1} or {})", "nil", PASS),
        ("pairs{a = 0}({b = 2}, nil)", "b 2", PASS),
        ("pairs(nil)", "bad argument #1 to 'pairs' (table expected, got nil)", PASS),
        ("for k in pairs{7, [9] = 1} do print(k) end", "1\n9", PASS),
        ("for k in pairs{7, [9] = 1, one = 1} do print(k) end", "1\n9\none", LAYOUT),
        ("for _, v in pairs{one = false} do print(v) end", "false", PASS),
    ],
)
def test_named_fields_have_no_order(
    judged: Judged, source: str, expected: str, verdict: Verdict
) -> None:
    assert judged("lua", in_lua((source, expected))) == [verdict]


NAMES = "one two six ten all any the sea sky oak elm fir ash bay".split()


@pytest.mark.thorough
@pytest.mark.parametrize(("source", "expected"), data(__file__, "test_no_two_keys_have_an_order"))
def test_no_two_keys_have_an_order(judged: Judged, source: str, expected: str) -> None:
    both = [*zip(NAMES[::2], NAMES[1::2], strict=True), *zip(NAMES[1::2], NAMES[::2], strict=True)]
    examples = [(source.format(a=a, b=b), expected.format(a=a, b=b)) for a, b in both]
    assert set(judged("lua", in_lua(*examples))) == {LAYOUT}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("source", "expected"), data(__file__, "test_next_goes_through_a_table"))
def test_next_goes_through_a_table(judged: Judged, source: str, expected: str) -> None:
    assert judged("lua", in_lua((source, expected))) == [PASS]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("expected", "verdict"),
    [
        ("{b=2,a=1,c=3}", PASS),
        ("all: {b=2,a=1,c=3}", LAYOUT),
        ("{a=1,b=2,c=4}", DIFFERS),
        ("{a=1,b=2,d=3}", DIFFERS),
        ("all: {a=1,b=2,c=4}", DIFFERS),
    ],
)
def test_tables_in_texts_have_no_order_but_the_same_fields(
    judged: Judged, expected: str, verdict: Verdict
) -> None:
    function = "written = function(t) s = {} for k, v in pairs(t) do s[#s + 1] = k .. '=' .. v end"
    function += " return '{' .. table.concat(s, ',') .. '}' end"
    start = "'all: ' .. " if expected.startswith("all") else ""
    source = f"tostring({start}written{{a = 1, b = 2, c = 3}})"
    assert judged("lua", in_lua((function, ""), (source, expected)))[-1] is verdict
    comment = f'{function}\n{source}\n-- Returns "{expected}"\n'
    assert judged("lua", comment)[-1] is verdict


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("shown", "verdict"), [("M({'b': 2, 'a': 1})", LAYOUT), ("M({'b': 2, 'a': 3})", DIFFERS)]
)
def test_objects_in_python_have_no_order_but_the_same_fields(
    judged: Judged, shown: str, verdict: Verdict
) -> None:
    source = "print('M({' + ', '.join(f'{k!r}: {ord(k) - 96}' for k in {'a', 'b'}) + '})')"
    assert judged("python", in_python((source, shown)))[-1] is verdict


def test_a_loop_may_remove_fields(judged: Judged) -> None:
    loop = "t = {a = 1, b = 2, c = 3}; for k in pairs(t) do t.a, t.b, t.c = nil; print('x') end"
    assert judged("lua", in_lua((loop, "x"))) == [PASS]


@pytest.mark.thorough
def test_no_two_letters_have_an_order_in_a_set(judged: Judged) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    one_order = list(zip(letters[::2], letters[1::2], strict=True))
    both = [*one_order, *((b, a) for a, b in one_order)]
    joined = in_python(*((f"' '.join({{{a!r}, {b!r}}})", f"'{a} {b}'") for a, b in both))
    assert set(judged("python", joined)) <= {PASS, LAYOUT}
    shown = in_python(*((f"{{{a!r}, {b!r}}}", f"{{{b!r}, {a!r}}}") for a, b in both))
    assert set(judged("python", shown)) == {PASS}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("source", "expected", "verdict"),
    [
        ("''.join({'g', 'h'})", "'gh'", LAYOUT),
        ("''.join({'g', 'h'})", "'hg'", LAYOUT),
        ("''.join({'g', 'h'})", "'gx'", DIFFERS),
        ("print(*{'ab', 'cd', 'ef'}, sep='\\n')", "cd\nef\nab", LAYOUT),
        ("d = {'ab': 1, 'cd': 2}\n>>> for k in set(d): print(k, d[k])", "cd 1\nab 2", DIFFERS),
    ],
)
def test_sets_have_no_order(judged: Judged, source: str, expected: str, verdict: Verdict) -> None:
    assert judged("python", in_python((source, expected)))[-1] is verdict


@pytest.mark.thorough
@pytest.mark.parametrize("chance", ["' '.join({'g', 'h'})", "__import__('random').random()"])
def test_chance_belongs_to_an_example(judged: Judged, chance: str) -> None:
    others = [("print(1.0)", "1"), ("3", "3.0"), ("7", "07"), ("1 / 3", "0.333")]
    shown = "'g h'" if "join" in chance else "0.125"
    assert judged("python", in_python((chance, shown), *others)) == [LAYOUT, *4 * [DIFFERS]]


@pytest.mark.thorough
def test_what_is_computed_from_chance_follows_from_it(judged: Judged) -> None:
    drawn = "import random; x = random.random()\n>>> x\n0.5\n>>> "
    assert judged("python", in_python((f"{drawn}x / 3", "0.1667")))[1:] == [LAYOUT, PASS]
    assert judged("python", in_python((f"{drawn}x / 3", "0.4167")))[1:] == [LAYOUT, DIFFERS]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("language", "source", "expected", "verdict"),
    [
        ("python", "hex(255)", "'0xff'", PASS),
        ("python", "hex(255)", "'0xfe'", DIFFERS),
        ("python", "print('mask: 0xff', object())", "mask: 0xfe <object object at 0x1>", DIFFERS),
        ("python", "print('mask: 0xff', object())", "mask: 0xff <object object at 0x1>", PASS),
        ("python", "hex(id(object()))", "'0x7f12345678ab'", LAYOUT),
        ("lua", "('0x%x'):format(255)", "0xff", PASS),
        ("lua", "('0x%x'):format(255)", "0xfe", DIFFERS),
        ("lua", "tostring({}):match('0x%x+')", "0x41000000", LAYOUT),
        ("lua", "function() end", "function: 0x1234567", PASS),
        ("lua", "error('bad mask: 0xff')", "bad mask: 0xff", PASS),
        ("lua", "error('bad mask: 0xff')", "bad mask: 0xfe", ERROR),
        ("lua", "error(tostring({}))", "table: 0x41000000", PASS),
    ],
)
def test_an_address_is_what_differs_between_runs(
    judged: Judged, language: str, source: str, expected: str, verdict: Verdict
) -> None:
    text = (in_python if language == "python" else in_lua)((source, expected))
    assert judged(language, text) == [verdict]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("objects", "verdicts"),
    [
        (["{a = 1, b = 2}", "{food = 'x'}"], [RAN, RAN]),  # two are left out: it is the custom
        (["{a = {}, f = print}", "{food = 'x'}"], [RAN, RAN]),  # nor what a script does not show
    ],
)
def test_the_order_of_fields_does_not_tell_what_is_left_out(
    judged: Judged, objects: Sequence[str], verdicts: list[Verdict]
) -> None:
    shown = [f"tostring({n}) -- {n}" for n in range(1, 6)]
    silent = [f"setmetatable({one}, {{}})" for one in objects]
    assert judged("lua", "\n".join([*shown, *silent]))[-2:] == verdicts


@pytest.mark.thorough
@pytest.mark.parametrize("documented", ["0", "1"])
@pytest.mark.parametrize("source", data(__file__, "test_generators_of_their_own_have_seeds"))
def test_generators_of_their_own_have_seeds(judged: Judged, source: str, documented: str) -> None:
    imports = "import numpy, random, secrets, uuid\n>>> "
    text = in_python((f"{imports}{source}", documented))
    found = judged("python", text)
    assert found[-1] in (PASS, LAYOUT)
    assert judged("python", text) == found


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(
    "seed", ["os.time()", "tonumber(tostring(os.time()):reverse():sub(1, 6))", "os.clock() * 1e9"]
)
def test_the_time_of_the_day_is_no_seed(judged: Judged, seed: str, number: int) -> None:
    text = f"> math.randomseed({seed})\n> math.random(1e5) % 2 + 1\n{number}"
    verdicts = judged("lua", text)
    assert verdicts in ([RAN, PASS], [RAN, LAYOUT])
    assert judged("lua", text) == verdicts


def test_a_seed_of_the_page_stays(judged: Judged) -> None:
    text = in_lua(("math.randomseed(42); print(math.random() == math.random())", "false"))
    again = "> a = math.random(); math.randomseed(42); print(a == math.random())\ntrue"
    assert judged("lua", f"> math.randomseed(42)\n{again}\n{text}") == [RAN, PASS, PASS]


SCRIPT = "t = torch.Timer()\nprint(torch.uniform())\nprint(t:time().real)\n```\n\n```\n"
LOSS = "print(('%d: loss %.3f, %.2f s'):format(7, torch.uniform(), t:time().real))"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "text", "verdict"),
    [
        ("lua", "> string.format('%.1f', os.clock())\n0.0", LAYOUT),
        ("lua", "> t = os.time()\n> os.time() - t\n0", LAYOUT),
        ("lua", "> t = sys.clock()\n> string.format('%.0f s', sys.clock() - t)\n7 s", LAYOUT),
        ("lua", "> sys.tic()\n> string.format('%.0f s', sys.toc())\n7 s", LAYOUT),
        ("lua", "> t = torch.tic()\n> print(('%.1f'):format(torch.toc(t)))\n0.9", LAYOUT),
        ("lua", "> t = torch.Timer()\n> print(('%.2f s'):format(t:time().user))\n0.15 s", LAYOUT),
        ("lua", "> t = torch.Timer()\n> print(('%.2f s'):format(t:time().real))\nnan s", DIFFERS),
        ("lua", f"> t = torch.Timer()\n> {LOSS}\n7: loss 0.412, 0.15 s", LAYOUT),
        ("lua", f"> t = torch.Timer()\n> {LOSS}\n8: loss 0.412, 0.15 s", DIFFERS),
        ("lua", f"> t = torch.Timer()\n> {LOSS}\n7: loss 99.412, 0.15 s", DIFFERS),
        ("lua", f"{SCRIPT}0.2\n9.1", LAYOUT),
        ("lua", f"{SCRIPT}-55.25\n9.1", DIFFERS),
        (
            "python",
            ">>> import time\n>>> t = time.time_ns()\n>>> (time.time_ns() - t) // 10**9\n0",
            LAYOUT,
        ),
        (
            "python",
            ">>> import time\n>>> t = time.perf_counter()\n"
            ">>> print(f'{time.perf_counter() - t:.1f}')\n0.4",
            LAYOUT,
        ),
        (
            "python",
            ">>> from time import monotonic\n>>> t = monotonic()\n"
            ">>> print(f'{monotonic() - t:.1f} s')\n0.4 s",
            LAYOUT,
        ),
    ],
)
def test_how_long_something_takes_depends_on_chance(
    judged: Judged, language: str, text: str, verdict: Verdict
) -> None:
    assert judged(language, text)[-1] is verdict


@pytest.mark.thorough
def test_libraries_wait_as_long_as_ever(judged: Judged) -> None:
    waits = "async def main():\n...     await asyncio.gather(say(0.2), say(0.1))\n... "
    says = "async def say(s):\n...     await asyncio.sleep(s)\n...     print(s)\n... "
    text = f">>> import asyncio\n>>> {says}\n>>> {waits}\n>>> asyncio.run(main())\n0.1\n0.2"
    assert judged("python", text)[-1] is PASS


@pytest.mark.parametrize(("most", "verdict"), [(0.6, LAYOUT), (0.9, DIFFERS)])
def test_numbers_that_few_seeds_print(judged: Judged, most: float, verdict: Verdict) -> None:
    """The first six seeds draw numbers below 0.6, further ones below 0.87."""
    shown = "-0.1000\n-0.2000\n-0.3000\n-0.4000\n[torch.DoubleTensor of size 4]"
    page = in_lua((f"torch.range(1, 4) * ({most} - torch.uniform())", shown))
    assert judged("lua", page) == [verdict]

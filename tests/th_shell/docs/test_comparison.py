"""What counts and what does not when a print is held against its page."""

import pytest

from tests.data_files import data
from th_shell.docs.judging.comparison import (
    agrees,
    agrees_by_layout,
    agrees_in_any_order,
    agrees_within,
    is_error_message,
    sorting,
)
from th_shell.docs.judging.printout import same
from th_shell.docs.settings.settings import Tolerance

PAIR = "[torch.DoubleTensor of size 2]"


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("1  2\n3", " 1 2\n 3\n\n"),
        ("[torch.DoubleTensor of size 2x3]", "[torch.DoubleTensor of dimension 2x3]"),
        ("[torch.LongStorage of size 2]", "[torch.LongStorage of dimension 2]"),
        ("5 -- so many", "5"),
        ("-- a -- b", "-- a -- b"),
        ("3.1400", "3.14"),
        ("0.1411", "0.14112000805987"),
        ("1.0000e+10", "10000000001"),
        ("1.9552094821074", "1.9552094821073"),
        ("-0.0000", "0.0000"),
        ("nan", "-nan"),
        ("inf", "inf"),
        ("table: 0x1a4ba80", "table: 0x7f00"),
        ("table: 00459AE8", "table: 0x7f00"),
        ("Fred: 00459330", "Fred: 0x7f00"),
        ("h e l p >", "h e l p "),
        ("(1,...) =\n1", "(1,.,.) = \n 1"),
        ("(2,,,) =\n1", "(2,.,.) = \n 1"),
        ("{1:DoubleTensor}", "{ 1 : DoubleTensor }"),
        ("5\n      [0.0001s]", "5"),
        ("1\n...\n[torch.LongTensor of size 9]", "1\n2\n3\n[torch.LongTensor of size 9]"),
        ("a\n...", "a"),
        ("1.0", "0.96"),
        ("0.67", "0.66666666666667"),
        ("1e-5 x", "1e-05 x"),
        ("x 1.0", "x 1"),
        ("0", "1.2246467991474e-16"),
        (f" 1.0000e+06\n 3.0000e-12\n{PAIR}", f" 1.0000e+06\n 1.0000e-12\n{PAIR}"),
        ("[PASS]", "\x1b[0;32m[WAIT]\x1b[0m\r[\x1b[0;32mPASS\x1b[0m]"),
    ],
)
def test_agree(expected: str, got: str) -> None:
    assert agrees(expected, got)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("1", "2"),
        ("1", "1.2"),
        ("0.1411", "0.1414"),
        ("2.1", "2.0"),
        ("1.0000e+10", "1.0003e+10"),
        ("1 2", "1 2 3"),
        ("1 2 3", "1 2"),
        ("000000", "0 0 0 0 0 0"),
        ("nan", "0"),
        ("inf", "-inf"),
        ("[torch.DoubleTensor of size 2x3]", "[torch.DoubleTensor of size 3x2]"),
        ("[torch.DoubleTensor of size 2]", "[torch.DoubleStorage of size 2]"),
        ("(1,.,.) =", "(2,.,.) ="),
        ("true", "false"),
        ("*****", "************"),
        ("1\n...\n4", "1\n2\n3"),
        ("text -- more", "text -- less"),
        # Half a unit of the last digit.
        ("1.0", "0.91"),
        ("0.34", "0.33333333333333"),
        ("0.66", "0.66666666666667"),
        # Whole numbers are the same, and residues are tiny, beside numbers of their own tensor.
        ("1099511627776 2", "1099511627776 1"),
        ("1e+15 500", "1e+15 5"),
        ("12345678901235", "12345678901234"),
        ("1099511627776 0.5", "1099511627776 0.25"),
        ("1000000 5e-7", "1000000 1e-9"),
        (f" 1.0995e+12\n 2.0000e+00\n{PAIR}", f" 1.0995e+12\n 1.0000e+00\n{PAIR}"),
        (f" 1.0995e+12\n 6.0000e-01\n{PAIR}", f" 1.0995e+12\n 5.0000e-01\n{PAIR}"),
        # Numbers in a text.
        ("version 2.1", "version 2.10"),
        ("version 2.10", "version 2.1"),
        ("version 2", "version 2.0"),
        ("id 7", "id 007"),
    ],
)
def test_do_not_agree(expected: str, got: str) -> None:
    assert not agrees(expected, got)


MATRIX = "0.8020 0.7246\n0.0369 0.4158\n[torch.DoubleTensor of dimension 2x2]"
SMALL = "1e-05 *\n 1.5000 2.5000\n 3.5000 4.5000\n[torch.DoubleTensor of size 2x2]"


@pytest.mark.parametrize(
    ("expected", "first", "second", "agree"),
    [
        (MATRIX, MATRIX.replace("8", "9"), MATRIX.replace("7", "1"), True),
        (MATRIX, SMALL, MATRIX.replace("8", "9"), True),
        (MATRIX, "1 2\n3 4\n[torch.DoubleTensor of size 2x2]", SMALL, True),
        (MATRIX, "1 2\n[torch.DoubleTensor of size 2x2]", MATRIX, True),
        (MATRIX, MATRIX.replace("2x2", "4x1"), MATRIX.replace("2x2", "4x1") + " ", False),
        (MATRIX, MATRIX + "\n1", MATRIX + "\n2", False),
        ("2020-01-02", "2021-02-03", "2022-03-04", True),
        ("'2020-01-02'", "2021-02-03", "2022-03-04", False),
        (MATRIX + "\nwords", MATRIX, SMALL, False),
        # How many numbers there are may itself depend on chance.
        ("1\n2\n[torch.ByteTensor of size 2]", "1\n[torch.ByteTensor of size 1]",
         "1\n1\n1\n[torch.ByteTensor of size 3]", True),
        ("1\n2\n[torch.ByteTensor of size 2]", "1\n[torch.LongTensor of size 1]",
         "1\n1\n1\n[torch.LongTensor of size 3]", False),
    ],
)  # fmt: skip
def test_layout(expected: str, first: str, second: str, agree: bool) -> None:
    assert agrees_by_layout(expected, first, second) is agree


NESTED = "{\n  1 : 3\n  2 :\n    {\n      a : 2\n      b : 1\n    }\n}\nend"


@pytest.mark.parametrize(
    ("expected", "got", "agree"),
    [
        ("{\n  a : 1\n  b : 2\n}", "{\n  b : 2\n  a : 1\n}\n", True),
        ("{\n  a : 1\n  b : 2\n}", "{\n  b : 2\n  a : 2\n}\n", False),
        ("{\n  a : 1\n}", "{\n  b : 2\n  a : 1\n}\n", False),
        ("{\n  b : 2\n  a : 1\n}", "{\n  a : 1\n}\n", False),
        ("1\n2", "2\n1", False),
        (NESTED, "{\n  2 :\n    {\n      b : 1\n      a : 2\n    }\n  1 : 3\n}\nend", True),
        (NESTED, "{\n  1 : 2\n  2 :\n    {\n      a : 3\n      b : 1\n    }\n}\nend", False),
        (NESTED, "end\n" + NESTED.removesuffix("\nend"), False),
        ("{\n  a : 1\n}\n{\n  a : 2\n}", "{\n  a : 2\n}\n{\n  a : 1\n}", False),
        ("{\n  a : 1", "{\n  a : 1", True),
    ],
)
def test_order_of_a_table(expected: str, got: str, agree: bool) -> None:
    assert agrees_in_any_order(expected, got) is agree


@pytest.mark.parametrize(
    ("expected", "message", "documented"), data(__file__, "test_error_messages")
)
def test_error_messages(expected: str, message: str, documented: bool) -> None:
    assert is_error_message(expected, message) is documented


def test_runs_are_the_same_but_for_addresses() -> None:
    assert same("table: 0x12ab", "table: 0x34cd")
    assert not same("1 2", "1  2")


SHAPE = "[torch.DoubleTensor of dimension 2]"


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("1.5000", "1.5900"),
        ("a 20 b", "a 21 b"),
        (f" 1e+10 *\n 1.5000\n 2.0000\n{SHAPE}", f" 1e+10 *\n 1.5700\n 2.1000\n{SHAPE}"),
        (f" 1.50\n 2.00\n{SHAPE}", f" 1.5701\n 2.1001\n{SHAPE}"),
        (f" 1e+00 *\n 1.50\n 2.00\n{SHAPE}", f" 1.5701\n 2.1001\n{SHAPE}"),
    ],
)
def test_tolerance(expected: str, got: str) -> None:
    assert not agrees(expected, got)
    assert agrees(expected, got, Tolerance(rtol=0.06))
    assert not agrees(expected, got, Tolerance(rtol=0.01))


def test_tolerance_where_order_or_rounding_do_not_count() -> None:
    tolerance = Tolerance(atol=0.1)
    table = "{\n  b : 2.05\n  a : 1\n}"
    assert not agrees_in_any_order("{\n  a : 1\n  b : 2.00\n}", table)
    assert agrees_in_any_order("{\n  a : 1\n  b : 2.00\n}", table, tolerance)
    assert not agrees_within("2.00", "2.15", "2.16")
    assert agrees_within("2.00", "2.15", "2.16", tolerance)


@pytest.mark.parametrize(
    ("expected", "first", "second", "agree"), data(__file__, "test_order_of_lines")
)
def test_order_of_lines(expected: str, first: str, second: str, agree: bool) -> None:
    sort = sorting(first, second)
    assert sort is not None
    assert agrees(sort(expected), sort(first)) is agree


def test_other_lines_have_no_order() -> None:
    assert sorting("1 a\n2 b", "1 a\n2 c") is None

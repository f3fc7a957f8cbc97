"""Checks that the formulas of the table of operations suit the rows that have them."""

from collections.abc import Iterator

from th_shell.runtime.calls.forms import parse_form
from th_shell.runtime.calls.table import TABLE, Row
from th_shell.runtime.compute.formula_code import AXPY
from th_shell.runtime.compute.formula_steps import names, parse
from th_shell.runtime.compute.formulas import parameters_of
from th_shell.runtime.core.dtypes import DOUBLE


def check_formulas() -> None:
    """Refuse formulas that name what is no parameter, or do not suit their form.

    All rows have been added before. Raises ValueError.
    """
    for row in (row for rows in TABLE.values() for row in rows if row.has_formula):
        for problem in _problems(row):
            raise ValueError(f"{row.name}, {row.method or row.function}: {problem}")


def _problems(row: Row) -> Iterator[str]:
    row_formulas = [formula for formula in (row.each, row.total) if formula]
    if len(row_formulas) != 1:
        yield "a row has one formula"
    parameters = parameters_of(row)
    texts = [] if row.reads_call else [text for text in (row.method, row.function) if text]
    if any(len(parse_form(text, DOUBLE).arguments) != len(parameters) for text in texts):
        yield f"as many arguments as parameters ({', '.join(parameters)}) are needed"
    for name in sorted(names(parse(row_formulas[0]))):
        if name not in parameters:
            yield f"the formula {row_formulas[0]!r} names {name}, which is no parameter"
    if row.axpy and not AXPY.fullmatch(row.each or ""):
        yield "axpy computes t + factor * src or t - factor * src"

"""All classes of nn have a row or a reason, and the manual says what they become."""

from __future__ import annotations

from pkgutil import iter_modules

from tests.processes import run_python
from tests.runtime.export.coverage import CLASSES, PAGE, START, own_name, table
from th_shell.runtime.export import rows
from th_shell.runtime.export.modules import FAMILIES, row_of
from th_shell.runtime.export.rows.refused import REASONS, reason_of


def test_all_classes_are_known() -> None:
    names = map(own_name, CLASSES)
    assert [name for name in names if row_of(name) is None and reason_of(name) is None] == []


def test_no_class_has_both() -> None:
    assert [name for name in REASONS if row_of(name) is not None] == []


def test_the_table_is_up_to_date() -> None:
    text = f"{START}{table()}"
    assert text in PAGE.read_text(), "write it: python -m tests.runtime.export.coverage"


def test_all_families_are_listed() -> None:
    names = {each.name for each in iter_modules(rows.__path__)}
    assert names == {*FAMILIES, "refused"}


def test_a_net_loads_the_families_of_its_classes() -> None:
    program = (
        "import sys; from tests.runtime.export.nets import linear, module;"
        "from th_shell.runtime.export.lowering import graph_of;"
        "graph_of(module('Sequential', linear(3, 4), module('Tanh'), linear(4, 2)));"
        "print(*sorted(name for name in sys.modules if '.export.rows.' in name))"
    )
    run = run_python("-c", program)
    families = {name.rpartition(".")[2] for name in run.stdout.split()}
    assert families == {"containers", "convolutions", "linear", "elementwise", "refused"}

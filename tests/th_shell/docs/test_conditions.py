"""The language of conditions, and where a page's engine decides them."""

from pathlib import Path

import pytest

from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.configured import configured_runner, with_conditions
from th_shell.docs.running.evaluation import unrunnable
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import ConditionError, Configuration, Facts, parse_condition

KNOWN = "there are platform, engine, env and module"
FACTS = Facts("linux", "luajit", {"CI": "1", "EMPTY": ""}, frozenset(("nn",)))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("platform == 'linux'", True),
        ('platform == "darwin"', False),
        ("platform != 'darwin'", True),
        ("engine == 'luajit'", True),
        ("engine", True),
        ("env('CI')", True),
        ("env('EMPTY')", False),
        ("env('NONE')", False),
        ("env('CI') == '1'", True),
        ("env('NONE') == ''", True),
        ("module('nn')", True),
        ("module('cunn')", False),
        ("not module('cunn')", True),
        ("not not module('cunn')", False),
        ("env('NONE') or module('nn')", True),
        ("env('CI') and module('cunn')", False),
        ("env('CI') or env('CI') and env('NONE')", True),
        ("(env('CI') or env('CI')) and env('NONE')", False),
        ("not (env('CI') and env('NONE'))", True),
        ("not env('NONE') and env('CI')", True),
        ("'and' == 'and'", True),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    assert parse_condition(text).holds(FACTS) is holds


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is not one expression"),
        ("env('CI') and", "it is not one expression"),
        ("env('CI') env('CI')", "it is not one expression"),
        ("platform = 'linux'", "it is not one expression"),
        ("env('CI", "it is not one expression"),
        ("env(CI)", "unexpected env(CI)"),
        ("module('nn', 'dp')", "unexpected module('nn', 'dp')"),
        ("module", "unexpected module"),
        ("1 == engine", "unexpected 1"),
        ("engine < 'b'", "unexpected engine < 'b'"),
        ("system == 'linux'", f"unknown name system: {KNOWN}"),
        ("__import__('os')", f"unknown name __import__: {KNOWN}"),
        ("engine.upper()", "unexpected engine.upper()"),
        ("[0 for x in module('nn')]", "unexpected [0 for x in module('nn')]"),
    ],
)
def test_wrong_conditions(text: str, problem: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition(text)
    assert str(caught.value) == problem


def test_modules_that_a_condition_asks_for() -> None:
    assert parse_condition("module('a') or not module('b')").modules == {"a", "b"}


PAGE = """\
```lua
> 1 -- th-docs: skip if="module('mine')"
> 2 -- th-docs: skip if="module('torch')"
> 3 -- th-docs: skip if="module('none.such')"
> 4 -- th-docs: skip if="engine == 'th'"
> 5 -- th-docs: skip if="env('TH_DOCS_TEST') == 'yes'"
> 6 -- th-docs: xfail if="engine != 'th'"
```
"""


def test_the_engine_of_a_page_decides(starter: Starter, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    (tmp_path / "mine.lua").write_text("error('it is looked for, and not loaded')")
    said = Configuration(
        lua_path=str(tmp_path / "?.lua"),
        environment={"TH_DOCS_TEST": "yes"},
        prelude={"lua": "\n\n"},
    )
    examples = with_conditions(read(page, Compiler()).examples, configured_runner(starter, said))
    assert [bool(unrunnable(example)) for example in examples] == [
        *(True, True, False, True, True, False)
    ]
    assert examples[5].settings.xfail is None

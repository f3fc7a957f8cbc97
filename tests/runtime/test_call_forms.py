"""The whole API against the reference's list of it, in both directions.

What is missing or extra is named in the assertion.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import runtime.ops  # noqa: F401 (adds the rows)
from runtime.calls.table import TABLE
from runtime.core.dtypes import DTYPES
from tests.conftest import Lua

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "torch7-call-forms.json"
pytestmark = pytest.mark.skipif(not REFERENCE.exists(), reason=f"there is no {REFERENCE.name}")
KINDS = {"methods": "method", "functions": "function"}
CLASSES = (
    *("DoubleStorage", "ByteStorage", "DiskFile", "MemoryFile", "PipeFile", "File"),
    *("Timer", "Generator", "CmdLine", "Tester"),
)

# Of ours alone, most of it because the manual has it.
EXTRA_NAMES = {
    "ByteStorage": {"tostring"},
    "DoubleStorage": {"string", "tostring"},
    "File": {"isOpened"},
    "torch": {"id", "trustfunctions", "typename2id"},
}
# Left out: what only the reference itself uses.
MISSING_NAMES = {
    "torch": {"Allocator"},
}


def check_names(name: str, ours: set[str], listed: set[str]) -> None:
    """Assert that a table has the listed names, and no others."""
    missing = listed - ours - MISSING_NAMES.get(name, set())
    extra = ours - listed - EXTRA_NAMES.get(name, set())
    assert (sorted(missing), sorted(extra)) == ([], [])


@pytest.fixture(scope="module")
def reference() -> Any:
    """The list: names, types and forms."""
    return json.loads(REFERENCE.read_text())


def rows(space: str) -> dict[str, set[str]]:
    """The operations that have rows in one name space, and for which types."""
    found: dict[str, set[str]] = {}
    for name, alternatives in TABLE.items():
        for row in alternatives:
            if row.form(space) is not None and "." not in name and "operator_" not in name:
                found.setdefault(name, set()).update(dtype.name for dtype in row.types)
    return found


def names(lua: Lua, expression: str) -> set[str]:
    """The string keys of a Lua table whose values are not metamethods."""
    source = f"for k in pairs({expression}) do if type(k) == 'string' then print(k) end end"
    return {name for name in lua(source).split() if not name.startswith("__")}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_have_the_references_types(reference: Any, kind: str) -> None:
    ours = rows(KINDS[kind])
    listed = {name: set(entry["types"]) for name, entry in reference[kind].items()}
    both = {name: (ours[name], listed[name]) for name in ours.keys() & listed.keys()}
    missing = {name: wanted - have for name, (have, wanted) in both.items() if wanted - have}
    extra = {name: have - wanted for name, (have, wanted) in both.items() if have - wanted}
    assert (missing, extra) == ({}, {})


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_methods(lua: Lua, reference: Any, dtype: Any) -> None:
    ours = names(lua, f"torch.getmetatable('{dtype.tensor_name}')")
    listed = {n for n, entry in reference["methods"].items() if dtype.name in entry["types"]}
    check_names(dtype.name, ours - {"tostring"}, listed)


def test_functions_of_torch(lua: Lua, reference: Any) -> None:
    ours = names(lua, "torch")
    check_names("torch", ours, set(reference["torch"]) | reference["functions"].keys())


@pytest.mark.parametrize("name", CLASSES)
def test_classes(lua: Lua, reference: Any, name: str) -> None:
    ours = names(lua, f"torch.getmetatable('torch.{name}')")
    check_names(name, ours, set(reference[name]))


def test_functions_with_rows_are_listed(reference: Any) -> None:
    listed = set(reference["torch"]) | reference["functions"].keys()
    assert rows("function").keys() - listed == set()

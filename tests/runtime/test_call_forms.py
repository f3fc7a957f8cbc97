"""The whole API against the reference's list of it, in both directions.

What is missing or extra is named in the assertion.
"""

import pytest

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from tests.conftest import Lua
from tests.runtime.reference import members, operations
from th_shell.runtime.calls.table import TABLE
from th_shell.runtime.core.dtypes import DTYPES, DType

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
    "torch": {"gpuascpu", "id", "trustfunctions", "typename2id"},
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
def test_rows_have_the_references_types(kind: str) -> None:
    ours = rows(KINDS[kind])
    listed = {name: operation.types for name, operation in operations(kind).items()}
    both = {name: (ours[name], listed[name]) for name in ours.keys() & listed.keys()}
    missing = {name: wanted - have for name, (have, wanted) in both.items() if wanted - have}
    extra = {name: have - wanted for name, (have, wanted) in both.items() if have - wanted}
    assert (missing, extra) == ({}, {})


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_methods(lua: Lua, dtype: DType) -> None:
    ours = names(lua, f"torch.getmetatable('{dtype.tensor_name}')")
    listed = {n for n, method in operations("methods").items() if dtype.name in method.types}
    check_names(dtype.name, ours - {"tostring", "cuda", "THNN"}, listed)


def test_functions_of_torch(lua: Lua) -> None:
    ours = names(lua, "torch")
    check_names("torch", ours, members("torch") | operations("functions").keys())


@pytest.mark.parametrize("name", CLASSES)
def test_classes(lua: Lua, name: str) -> None:
    ours = names(lua, f"torch.getmetatable('torch.{name}')")
    check_names(name, ours, members(name))


def test_functions_with_rows_are_listed() -> None:
    listed = members("torch") | operations("functions").keys() | EXTRA_NAMES["torch"]
    assert rows("function").keys() - listed == set()

"""The names that may follow a path, and the values that paths lead to."""

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Engine, Member

SETUP = data(__file__, "SETUP").encode()


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    engine.run(engine.compile(SETUP))
    return engine


@pytest.mark.parametrize(("steps", "owner"), data(__file__, "test_paths_to_objects"))
def test_paths_to_objects(engine: Engine, steps: list[str], owner: str) -> None:
    assert engine.variables.members(steps).owner == owner


@pytest.mark.parametrize(
    "steps",
    [
        [".v", "#1"],
        [".t", ".missing"],
        [".t", "#7"],
        [".mine", "(T"],
        [".callable", "(T"],
        [".x", ".sum", "("],
        [".nothing", ".at", ".all"],
        [".x", ".clone", "(torch.Nothing"],
    ],
)
def test_paths_that_are_not_known(engine: Engine, steps: list[str]) -> None:
    assert engine.variables.members(steps) == ("", [], 0)
    assert engine.variables.text_of([".ran"]) == ("nil", None)


def test_names_are_listed_with_their_types(engine: Engine) -> None:
    assert engine.variables.names("t") == {
        "_b": "boolean",
        "__index": "function",
        "a": "number",
    } | {"deep": "table"}
    assert engine.variables.members([".t", ".deep"]).members == [
        Member("f", "function", "p, q, ...")
    ]
    assert engine.variables.members([".t"], "a").members == [Member("a", "number")]
    keys = engine.variables.members([".t"], "n", any_text=True).members
    assert keys == [Member("no name", "number")]


def test_operations_are_marked(engine: Engine) -> None:
    (found,) = engine.variables.members([".x"], "narr").members
    assert found.is_operation
    assert not any(member.is_operation for member in engine.variables.members([".string"]).members)


def test_strings_have_their_functions(engine: Engine) -> None:
    assert [member.name for member in engine.variables.members(['"'], "up").members] == ["upper"]
    upper = engine.variables.members([".string", ".upper", '("'], "up")
    assert [member.name for member in upper.members] == ["upper"]


def test_the_rest_is_counted(engine: Engine) -> None:
    engine.run(engine.compile(b"many = {} for i = 1, 50 do many['k' .. i] = i end"))
    listed = engine.variables.members([".many"], "k", 10)
    assert (len(listed.members), listed.more) == (10, 40)
    assert len(engine.variables.names("many")) == 50


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("half", ("number", "0.5")),
        ("_VERSION", ("string", "Lua 5.1")),
        ("x", ("userdata", None)),
        ("t", ("table", None)),
        ("missing", ("nil", None)),
    ],
)
def test_the_text_of_a_value(engine: Engine, name: str, expected: tuple[str, str | None]) -> None:
    assert engine.variables.text_of([f".{name}"]) == expected


def test_a_changed_type_of_tensors_counts(engine: Engine) -> None:
    engine.run(engine.compile(b"torch.setdefaulttensortype('torch.FloatTensor')"))
    assert engine.variables.members([".torch", ".randn", "(T"]).owner == "torch.FloatTensor"
    engine.run(engine.compile(b"torch.setdefaulttensortype('torch.DoubleTensor')"))

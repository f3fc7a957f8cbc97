"""Reading Lua: which variable a name stands for, in which branch it stands."""

import pytest

from tests.data_files import data
from th_shell.preflight.parser import NotLuaError, parse
from th_shell.preflight.syntax_tree import Call, Chunk, Index, Invoke, Name, Node, Use


def names(chunk: Chunk) -> list[Name]:
    return [node for node in chunk.nodes if isinstance(node, Name)]


@pytest.mark.parametrize("source", data(__file__, "test_what_lua_allows"))
def test_what_lua_allows(source: str) -> None:
    parse(source)


@pytest.mark.parametrize(
    ("source", "line"),
    [("x =\n= 1", 2), ("f(", 1), ("x", 1), ("\n\nend", 3), ("local function 1", 1)],
)
def test_what_is_not_lua(source: str, line: int) -> None:
    with pytest.raises(NotLuaError) as caught:
        parse(source)
    assert caught.value.line == line


@pytest.mark.parametrize(("source", "globals_"), data(__file__, "test_which_names_are_globals"))
def test_which_names_are_globals(source: str, globals_: list[str]) -> None:
    assert [name.name for name in names(parse(source)) if name.local is None] == globals_


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("x = 1", [Use.ASSIGNED]),
        ("x()", [Use.CALLED]),
        ("x.y = 1", [Use.INDEXED]),
        ("x:y()", [Use.INDEXED]),
        ("local z = x", [Use.READ]),
    ],
)
def test_what_is_done_with_a_name(source: str, uses: list[Use]) -> None:
    assert [name.use for name in names(parse(source))] == uses


def test_a_local_that_is_assigned_again_is_known() -> None:
    first, second = (name.local for name in names(parse("local a, b = 1, 2; b = a")))
    assert first and second
    assert [(one.name, one.is_reassigned) for one in (first, second)] == [("b", True), ("a", False)]


@pytest.mark.parametrize(
    ("source", "conditions"),
    [
        ("f()", ()),
        ("if a  ==\n1 then f() end", ("a == 1",)),
        ("if a then elseif b then f() end", ("b",)),
        ("if a then elseif b then else f() end", ("not (a or b)",)),
        ("if a then if b then f() end end", ("a", "b")),
        ("x = a == 1 and f() or 2", ("a == 1",)),
        ("x = a and 1 or f()", ()),
        ("pcall(function() f() end)", ("pcall",)),
    ],
)
def test_the_conditions_that_a_call_stands_under(source: str, conditions: tuple[str, ...]) -> None:
    calls = [node for node in parse(source).nodes if isinstance(node, Call)]
    [found] = [node for node in calls if isinstance(node.function, Name)
               and node.function.name == "f"]  # fmt: skip
    assert found.conditions == conditions


def test_what_a_program_defines() -> None:
    source = "t.a = 1 t['b'] = 2 function t.c() end function t:d() end x = {e = 1, ['f'] = 2, g}"
    assert sorted(parse(source).defined) == ["a", "b", "c", "d", "e", "f"]


def test_calls_fields_and_methods() -> None:
    def text(node: Node) -> str:
        match node:
            case Call():
                return f"{text(node.function)}()"
            case Invoke():
                return f"{text(node.base)}:{node.name}()"
            case Index():
                return f"{text(node.base)}.{node.key}"
            case Name():
                return node.name
        return "?"

    nodes = parse("torch.randn(2, 3):t()[1]['a'] 'x'").nodes
    assert text(nodes[-1]) == "torch.randn():t().None.a()"

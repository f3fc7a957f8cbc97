"""`th --dap` as an editor uses it: a client of ours speaks to a process."""

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.data_files import data
from tests.processes import run_th
from tests.th_shell.debugging.clients import PATIENCE, Client

PROGRAM = data(__file__, "PROGRAM")
HOT = data(__file__, "HOT")


def schema() -> dict[str, Any]:
    """The protocol's own schema, which comes with debugpy."""
    found = find_spec("debugpy")
    if found is None or found.origin is None:
        pytest.skip("debugpy, which has the protocol's schema, is not installed")
    vendored = Path(found.origin).parent / "_vendored/pydevd/_pydevd_bundle/_debug_adapter"
    read: dict[str, Any] = json.loads((vendored / "debugProtocol.json").read_text())
    return read


@pytest.fixture(scope="module")
def check() -> Callable[[dict[str, Any]], None]:
    """Holds a message against the protocol's schema: a request, an answer or an event."""
    protocol = schema()
    kinds: dict[tuple[str, str], str] = {}
    for name, definition in protocol["definitions"].items():
        for part in definition.get("allOf", []):
            for key in ("command", "event"):
                for value in part.get("properties", {}).get(key, {}).get("enum", []):
                    kinds[key, value] = name
    responses = {command: f"{name.removesuffix('Request')}Response"
                 for (key, command), name in kinds.items() if key == "command"}  # fmt: skip

    @cache
    def validator(name: str) -> Any:
        rule = {"$ref": f"#/definitions/{name}", "definitions": protocol["definitions"]}
        return jsonschema.Draft4Validator(rule)

    def hold(message: dict[str, Any]) -> None:
        if message["type"] == "event":
            name = kinds["event", message["event"]]
        elif message["type"] == "request":
            name = kinds["command", message["command"]]
        elif message["success"]:
            name = responses[message["command"]]
        else:
            name = "Response"
        validator(name).validate(message)

    return hold


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.lua"
    path.write_text(PROGRAM)
    return path


Start = Callable[[], Any]


@pytest.fixture
def client(
    command: list[str],
    environment: dict[str, str],
    tmp_path: Path,
    check: Callable[[dict[str, Any]], None],
) -> Iterator[Client]:
    with connected([*command, "--dap"], environment, tmp_path, check) as one:
        yield one


@contextmanager
def connected(
    words: list[str], env: dict[str, str], cwd: Path, check: Callable[[dict[str, Any]], None]
) -> Iterator[Client]:
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd) as process:
        try:
            yield Client(process, check)
        finally:
            process.kill()


@pytest.mark.thorough
def test_a_program_without_breakpoints(client: Client, program: Path) -> None:
    client.launch(program, args=["word"])
    assert client.ended() == 0
    assert client.output() == "12\tword\t6\t\n"
    assert client.output("stderr") == ""


def test_frames_and_variables(client: Client, program: Path) -> None:
    client.launch(program, 5)
    assert client.stopped() == ("breakpoint", 5)
    assert client.ask("threads") == {"threads": [{"id": 1, "name": "main"}]}
    stack = client.ask("stackTrace", threadId=1)
    assert stack["totalFrames"] == 2
    assert [(one["name"], one["line"]) for one in stack["stackFrames"]] == [
        ("add", 5),
        ("main chunk", 9),
    ]
    assert {one["source"]["path"] for one in stack["stackFrames"]} == {str(program)}
    only = client.ask("stackTrace", threadId=1, startFrame=1, levels=1)["stackFrames"]
    assert [one["name"] for one in only] == ["main chunk"]
    found = client.variables("Locals")
    assert {name: one["value"] for name, one in found.items()} == {
        "n": "1",
        "double": "2",
        "...[1]": '"x"',
    }
    assert client.variables("Upvalues")["total"]["value"] == "0"
    outer = client.variables("Locals", 2)
    parts = client.parts(outer["names"]["variablesReference"])
    assert [(name, one["value"], one["type"]) for name, one in parts.items()] == [
        ("[1]", '"a"', "string"),
        ("b", "table (2)", "table"),
    ]
    assert client.parts(parts["b"]["variablesReference"])["[2]"]["value"] == "2"
    assert "torch" in client.variables("Globals")


@pytest.mark.thorough
def test_tensors_have_rows(client: Client, program: Path) -> None:
    client.launch(program, 12)
    client.stopped()
    t = client.variables("Locals")["t"]
    assert (t["value"], t["type"]) == ("DoubleTensor 2x3", "torch.DoubleTensor")
    rows = client.parts(t["variablesReference"])
    assert [one["value"] for one in rows.values()] == ["DoubleTensor 3", "DoubleTensor 3"]
    assert [one["value"] for one in client.parts(rows["[2]"]["variablesReference"]).values()] == [
        "1", "1", "1",
    ]  # fmt: skip


@pytest.mark.thorough
def test_steps(client: Client, program: Path) -> None:
    client.launch(program, stopOnEntry=True)
    assert client.stopped() == ("entry", 1)
    assert client.go("next") == ("step", 2)
    assert [client.go("next") for _ in range(3)] == [("step", 3), ("step", 8), ("step", 9)]
    assert client.go("stepIn") == ("step", 4)
    assert client.go("stepOut") == ("step", 9)
    assert client.finish() == 0


@pytest.mark.thorough
def test_breakpoints_are_verified(client: Client, program: Path) -> None:
    client.ask("initialize", adapterID="th")
    assert client.set_breakpoints(
        program,
        {"line": 5, "condition": "n == 2"},
        {"line": 3},
        {"line": 99},
        {"line": 6, "condition": "n =="},
    ) == [
        {"verified": True, "line": 5},
        {"verified": True, "line": 3},
        {"verified": False, "line": 99, "message": "no code is there"},
        {"verified": False, "line": 6, "message": "unexpected symbol near '<eof>'"},
    ]
    client.set_breakpoints(program, {"line": 5, "condition": "n == 2"})
    client.ask("launch", program=str(program))
    client.ask("configurationDone")
    assert client.stopped() == ("breakpoint", 5)
    assert client.ask("evaluate", expression="n", frameId=1)["result"] == "2"
    assert client.finish() == 0


@pytest.mark.thorough
def test_expressions(client: Client, program: Path) -> None:
    client.launch(program, 12)
    client.stopped()
    told = client.ask("evaluate", expression="t", frameId=1, context="watch")
    assert told["result"] == "DoubleTensor 2x3" and told["variablesReference"] > 0
    shown = client.ask("evaluate", expression="total, t", frameId=1, context="repl")
    assert shown["result"] == "12"
    client.ask("evaluate", expression="print(2 * t:sum())", frameId=1, context="repl")
    assert client.ask("evaluate", expression="x = 5", frameId=1, context="repl")["result"] == "nil"
    assert client.ask("evaluate", expression="x + 1", frameId=1, context="watch")["result"] == "6"
    assert client.refusal("evaluate", expression="a.b.c", frameId=1, context="watch") == (
        "attempt to index global 'a' (a nil value)"
    )
    assert client.refusal("evaluate", expression="1 +", frameId=1, context="repl") == (
        "unexpected symbol near '<eof>'"
    )
    assert client.refusal("evaluate", expression="\x1bLJ\x02", frameId=1, context="repl") == (
        "attempt to load chunk with wrong mode"
    )
    assert client.finish() == 0
    assert client.output() == "12\t\n12\tnil\t6\t\n"


@pytest.mark.thorough
def test_values_are_set(client: Client, program: Path) -> None:
    client.launch(program, 12)
    client.stopped()
    scopes = {one["name"]: one["variablesReference"] for one in
              client.ask("scopes", frameId=1)["scopes"]}  # fmt: skip
    told = client.ask("setVariable", variablesReference=scopes["Locals"], name="total", value="70")
    assert told["value"] == "70"
    t = client.variables("Locals")["t"]["variablesReference"]
    client.parts(t)
    assert client.ask("setVariable", variablesReference=t, name="[1]", value="0")["value"] == "0"
    assert client.refusal(
        "setVariable", variablesReference=scopes["Locals"], name="total", value="1 +"
    ).startswith("unexpected symbol")
    client.ask("setVariable", variablesReference=scopes["Globals"], name="made", value="{}")
    assert client.ask("evaluate", expression="made", frameId=1)["result"] == "table (0)"
    assert client.finish() == 0
    assert client.output() == "70\tnil\t3\t\n"


def test_an_uncaught_error(client: Client, program: Path) -> None:
    program.write_text("local x = { 1 }\npcall(error, 'caught')\nerror('bad ' .. x[1])\n")
    client.launch(Path("program.lua"))
    stop = client.wait("stopped")
    assert stop["reason"] == "exception" and stop["text"].endswith("program.lua:3: bad 1")
    assert client.variables("Locals")["x"]["value"] == "table (1)"
    assert client.finish() == 1
    assert client.output("stderr") == (
        "th: program.lua:3: bad 1\nstack traceback:\n\t[C]: in function 'error'\n"
        "\tprogram.lua:3: in main chunk\n"
    )


def test_errors_that_are_not_asked_for(client: Client, program: Path) -> None:
    program.write_text("error('bad')")
    client.ask("initialize", adapterID="th")
    client.ask("launch", program=str(program))
    client.ask("setExceptionBreakpoints", filters=[])
    client.ask("configurationDone")
    assert client.ended() == 1


def test_a_program_that_does_not_compile(client: Client, program: Path) -> None:
    program.write_text("x = = 1")
    client.launch(Path("program.lua"))
    assert client.ended() == 1
    assert client.output("stderr") == "th: program.lua:1: unexpected symbol near '='\n"


@pytest.mark.thorough
def test_compiled_loops_stop(client: Client, program: Path) -> None:
    program.write_text(HOT)
    client.launch(program)
    while "warm" not in client.output():
        time.sleep(0.01)
        client.ask("threads")
    assert client.ask("stackTrace", threadId=1)["stackFrames"] == []
    assert client.refusal("evaluate", expression="1") == "the program has not stopped there"
    client.ask("pause", threadId=1)
    reason, line = client.stopped()
    assert reason == "pause" and line in (10, 11, 12)
    client.set_breakpoints(program, {"line": 4, "condition": "n == 4 and i == 3"})
    client.ask("evaluate", expression="go = true", frameId=1, context="repl")
    client.ask("continue", threadId=1)
    assert client.stopped() == ("breakpoint", 4)
    assert client.ask("evaluate", expression="s", frameId=1)["result"] == "3"
    assert client.finish() == 0
    assert client.output() == "warm\t\n10\t\n"


def test_breakpoints_are_set_while_the_program_runs(client: Client, program: Path) -> None:
    program.write_text(HOT)
    client.launch(program)
    assert client.set_breakpoints(program, {"line": 11}) == [{"verified": True, "line": 11}]
    assert client.stopped() == ("breakpoint", 11)
    client.set_breakpoints(program)
    client.ask("evaluate", expression="go = true", frameId=1, context="repl")
    assert client.finish() == 0


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["terminate", "disconnect"])
@pytest.mark.parametrize("line", [None, 3])
def test_a_program_is_ended(client: Client, program: Path, how: str, line: int | None) -> None:
    program.write_text("while true do\n  pcall(function()\n    x = 1\n  end)\nend\n")
    client.launch(program, *filter(None, [line]))
    if line:
        client.stopped()
    client.ask(how)
    if how == "terminate":
        client.wait("terminated")
        client.ask("disconnect")
    assert client.process.wait(PATIENCE) == 1
    assert client.output("stderr") == ""


@pytest.mark.thorough
def test_a_client_that_goes_ends_the_program(client: Client, program: Path) -> None:
    program.write_text("while true do end")
    client.launch(program)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(PATIENCE) == 1


def test_os_exit(client: Client, program: Path) -> None:
    program.write_text("io.write('bye') os.exit(3)")
    client.launch(program)
    client.wait("terminated")
    assert client.output() == "bye"
    assert client.process.wait(PATIENCE) == 3


def test_the_folder_of_a_program(client: Client, program: Path) -> None:
    (program.parent / "inner").mkdir()
    (program.parent / "inner" / "m.lua").write_text("local m = 1\nreturn m\n")
    program.write_text("require 'm'\nprint(os.getenv('WORD'), io.read())")
    client.ask("initialize", adapterID="th")
    inner = program.parent / "inner"
    client.ask("launch", program=str(program), cwd=str(inner), env={"WORD": "given"})
    client.set_breakpoints(inner / "m.lua", {"line": 2})
    client.ask("configurationDone")
    assert client.stopped() == ("breakpoint", 2)
    path = client.ask("stackTrace", threadId=1)["stackFrames"][0]["source"]["path"]
    assert path == str(inner / "m.lua")
    assert client.finish() == 0
    assert client.output() == "given\tnil\t\n"


def test_what_cannot_be_done(client: Client, program: Path) -> None:
    assert client.refusal("launch", program="/nowhere.lua") == "/nowhere.lua: No such file"
    assert client.refusal("launch") == "an argument is missing: program"
    assert client.refusal("gotoTargets", source={}, line=1) == "this is not supported"
    assert client.refusal("continue", threadId=1) == "the program has not stopped"
    assert client.refusal("scopes", frameId=1) == "the program has not stopped there"
    assert client.refusal("variables", variablesReference=5) == "this value is no longer there"
    client.ask("disconnect")
    assert client.process.wait(PATIENCE) == 0


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "request_",
    [
        {"command": "scopes", "arguments": [1]},
        {"command": "setBreakpoints", "arguments": {"source": {"path": "a"}, "breakpoints": [5]}},
        {"command": "variables", "arguments": {"variablesReference": "x"}},
        {"command": "variables", "arguments": {"variablesReference": float("inf")}},
        {"command": "launch", "arguments": {"program": __file__, "env": [1]}},
        {"command": "launch", "arguments": {"program": __file__, "env": {"": "x"}}},
    ],
)
def test_arguments_of_another_kind(request_: dict[str, Any]) -> None:
    again = {"command": "setBreakpoints", "arguments": {"source": {"path": "a"}}}
    texts = [json.dumps(one) for one in (request_, again, {"command": []})]
    done = run_th("--dap", input="".join(f"Content-Length: {len(one)}\n\n{one}" for one in texts))
    assert re.findall('"success": (?:true|false, "message": "[^"]*")', done.stdout) == [
        '"success": false, "message": "wrong arguments"',
        '"success": true',
        '"success": false, "message": "this is not supported"',
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_halves_of_characters(client: Client) -> None:
    half = "\ud800"
    assert client.refusal("launch", program=half) == f"{half}: No such file"
    found = client.set_breakpoints(Path(half), {"line": 1, "condition": half})
    assert [one["verified"] for one in found] == [False]
    client.ask("disconnect")
    assert client.process.wait(PATIENCE) == 0


def begin(client: Client, program: Path, *breakpoints: dict[str, Any]) -> list[dict[str, Any]]:
    """Begin a program with breakpoints; returns what the adapter tells of these."""
    client.ask("initialize", adapterID="th")
    client.ask("launch", program=str(program))
    found = client.set_breakpoints(program, *breakpoints)
    client.ask("setExceptionBreakpoints", filters=["uncaught"])
    client.ask("configurationDone")
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("hits", "numbers"), [("2", [2]), (">=2", [2, 3]), ("% 2", [2]), ("< 3", [1, 2])]
)
def test_hits_are_counted(client: Client, program: Path, hits: str, numbers: list[int]) -> None:
    assert begin(client, program, {"line": 5, "hitCondition": hits})[0]["verified"]
    for number in numbers:
        assert client.stopped() == ("breakpoint", 5)
        assert client.ask("evaluate", expression="n", frameId=1)["result"] == str(number)
        client.ask("continue", threadId=1)
    assert client.ended() == 0


@pytest.mark.thorough
def test_log_points(client: Client, program: Path) -> None:
    found = begin(
        client,
        program,
        {"line": 5, "logMessage": 'is "{n}" of {...}{names}'},
        {"line": 7, "logMessage": "{nothing.x}"},
        {"line": 6, "logMessage": "{n +}"},
        {"line": 4, "hitCondition": "often"},
        {"line": 12, "logMessage": "the end", "condition": "total == 12"},
    )
    assert [one.get("message") for one in found] == [
        None,
        None,
        "unexpected symbol near ')'",
        "a number of hits is like 3, >= 3 or % 3",
        None,
    ]
    assert client.ended() == 0
    failed = "attempt to index global 'nothing' (a nil value)\n"
    lines = [failed, *(f'is "{n}" of xnil\n' for n in range(1, 4))]
    assert client.output() == "".join(lines) + "the end\n12\tnil\t6\t\n"


FUNCTIONS = data(__file__, "FUNCTIONS")


def test_function_breakpoints(client: Client, program: Path) -> None:
    program.write_text(FUNCTIONS.lstrip())
    (program.parent / "m.lua").write_text(
        "local m = {}\nfunction m.late(x)\n  return x\nend\nreturn m"
    )
    client.ask("initialize", adapterID="th")
    names = ["a.Box.open", "Box.close", "short", "m.late", "print", "2x"]
    asked = [{"name": name} for name in names]
    found = client.ask("setFunctionBreakpoints", breakpoints=asked)["breakpoints"]
    assert {one["message"] for one in found} == {"no code is there"}
    client.ask("launch", program=str(program))
    client.ask("configurationDone")
    assert client.stopped() == ("function breakpoint", 4)
    assert [client.wait("breakpoint")["breakpoint"] for _ in range(3)] == [
        {"id": number, "verified": True} for number in (1, 2, 4)
    ]
    assert client.ask("setFunctionBreakpoints", breakpoints=asked[1:4:2])["breakpoints"] == [
        {"id": 1, "verified": True},
        {"id": 2, "verified": True},
    ]
    assert client.go("continue") == ("function breakpoint", 8)
    assert client.go("continue") == ("function breakpoint", 3)
    assert client.finish() == 0


@pytest.mark.thorough
def test_names_are_completed(client: Client, program: Path) -> None:
    client.launch(program, 5)
    client.stopped()

    def labels(text: str, column: int) -> list[dict[str, Any]]:
        found = client.ask("completions", frameId=1, text=text, column=column)["targets"]
        assert isinstance(found, list)
        return found

    assert labels("1 + dou", 8) == [{"label": "double", "start": 5, "length": 3}]
    assert "total" in [one["label"] for one in labels("to", 3)]
    assert labels("torch.rando", 12)[0] == ({"label": "random", "start": 7, "length": 5})
    outer = client.ask("completions", frameId=2, text="names.", column=7)["targets"]
    assert [one["label"] for one in outer] == ["b"]
    client.set_breakpoints(program)
    assert client.finish() == 0


@pytest.mark.thorough
def test_a_tensor_shows_its_numbers(client: Client, program: Path) -> None:
    client.launch(program, 12)
    client.stopped()
    shown = client.ask("evaluate", expression="t", frameId=1, context="repl")
    assert shown["result"] == " 1  1  1\n 1  1  1\n[torch.DoubleTensor of dimension 2x3]\n"
    rows = client.parts(shown["variablesReference"])
    assert rows["[2]"]["value"] == "DoubleTensor 3"
    many = client.ask("evaluate", expression="torch.ones(1e3, 1e3)", frameId=1, context="repl")
    assert "1 000 000" in many["result"] or "1,000,000" in many["result"]
    brief = client.ask("evaluate", expression="t", frameId=1, context="watch")
    assert brief["result"] == "DoubleTensor 2x3"
    told = client.ask("setExpression", frameId=1, expression="names.b[1]", value="7")
    assert (told["value"], told["type"]) == ("7", "number")
    assert client.ask("evaluate", expression="names.b[1]", frameId=1)["result"] == "7"
    assert client.refusal("exceptionInfo", threadId=1) == (
        "the program has not stopped at an error"
    )
    assert client.finish() == 0


def test_what_an_error_is(client: Client, program: Path) -> None:
    program.write_text("error('bad')")
    client.launch(program)
    assert client.stopped() == ("exception", 1)
    info = client.ask("exceptionInfo", threadId=1)
    assert info["breakMode"] == "unhandled" and info["description"].endswith("program.lua:1: bad")
    assert client.finish() == 1


@pytest.mark.thorough
@pytest.mark.parametrize("line", [None, 3])
def test_a_program_runs_again(client: Client, program: Path, line: int | None) -> None:
    assert client.refusal("restart") == "no program runs"
    program.write_text("print('begin')\nwhile not go do\n  x = (x or 0) + 1\nend\nprint('end')")
    client.launch(program, *filter(None, [line]))
    while line is None and "begin" not in client.output():
        client.ask("threads")
        time.sleep(0.01)
    if line:
        assert client.stopped() == ("breakpoint", 3)
    client.ask("restart")
    client.set_breakpoints(program, {"line": 3})
    assert client.stopped() == ("breakpoint", 3)
    assert client.ask("evaluate", expression="x", frameId=1)["result"] == "nil"
    client.ask("evaluate", expression="go = true", frameId=1, context="repl")
    assert client.finish() == 0
    assert client.output() == "begin\t\nbegin\t\nend\t\n"


@pytest.mark.parametrize(
    "loop", ["while not go do x = x + 1 end", "for i = 1, math.huge do if go then break end end"]
)
def test_a_loop_on_one_line_pauses(client: Client, program: Path, loop: str) -> None:
    program.write_text(f"x = 0\nprint('begin')\n{loop}\nx = 5\n")
    client.launch(program, 4)
    client.wait("output")
    time.sleep(0.1)  # LuaJIT has compiled the loop
    client.ask("pause", threadId=1)
    assert client.stopped() == ("pause", 3)
    assert client.ask("evaluate", expression="x < 0", frameId=1)["result"] == "false"
    client.ask("evaluate", expression="go = true", frameId=1)
    assert client.go("continue") == ("breakpoint", 4)
    assert client.finish() == 0


@pytest.mark.thorough
def test_what_a_long_step_runs_is_told(client: Client, program: Path) -> None:
    program.write_text(
        "local function f()\n  while not go do\n    x = 1\n  end\nend\nf()\nlocal x = 1"
    )
    client.launch(program, 6)
    client.stopped()
    client.ask("next", threadId=1)
    told = client.wait("output")["output"]
    assert told in [f"{program}:{line} runs\n" for line in (2, 3)]
    client.ask("pause", threadId=1)
    assert client.stopped() == ("pause", 3)
    client.ask("evaluate", expression="go = true", frameId=1)
    assert client.finish() == 0

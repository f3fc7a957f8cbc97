"""The kernel in a process of its own, as a front end uses it."""

import base64
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.data_files import data
from tests.th_shell.jupyter.conftest import Client


@pytest.mark.thorough
def test_the_value_of_the_last_input_is_the_result(kernel: Client) -> None:
    assert kernel.result("torch.ones(2)\nx = torch.range(1, 3)\nx") == {
        "text/plain": " 1\n 2\n 3\n[torch.DoubleTensor of dimension 3]",
        "text/html": '<table style="margin: 0"><tbody><tr><th>1</th><td>1</td></tr>'
        "<tr><th>2</th><td>2</td></tr><tr><th>3</th><td>3</td></tr></tbody></table>"
        "<div>[torch.DoubleTensor of dimension 3]</div>",
    }


@pytest.mark.sample(4)
@pytest.mark.parametrize(("code", "text"), data(__file__, "test_results_are_what_print_writes"))
def test_results_are_what_print_writes(kernel: Client, code: str, text: str) -> None:
    assert kernel.result(code) == {"text/plain": text}


@pytest.mark.parametrize(
    "code", ["", "x = 1", "1 + 1;", "1 + 1\nx = 2", "-- a remark", "f = print"]
)
def test_cells_without_a_result(kernel: Client, code: str) -> None:
    assert kernel.run(code) == []
    assert kernel.reply["status"] == "ok"


def test_cells_are_counted(kernel: Client) -> None:
    kernel.run("1")
    count = kernel.reply["execution_count"]
    (output,) = kernel.run("1")
    assert output["execution_count"] == kernel.reply["execution_count"] == count + 1
    assert kernel.run("1", silent=True) == []
    assert kernel.reply["execution_count"] == count + 1


def test_nothing_that_is_written_is_lost(kernel: Client) -> None:
    """From Lua, C and commands, in order; also what is not a line, and broken text."""
    code = """
        io.write('a') io.write('b\\n') os.execute('echo c; echo d >&2') print('e')
        for i = 1, 20000 do io.write(i, ' ') end
        io.write('\\208\\180\\255 end');"""
    numbers = "".join(f"{i} " for i in range(1, 20001))
    written = kernel.printed(code)
    assert written == {"stdout": f"ab\nc\ne\t\n{numbers}д� end", "stderr": "d\n"}


@pytest.mark.slow
def test_more_than_a_browser_shows_is_not_lost(kernel: Client) -> None:
    numbers = "".join(f"{i}\t\n" for i in range(1, 400001))
    assert kernel.printed("for i = 1, 4e5 do print(i) end") == {"stdout": numbers}


@pytest.mark.thorough
def test_a_cell_ends_while_a_command_goes_on_writing(kernel: Client) -> None:
    kernel.run("os.execute('yes & echo $! > pid')")
    try:
        assert "ready" in kernel.printed("print('ready')")["stdout"]
    finally:
        kernel.run("os.execute('kill $(cat pid)')")
    kernel.run("sys.sleep(0.1)")  # What has been written meanwhile belongs to no later cell.
    assert kernel.run("x = 1") == []


def test_a_long_cell_shows_its_progress(kernel: Client) -> None:
    request = kernel.send("io.write('.') sys.sleep(0.4) io.write('.')")
    outputs = [(output["text"], time.monotonic()) for output in kernel.outputs(request)]
    assert [text for text, _ in outputs] == [".", "."]
    assert outputs[1][1] - outputs[0][1] > 0.1


def test_printed_text_comes_before_the_result(kernel: Client) -> None:
    outputs = kernel.run("function f() io.write('first') return 'then' end\nf()")
    assert [output["type"] for output in outputs] == ["stream", "execute_result"]
    assert outputs[0]["text"] == "first"
    assert outputs[1]["data"] == {"text/plain": "then"}


def test_a_progress_bar_looks_as_in_a_terminal(kernel: Client) -> None:
    """Its backspaces only move the cursor there."""
    text = kernel.printed("for i = 1, 3 do xlua.progress(i, 3) end")["stdout"]
    assert "\b" not in text
    assert re.search(r"\r \[=+ 3/3 =+>\]  Tot: .* \| Step: \d+ms\s*$", text)


def test_the_output_is_no_terminal(kernel: Client) -> None:
    assert kernel.result("torch.isatty(io.stdout)") == {"text/plain": "false"}


def plain(lines: list[str]) -> list[str]:
    """Lines without their colours."""
    return [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]


@pytest.mark.parametrize(("code", "name", "lines"), data(__file__, "test_an_error_ends_the_cell"))
def test_an_error_ends_the_cell(kernel: Client, code: str, name: str, lines: list[str]) -> None:
    outputs = kernel.run(code)
    assert "".join(output.get("text", "") for output in outputs[:-1]) in ("", "1\t\n")
    error = outputs[-1]
    lines[0] = lines[0].format(kernel.reply["execution_count"])
    assert (error["type"], error["ename"]) == ("error", name)
    assert error["traceback"][0] == f"\x1b[31m{lines[0]}\x1b[0m"
    assert plain(error["traceback"])[: len(lines)] == lines
    assert error["evalue"] == lines[0].removeprefix("syntax error: ")
    assert kernel.reply["status"] == "error"
    assert kernel.reply["traceback"] == error["traceback"]


def test_cells_behind_an_error_are_not_run(kernel: Client) -> None:
    first, second = kernel.send("sys.sleep(0.3) error('x')"), kernel.send("never = 1")
    assert kernel.answer(first)["status"] == "error"
    assert kernel.answer(second)["status"] == "aborted"
    assert kernel.result("never") == {"text/plain": "nil"}


@pytest.mark.parametrize(
    ("code", "answers", "printed"), data(__file__, "test_the_front_end_is_asked_for_input")
)
def test_the_front_end_is_asked_for_input(
    kernel: Client, code: str, answers: list[str], printed: str
) -> None:
    assert kernel.printed(code, answers) == {"stdout": printed}


def test_the_debugger_asks_the_front_end(kernel: Client) -> None:
    place = r"\[\d+\]:1 in main chunk\n"
    code = "local n = 5 debugger() print(n)"
    shown = kernel.printed(code, ["n + 1", "n = 7", "continue"])
    assert re.fullmatch(f"{place}    1  {re.escape(code)}\n6\t\n7\t\n", shown["stdout"])
    kernel.run("local m = 8 error(m)")
    shown = kernel.printed("%debug", ["m", "quit"])
    assert re.fullmatch(f"{place}.*local m = 8 error\\(m\\)\n8\t\n", shown["stdout"])
    refused = kernel.printed("%debug")["stdout"]
    assert refused.endswith("this front end answers no questions\n")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("io.read()", "this front end does not answer io.read"),
        ("io.read('*x')", "invalid format"),
    ],
)
def test_input_that_cannot_be_read(kernel: Client, code: str, message: str) -> None:
    (error,) = kernel.run(code)
    assert error["evalue"] == f"[{kernel.reply['execution_count']}]:1: {message}"


def test_files_are_read_as_ever(kernel: Client) -> None:
    code = "f = io.open('read', 'w') f:write('1\\n2') f:close() f = io.open('read') "
    assert kernel.printed(code + "print(f:read('*n', '*a')) f:close()") == {"stdout": "1\t\n2\t\n"}
    assert kernel.printed("for l in io.lines('read') do io.write(l, ',') end") == {"stdout": "1,2,"}


@pytest.mark.parametrize("how", ["signal", "message"])
@pytest.mark.parametrize(
    "code",
    ["while true do end", "io.read()", "x = torch.rand(1e5) while true do x:sort() end"],
)
def test_an_interrupt_stops_a_cell(kernel: Client, code: str, how: str) -> None:
    kernel.run("kept = 5")
    request = kernel.send("print('go') " + code, allow_stdin=True)
    outputs = kernel.outputs(request)
    assert next(outputs)["text"] == "go\t\n"
    start = time.monotonic()
    if how == "signal":
        kernel.manager.interrupt_kernel()
    else:
        message = kernel.channels.session.msg("interrupt_request", {})
        kernel.channels.control_channel.send(message)
        kernel.channels.get_control_msg(timeout=5)
    (error,) = outputs
    assert (error["ename"], error["evalue"]) == ("Interrupted", "interrupted!")
    assert time.monotonic() - start < 5
    assert kernel.result("kept") == {"text/plain": "5"}


@pytest.mark.parametrize(
    ("code", "name"), data(__file__, "test_no_number_of_interrupts_ends_the_kernel")
)
def test_no_number_of_interrupts_ends_the_kernel(kernel: Client, code: str, name: str) -> None:
    kernel.run("kept = 6")
    request = kernel.send(code)
    outputs = kernel.outputs(request)
    assert next(outputs)["text"] == "go"
    for _ in range(5):
        kernel.manager.interrupt_kernel()
        time.sleep(0.02)
    error = list(outputs)[-1]
    assert (error["ename"], error["evalue"].endswith("interrupted!")) == (name, True)
    assert kernel.result("kept") == {"text/plain": "6"}


def test_interrupts_of_nothing_change_nothing(kernel: Client) -> None:
    for _ in range(5):
        kernel.manager.interrupt_kernel()
    assert kernel.result("1") == {"text/plain": "1"}


@pytest.mark.slow
def test_the_heart_beats_while_a_cell_runs(kernel: Client) -> None:
    request = kernel.send("local t = os.clock() while os.clock() < t + 0.6 do end")
    beats = []
    for _ in range(3):
        time.sleep(0.2)
        beats.append(kernel.channels.hb_channel.is_beating())
    assert list(kernel.outputs(request)) == []
    assert beats == [True] * 3


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_lua_shows_data(kernel: Client) -> None:
    bytes_ = "".join(f"\\{byte:03d}" for byte in PNG)
    outputs = kernel.run(
        f"local jupyter = require 'jupyter' print(1) jupyter.display{{['image/png'] = '{bytes_}',"
        "['text/plain'] = 'a dot'} print(2) jupyter.clear_output(true)"
    )
    kinds = ["stream", "display_data", "stream", "clear_output"]
    assert [output["type"] for output in outputs] == kinds
    data = outputs[1]["data"]
    assert base64.b64decode(data["image/png"]) == PNG
    assert data["text/plain"] == "a dot"
    assert outputs[3]["wait"] is True


@pytest.mark.parametrize("argument", ["", "'x'", "{1}", "{x = 1}"])
def test_what_cannot_be_shown(kernel: Client, argument: str) -> None:
    (error,) = kernel.run(f"require('jupyter').display({argument})")
    number = kernel.reply["execution_count"]
    assert error["evalue"] == f"[{number}]:1: display takes a table: MIME type -> data"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("code", "beginning"),
    [
        ("? torch.numel", "torch.numel\n    The number of elements.\n"),
        ("?? torch.gather", "1. indexing.md - By lists of indices\n    th> "),
        ("mine = 5\n? mine", "mine: number 5\n"),
    ],
)
def test_help_is_a_page(kernel: Client, code: str, beginning: str) -> None:
    assert kernel.run(code) == []
    (page,) = kernel.reply["payload"]
    assert page["source"] == "page"
    assert page["data"]["text/plain"].startswith(beginning)


def test_commands_of_the_system(kernel: Client) -> None:
    assert kernel.printed("$ echo out; echo err >&2") == {"stdout": "out\n", "stderr": "err\n"}


def test_the_value_of_a_cell_is_known_by_its_number(kernel: Client) -> None:
    kernel.run("6 * 7")
    number = kernel.reply["execution_count"]
    kernel.run("'silent'", silent=True)
    assert kernel.result(f"_{number}") == {"text/plain": "42"}


def test_an_error_tells_the_line_of_the_cell_and_a_hint(kernel: Client) -> None:
    kernel.run("-- a product\nfunction product(a)\n  return a * a\nend\n\ny = 1")
    number = kernel.reply["execution_count"]
    (error,) = kernel.run("y = 2\n\nproduct(torch.ones(2, 3))")
    assert plain(error["traceback"]) == [
        f"[{number}]:3: size mismatch, m1: [2 x 3], m2: [2 x 3]",
        "stack traceback:",
        "\t[C]: in function '__mul'",
        f"\t[{number}]:3: in function 'product'",
        f"\t[{number + 1}]:3: in main chunk",
        f"[{number}]:3:  return a * a",
        "hint: the first is 2x3, the second is 2x3: the second needs 3 rows",
    ]


def test_a_hint_on_a_value(kernel: Client) -> None:
    hint, result = kernel.run("torch.rnad")
    assert hint["text"] == "hint: there is torch.rand, torch.randn\n"
    assert result["data"] == {"text/plain": "nil"}


def test_large_results_are_elided(kernel: Client) -> None:
    data = kernel.result("torch.zeros(100, 100)")
    assert len(data["text/plain"].splitlines()) == 9
    assert data["text/plain"].endswith("print(_LAST) shows all)")
    assert len(data["text/html"]) < 20_000
    assert kernel.printed("print(_LAST)")["stdout"].count("\n") > 100


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%pwd", r"/.*\n"),
        ("%time 1 + 1", r"2\t\nwall \S+ \S+, CPU \S+ \S+\n"),
        ("%%time\nfor i = 1, 2 do\n  print(i)\nend", r"1\t\n2\t\nwall \S+ \S+, CPU \S+ \S+\n"),
        ("some = {\n  1}\n%history {n}", r"(\d+)  some = \{\n +  1\}\n"),
    ],
)
def test_commands_of_the_session(kernel: Client, code: str, expected: str) -> None:
    kernel.run("''")
    code = code.replace("{n}", str(kernel.reply["execution_count"] + 1))
    assert re.fullmatch(expected, kernel.printed(code)["stdout"])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("y = 1\n\n%time none.x = 1", "[{}]:3: attempt to index global 'none' (a nil value)"),
        ("%%time\ny = 1\nnone.x = 1", "[{}]:3: attempt to index global 'none' (a nil value)"),
        ("%nothing", "%nothing: no such command; %help lists all"),
        ("%load no-such-file", "%load: no-such-file: No such file or directory"),
    ],
)
def test_a_command_that_fails_ends_the_cell(kernel: Client, code: str, message: str) -> None:
    error = kernel.run(f"{code}\nnever = 1")[-1]
    assert error["evalue"] == message.format(kernel.reply["execution_count"])
    assert kernel.result("never") == {"text/plain": "nil"}


@pytest.mark.parametrize("command", ["%edit {n}", "%edit given", "%load given.lua"])
def test_commands_that_fill_the_cell(kernel: Client, command: str) -> None:
    text = "given = 1\n\nother = given"
    kernel.run(f"io.open('given.lua', 'w'):write([[{text}]]):close()")
    kernel.run(text)
    assert kernel.run(command.format(n=kernel.reply["execution_count"])) == []
    wanted = "given = 1" if command == "%edit given" else text
    assert kernel.reply["payload"] == [
        {"source": "set_next_input", "text": wanted, "replace": True}
    ]


def test_a_page_in_a_cell_is_judged(kernel: Client) -> None:
    page = "th> p = torch.ones(2)\nth> p:sum()\n2\n\nth> p:size(1)\n3\n"
    assert kernel.printed(page) == {
        "stdout": "th> p = torch.ones(2)\nth> p:sum()\n2\t\n✓\nth> p:size(1)\n2\t\n"
        "✗ page: 3 here: 2\n3 inputs: 1 as documented, 1 different, 1 without output\n"
    }


def test_pictures_stand_where_they_were_drawn(kernel: Client) -> None:
    first, picture, last = kernel.run("print('first') show(torch.eye(2)) print('last')")
    assert (first["text"], last["text"]) == ("first\t\n", "last\t\n")
    assert picture["type"] == "display_data"
    assert picture["data"]["text/plain"] == "<image>"
    png = base64.b64decode(picture["data"]["image/png"])
    width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    assert png.startswith(b"\x89PNG") and min(width, height) >= 190


def test_images_have_no_table_beside_them(kernel: Client) -> None:
    shown = kernel.run(
        "require 'image'\nwindow = image.display(torch.eye(3))\nitorch.image(window.image)"
    )
    assert [one["type"] for one in shown] == ["display_data"] * 2
    assert kernel.result("window")["text/plain"].startswith("{\n  image : DoubleTensor - size: 3x3")


@pytest.mark.thorough
def test_plots_are_svg_where_asked(kernel: Client) -> None:
    for setting, kind in (
        ("plots = svg", "image/svg+xml"),
        ("InlineBackend.figure_format = 'png'", "image/png"),
    ):
        assert kernel.run(f"%config {setting}") == []
        (plot,) = kernel.run("require('gnuplot').plot(torch.ones(3))")
        assert (plot["type"], kind in plot["data"]) == ("display_data", True)
    (failed,) = kernel.run("%config theme = none")
    assert failed["type"] == "error"


def test_locals_are_kept_for_later_cells(kernel: Client) -> None:
    assert kernel.run("local here = 5\nlocal function twice(x) return 2 * x end") == []
    assert kernel.result("twice(here)") == {"text/plain": "10"}


def test_comms_are_ignored(kernel: Client) -> None:
    message = kernel.channels.session.msg("comm_open", {"comm_id": "1", "target_name": "x"})
    kernel.channels.shell_channel.send(message)
    assert kernel.result("1") == {"text/plain": "1"}


@pytest.mark.thorough
@pytest.mark.parametrize("code", ["exit", "x = 1\nexit()", "os.exit(3)"])
def test_leaving(start: Any, code: str) -> None:
    client = start()
    client.send(f"print('bye')\n{code}")
    message = {}
    while message.get("msg_type") != "stream":
        message = client.channels.get_iopub_msg(timeout=10)
    word = f"{code}ends the kernel; a notebook starts it anew\t\n".replace(")", ") ")
    assert message["content"]["text"] == "bye\t\n" + word * code.startswith("os")
    deadline = time.monotonic() + 10
    while client.manager.is_alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not client.manager.is_alive()


def test_commands_that_read_what_inputs_print(kernel: Client, tmp_path: Path) -> None:
    assert kernel.run("%capture said print('hidden')") == []
    assert kernel.result("#said")["text/plain"] == "8"
    for command in ("%restore no_such_variable", f"%logstart {tmp_path}/log.lua"):
        (failed,) = kernel.run(command)
        assert failed["type"] == "error"


def test_changed_modules_are_loaded_anew(kernel: Client, tmp_path: Path) -> None:
    module = tmp_path / "changing.lua"
    module.write_text("return { f = function() return 1 end }")
    kernel.run(f"package.path = '{tmp_path}/?.lua;' .. package.path; m = require 'changing';")
    kernel.run("%autoreload on")
    module.write_text("return { f = function() return 22 end }")
    printed, result = kernel.run("m.f()")
    assert printed["text"] == "changing is loaded anew\n"
    assert result["data"]["text/plain"] == "22"
    kernel.run("%autoreload off")

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from tests.th_shell.terminals import Terminal
from tests.th_shell.test_report import VERSIONS
from th_shell.options import usage
from th_shell.visible import BANNER

TOP = Path(__file__).parents[2]

Run = Callable[..., "subprocess.CompletedProcess[str]"]

BOOM = data(__file__, "BOOM")
TRACEBACK = data(__file__, "TRACEBACK")


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.thorough
def test_check_knows_what_is_installed(th: Run, tmp_path: Path) -> None:
    (tmp_path / "th/lua/nn").mkdir(parents=True)
    (tmp_path / "th/lua/nn/init.lua").touch()
    (tmp_path / "b.lua").write_text("require 'nn' require 'nn.Other'")
    assert outcome(th("--check", "b.lua", XDG_DATA_HOME=str(tmp_path))) == (
        1,
        "b.lua:1:14: require 'nn.Other': no such module is found; install it where package.path "
        "(LUA_PATH) finds it\nchecked 1 file: 1 place in 1 (nn 1)\n",
        "",
    )


def test_check_looks_for_globals_beside_packages_that_load_anything(
    th: Run, tmp_path: Path
) -> None:
    (tmp_path / "th/lua/nn").mkdir(parents=True)
    (tmp_path / "th/lua/nn/init.lua").write_text("setfenv(1, {}) nn = {}")
    (tmp_path / "b.lua").write_text("require 'nn' print(other)")
    assert outcome(th("--check", "b.lua", XDG_DATA_HOME=str(tmp_path))) == (
        1,
        "b.lua:1:20: other: a global that nothing defines; define it, or leave it out\n"
        "checked 1 file: 1 place in 1 (other 1)\n",
        "",
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("program", "error"),
    data(__file__, "test_what_to_do_about_gpus"),
)
def test_what_to_do_about_gpus(th: Run, program: str, error: str) -> None:
    assert th("-e", program).stderr == (
        f"th: (command line):1: attempt to {error} (a nil value)\n"
        "stack traceback:\n\t(command line):1: in main chunk\n"
        "th --gpu-as-cpu lets programs for GPUs compute here\n"
    )


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(th: Run, option: str) -> None:
    assert outcome(th(option)) == (0, usage(), "")


def test_an_unknown_option_prints_the_usage(th: Run) -> None:
    assert outcome(th("-z")) == (2, "", f"th: unrecognized option -z\n{usage()}")


def test_a_statement(th: Run) -> None:
    assert outcome(th("-e", "print(1)")) == (0, "1\t\n", "")


def test_statements_run_before_the_script_in_their_order(th: Run, tmp_path: Path) -> None:
    (tmp_path / "a.lua").write_text("print(x, arg[0], arg[1], #arg, ...)")
    done = th("-e", "x = 1", "-e", "x = x + 1", "a.lua", "-h")
    assert outcome(done) == (0, "2\ta.lua\t-h\t1\t\n", "")


def test_arguments_without_a_script(th: Run) -> None:
    assert th("-e", "print(arg[0], arg[1], #arg)").stdout == "th\t-e\t2\t\n"


@pytest.mark.sample(1)
@pytest.mark.parametrize("words", [["-l", "lib"], ["-llib"]])
def test_a_library(th: Run, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "lib.lua").write_text("loaded = 'yes'")
    assert outcome(th(*words, "-e", "print(loaded)")) == (0, "yes\t\n", "")


def test_without_a_library_it_goes_on(th: Run) -> None:
    done = th("-lnowhere", "-e", "print(1)")
    assert (done.returncode, done.stdout) == (0, "1\t\n")
    assert done.stderr.startswith("could not load nowhere, skipping\nmodule 'nowhere' not found:")


def test_an_error_in_a_script(th: Run, tmp_path: Path) -> None:
    (tmp_path / "a.lua").write_text(BOOM)
    expected = "th: a.lua:2: boom\n" + TRACEBACK.format("a.lua")
    assert outcome(th("a.lua")) == (1, "before ", expected)


@pytest.mark.thorough
def test_a_script_from_the_standard_input(th: Run) -> None:
    expected = "th: stdin:2: boom\n" + TRACEBACK.format("stdin")
    assert outcome(th(input=BOOM)) == (1, "before ", expected)
    assert outcome(th("-", "a", input="#!/usr/bin/th -\nprint(arg[1])")) == (0, "a\t\n", "")
    assert outcome(th(input="")) == (0, "", "")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("statement", "message"),
    data(__file__, "test_a_syntax_error"),
)
def test_a_syntax_error(th: Run, statement: str, message: str) -> None:
    assert outcome(th("-e", statement)) == (1, "", f"th: {message}\n")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "expected"), data(__file__, "test_what_is_piped_is_run_as_at_the_prompt")
)
def test_what_is_piped_is_run_as_at_the_prompt(
    command: list[str], environment: dict[str, str], source: str, expected: str
) -> None:
    done = subprocess.run(command, env=environment, input=source, capture_output=True, text=True)
    assert outcome(done) == (0, expected, "")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("source", "out", "error"),
    data(__file__, "test_what_is_piped_goes_on_after_an_error"),
)
def test_what_is_piped_goes_on_after_an_error(th: Run, source: str, out: str, error: str) -> None:
    done = th(input=source)
    assert (done.returncode, done.stdout) == (1, out)
    assert done.stderr.splitlines()[0] == f"th: {error}"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "expected"), [("x = 5\ntostring(x)\nprint(x)", "5\t\n"), ("x = 5\nx", "5\t\n")]
)
def test_a_file_as_the_standard_input(
    command: list[str], environment: dict[str, str], tmp_path: Path, source: str, expected: str
) -> None:
    (tmp_path / "a.lua").write_text(source)
    with open(tmp_path / "a.lua") as file:
        done = subprocess.run(command, env=environment, stdin=file, capture_output=True, text=True)
    assert outcome(done) == (0, expected, "")


def test_the_versions(th: Run) -> None:
    done = th("--version")
    assert re.fullmatch(VERSIONS, done.stdout) and done.returncode == 0


def test_the_settings_are_shown(th: Run, tmp_path: Path) -> None:
    shown = th("--config").stdout
    assert shown.startswith(f"# {tmp_path}/.config/th/config.toml (not there: these are the defaul")
    assert 'keys = "emacs"            # whose keys edit a line: emacs or vi\n' in shown


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("-g", (0, "created global variable: x @ (command line):1\t\n5\t\n", "")),
        (
            "-gg",
            (
                1,
                "",
                "th: (command line):1: created global variable: x @ (command line):1\n"
                "stack traceback:\n\t[C]: in function '__newindex'\n\t(command line):1: in main "
                "chunk\n",
            ),
        ),
    ],
)
def test_globals_are_monitored(
    th: Run, tmp_path: Path, option: str, expected: tuple[int, str, str]
) -> None:
    (tmp_path / "lib.lua").write_text("of_lib = 1")
    assert outcome(th(option, "-llib", "-e", "x = of_lib + 4 print(x)")) == expected


def test_a_script_that_is_not_there(th: Run) -> None:
    message = "th: cannot open nowhere.lua: No such file or directory\n"
    assert outcome(th("nowhere.lua")) == (1, "", message)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("value", "status"), [("3", 3), ("", 0), ("true", 0), ("false", 1)])
def test_os_exit_gives_the_status_and_writes_what_is_buffered(
    th: Run, value: str, status: int
) -> None:
    done = th("-e", f"io.write('out') io.stderr:write('err') os.exit({value})")
    assert outcome(done) == (status, "out", "err")


@pytest.mark.thorough
def test_the_startup_file(th: Run, tmp_path: Path) -> None:
    (tmp_path / "start.lua").write_text("started = 'yes'")
    source = "print(started)"
    assert th(input=source, TREPLSTARTUP="start.lua").stdout == "yes\t\n"
    assert th("-e", source, TREPLSTARTUP="start.lua").stdout == "nil\t\n"


@pytest.mark.thorough
def test_the_prompt_behind_a_script_without_a_terminal(th: Run, tmp_path: Path) -> None:
    (tmp_path / "a.lua").write_text("x = 1")
    done = th("-i", "a.lua", input="x + 1\nerror('a', 0)\nio.read()\na line\nx")
    assert done.stderr == ""
    assert done.stdout.replace("\n\t", " ").splitlines() == [
        "2\t",
        "a",
        "stack traceback: [C]: in function 'error' stdin:1: in main chunk",
        "a line\t",
        "1\t",
    ]


def test_a_closed_pipe_ends_it_quietly(command: list[str], environment: dict[str, str]) -> None:
    program = subprocess.Popen(
        [*command, "-e", "while true do print(1) end"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None and program.stderr is not None
    program.stdout.readline()
    program.stdout.close()
    assert program.wait(60) == -signal.SIGPIPE
    assert program.stderr.read() == b""
    program.stderr.close()


def test_ctrl_c_ends_a_compiled_loop_in_a_script(
    command: list[str], environment: dict[str, str]
) -> None:
    source = "print(1) io.stdout:flush() local i = 0 while true do i = i + 1 end"
    with subprocess.Popen(
        [*command, "-e", source],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None and program.stderr is not None
        program.stdout.readline()
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == -signal.SIGINT
        assert program.stderr.read() == b""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "words", ["th -e 1", "th --check no.lua", "th --convert no.t7", "th no.lua", "th-docs no.md"]
)
def test_ctrl_c_while_libraries_are_loaded(
    environment: dict[str, str], tmp_path: Path, words: str
) -> None:
    # A library of that name stands before the real one.
    (tmp_path / "lupa.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    name, *arguments = words.split()
    module = {"th": "th_shell.__main__", "th-docs": "th_shell.docs.__main__"}[name]
    script = f"from {module} import main; raise SystemExit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment | {"PYTHONPATH": f"{tmp_path}:{TOP}"},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


@pytest.mark.parametrize("module", ["th_shell", "th_shell.docs"])
def test_nothing_is_imported_before_ctrl_c_ends_it(module: str) -> None:
    words = ["-ISX", "importtime", "-c", f"import sys; sys.path.append({str(TOP)!r})"]
    before, after = (
        run_python(*words[:-1], words[-1] + more) for more in ("", f"; import {module}.__main__")
    )
    names = [re.findall(r"\| +(\S+)$", run.stderr, re.M) for run in (before, after)]
    ours = names[1][len(names[0]) :]
    assert (
        ours[: ours.index("th_shell.start_up")]
        == ["th_shell", "th_shell.docs"][: module.count(".") + 1]
    )


@pytest.mark.thorough
@pytest.mark.unguarded("memory has guard pages, which count")
@pytest.mark.parametrize(
    "words", ["th", "th -", "th --python", "th --python -i", "th --python -i -c 1"]
)
def test_an_input_without_end(command: list[str], environment: dict[str, str], words: str) -> None:
    limited = ["sh", "-c", 'ulimit -v 300000; exec "$@" </dev/zero', "sh", *command]
    done = subprocess.run([*limited, *words.split()[1:]], env=environment, capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"th: not enough memory\n"


def test_ctrl_c_stays_ignored(command: list[str], environment: dict[str, str]) -> None:
    script = "os.execute('kill -INT $PPID') print(1)"
    ignoring = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    done = subprocess.run([*ignoring, "-e", script], env=environment, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1\t\n", b"")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.mark.thorough
def test_a_terminal(command: list[str], environment: dict[str, str], terminal: Terminal) -> None:
    with terminal.running(command, env=environment) as program:
        assert terminal.until(b"th> ").startswith(BANNER.replace("\n", "\r\n").encode())
        terminal.press(b"6 *\r")
        terminal.until(b"..> ")
        terminal.press(b"7\r")
        terminal.until(b"42\t\r\n")
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(20) == 0


@pytest.mark.thorough
def test_a_narrow_terminal(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal(columns=30)
    with terminal.running(command, env=environment) as program:
        shown = terminal.until(b"th> ").decode()
        assert max(map(len, shown.split("\r\n"))) < 30
        terminal.press(b"x = 123456789 + 123456789 + 123456789\r")
        shown = terminal.until(b"s]").decode()
        assert "..>" not in shown and len(shown.split("\r")[-1]) < 30
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(20) == 0
    terminal.close()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("variable", "value", "forbidden"),
    [("TERM", "dumb", rb"\x1b"), ("NO_COLOR", "1", rb"\x1b\[(?:\d+;)*(?:3[0-8]|9\d|48)[;m]")],
)
def test_a_terminal_without_escapes_or_colours(
    command: list[str],
    environment: dict[str, str],
    terminal: Terminal,
    variable: str,
    value: str,
    forbidden: bytes,
) -> None:
    with terminal.running(command, env=environment | {variable: value}) as program:
        for keys, answer in [
            (b"", b"th>"),
            (b"function f()\r", b"..>"),
            (b"return 'twi' .. 'ce' end\r", b"th>"),
            (b"f() -- note\r", b"twice\t\r\n"),
            (b"", b"th>"),
            (b"f()\x1b[A\r", b"twice\t\r\n"),
            (b"", b"th>"),
        ]:
            terminal.press(keys)
            terminal.until(answer)
        terminal.press(b"\x04")
        assert program.wait(20) == 0
    assert not re.search(forbidden, terminal.raw)


@pytest.mark.thorough
def test_a_history_that_a_dumb_terminal_cannot_show_is_kept(
    command: list[str], environment: dict[str, str], terminal: Terminal, tmp_path: Path
) -> None:
    history = tmp_path / "history"
    history.write_text("x = 'é'\ny = 'a\0b'\nz = 5\n")
    settings = {"TERM": "dumb", "LC_ALL": "C", "TREPL_HISTORY": str(history)}
    with terminal.running(command, env=environment | settings) as program:
        for keys, answer in [
            (b"", b"th> "),
            (b"z = 5; z\r", b"5\t\r\n"),
            (b"#'\xc3\xa9'\r", b"2\t\r\n"),
        ]:
            terminal.press(keys)
            terminal.until(answer)
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(20) == 0
    assert history.read_text() == "x = 'é'\ny = 'a\0b'\nz = 5\nz = 5; z\n#'é'\n"


@pytest.mark.thorough
def test_ctrl_c_drops_the_line_of_a_dumb_terminal(
    command: list[str], environment: dict[str, str], terminal: Terminal
) -> None:
    with terminal.running(command, env=environment | {"TERM": "dumb"}) as program:
        terminal.until(b"th> ")
        for line, prompt in [(b"dropped", b"th> "), (b"f(\r", b"..> ")]:
            terminal.press(line)
            terminal.until(prompt if line.endswith(b"\r") else line)
            time.sleep(0.1)  # readline would lose a signal that comes before it waits for keys
            os.kill(program.pid, signal.SIGINT)
            terminal.until(b"th> ")
        terminal.press(b"6 * 7\r")
        terminal.until(b"42\t\r\n")
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(20) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("words", [["-i", "bad.lua"], ["-i", "-e", "error('bad', 0)"]])
def test_the_prompt_opens_after_an_error(
    command: list[str],
    environment: dict[str, str],
    terminal: Terminal,
    tmp_path: Path,
    words: list[str],
) -> None:
    (tmp_path / "bad.lua").write_text("x = 5 error('bad', 0)")
    with terminal.running([*command, *words], env=environment, cwd=tmp_path) as program:
        assert terminal.until(b"th> ").startswith(b"th: bad\r\nstack traceback:\r\n")
        terminal.press(b"6 * 7\r")
        terminal.until(b"42\t\r\n")
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(20) == 0


@pytest.mark.thorough
def test_the_prompt_opens_after_an_error_in_the_startup_file(
    command: list[str], environment: dict[str, str], terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "start.lua").write_text("x = = 5")
    variables = environment | {"TREPLSTARTUP": "start.lua"}
    with terminal.running(command, env=variables, cwd=tmp_path):
        shown = terminal.until(b"th> ")
        assert shown.startswith(b"th: start.lua:1: unexpected symbol near '='\r\nth: the Torch7")


@pytest.mark.thorough
def test_settings_are_read_and_what_is_wrong_is_told(
    command: list[str], environment: dict[str, str], terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "c.toml"
    path.write_text("prompt_number = true\ncolour = 1\n")
    variables = environment | {"TH_CONFIG": str(path)}
    with terminal.running(command, env=variables):
        warning = f"{path}: there is no setting colour; th --config lists them\r\n\r[1] th> "
        shown = terminal.until(b"[1] th> ").decode().split()
        assert " ".join(shown).endswith(" ".join(warning.split()))
        terminal.press(b"6 * 7\r")
        terminal.until(b"42\t\r\n")
        terminal.until(b"[2] th> ")


@pytest.mark.unguarded("numpy is loaded from the start")
def test_a_statement_loads_nothing_of_the_terminal(environment: dict[str, str]) -> None:
    source = """
import sys
from th_shell.cli import main
main(["-e", "x = 1"])
loaded = "argparse", "prompt_toolkit", "pygments", "numpy", "dataclasses", "tempfile"
print([m for m in loaded if m in sys.modules])
"""
    done = run_python("-c", source, env=environment)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize(("source", "most"), [("print(1)", 0.8), ("print(torch.ones(2))", 1.6)])
@pytest.mark.unguarded("numpy is loaded from the start")
def test_it_starts_fast(
    command: list[str], environment: dict[str, str], source: str, most: float
) -> None:
    """most: in times of what the import of numpy takes; of the clock's time, twice that."""

    def seconds(words: list[str]) -> tuple[float, float]:
        """Of the processor, and of the clock."""
        start, before = time.perf_counter(), os.times()
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        used = after.children_user + after.children_system
        return used - before.children_user - before.children_system, time.perf_counter() - start

    # In turn, because other tests run beside this one: only the fastest of each says something.
    numpy, th = [], []
    for _ in range(20):
        numpy.append(seconds([sys.executable, "-c", "import numpy"]))
        th.append(seconds([*command, "-e", source]))
        ratios = [
            min(ours) / min(its)
            for ours, its in zip(zip(*th, strict=True), zip(*numpy, strict=True), strict=True)
        ]
        if len(th) >= 3 and ratios[0] <= most and ratios[1] <= 2 * most:
            break
    assert ratios[0] <= most and ratios[1] <= 2 * most


PROGRAM_WITH_A_FILE = "local f = io.open('written', 'w') f:write('kept') f:close() print(5)"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("closed", "program", "expected"),
    [
        ("<&-", "", (0, "", "")),
        ("<&-", "print(io.read())", (0, "nil\t\n", "")),
        (">&-", PROGRAM_WITH_A_FILE, (1, "", "th: write error\n")),
        ("2>&-", "print(1) error('a')", (1, "1\t\n", "")),
    ],
)
def test_closed_standard_streams(
    tmp_path: Path, closed: str, program: str, expected: tuple[int, str, str]
) -> None:
    top = Path(__file__).parents[2]
    words = ["-e", program] if program else []
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "th_shell", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(top)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    done.stderr = done.stderr.replace(": Bad file descriptor", "")  # the C library may forget why
    assert outcome(done) == expected
    if program == PROGRAM_WITH_A_FILE:
        assert (tmp_path / "written").read_text() == "kept"


def test_a_program_of_python_is_known_by_its_name(th: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\n")
    done = th("a.py")
    assert done.returncode == 1
    assert done.stderr.endswith("\nth --python runs programs of Python\n")

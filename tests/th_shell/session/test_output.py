"""Output that cannot be written is an error; names from files show without control codes."""

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.cli import main as check_pages
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session
from th_shell.visible import visible

REASON = "th: write error: No space left on device\n"

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.fixture
def into_full(command: list[str], environment: dict[str, str]) -> Callable[..., tuple[int, str]]:
    """Runs th with its output on a full disk; the exit status and the errors."""

    def run(*args: str, input: str = "") -> tuple[int, str]:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*command, *args],
                input=input,
                env=environment | {"PYTHONUNBUFFERED": ""},
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
        return done.returncode, done.stderr

    return run


@pytest.mark.sample(1)
@needs_full
@pytest.mark.parametrize("statement", ["print(1)", "io.write(1)", "print(1) os.exit()"])
def test_a_full_disk(into_full: Callable[..., tuple[int, str]], statement: str) -> None:
    assert into_full("-e", statement) == (1, REASON)


@pytest.mark.sample(1)
@needs_full
@pytest.mark.parametrize("statement", ["io.write(('x'):rep(1e6))", "io.write(1) io.stdout:flush()"])
def test_a_full_disk_that_was_noticed_before(
    into_full: Callable[..., tuple[int, str]], statement: str
) -> None:
    assert into_full("-e", statement) == (1, "th: write error\n")


@pytest.mark.sample(1)
@needs_full
@pytest.mark.parametrize(("code", "status"), [("0", 1), ("true", 1), ("3", 3)])
def test_a_program_that_ends_itself(
    into_full: Callable[..., tuple[int, str]], code: str, status: int
) -> None:
    assert into_full("-e", f"print(1) os.exit({code})") == (status, REASON)


@pytest.mark.thorough
@needs_full
def test_other_outputs(into_full: Callable[..., tuple[int, str]]) -> None:
    assert into_full("-h") == (1, REASON)
    assert into_full(input="print(1)") == (1, REASON)
    assert into_full("-i", input="1\n") == (1, REASON)


@needs_full
def test_nothing_to_write(into_full: Callable[..., tuple[int, str]]) -> None:
    assert into_full("-e", "x = 1") == (0, "")


def test_a_closed_output(command: list[str], environment: dict[str, str]) -> None:
    line = 'exec "$@" >&-'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command, "-e", "io.stdout:close() x = 1"],
        env=environment,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\né€\u00a0", "a\tb\né€\u00a0"),
        ("\x1b[2J\r\x07\x00\x7f", "\\027[2J\\013\\007\\000\\127"),
        ("\x9b1m", "\\194\\1551m"),
        ("\udc9b1m \udce9", "\\1551m \udce9"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


BAD_NAME = "f = torch.MemoryFile() f:binary() f:writeInt(4) f:writeInt(1) f:writeInt(5)"
BAD_NAME += (
    " f:writeChar(torch.CharStorage():string('a\\27[2J')) f:seek(1) assert(pcall(f.readObject, f))"
)


def test_errors_at_the_prompt(session: Session, printed: Callable[[], str]) -> None:
    session.submit(BAD_NAME)
    assert printed().startswith("stdin:1: unknown Torch class <a\\027[2J>\n")
    session.submit("x = '\x1b' =")
    assert "\x1b" not in printed()


NAME = "a\x1b[2J\nb"  # of a file


@pytest.mark.parametrize(("source", "message"), data(__file__, "test_names_of_files_in_errors"))
def test_names_of_files_in_errors(
    session: Session, printed: Callable[[], str], source: str, message: str
) -> None:
    session.submit("name = 'a\\27[2J\\nb'")
    session.submit(source)
    shown = printed()
    assert message.format("a\\027[2J\\010b") in shown.splitlines()[0] and "\x1b" not in shown


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([f"{NAME}.lua"], "th: cannot open a\\027[2J\\010b.lua: No such file or directory"),
        (["--convert", NAME, "x.npz"], "th: a\\027[2J\\010b: No such file or directory"),
        (["--convert", "x", f"{NAME}.x"], "th: --convert: the name of the new file ends with"),
        (["--install", f"./{NAME}"], "th: "),
        (["--check", NAME], "th: a\\027[2J\\010b: No such file or directory"),
        ([f"--{NAME}"], "th: unrecognized option --a\\027[2J\\010b"),
        (["-l", NAME, "-e", "x = 1"], "could not load a\\027[2J\\010b, skipping"),
        (["--python", "-m", NAME], "th: No module named a\\027[2J\\010b"),
    ],
)
def test_names_of_the_command_line(
    command: list[str], environment: dict[str, str], words: list[str], message: str
) -> None:
    ours, theirs = pty.openpty()
    run = [*command, *words]
    subprocess.run(run, env=environment, stderr=theirs, stdout=theirs, timeout=60, check=False)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert shown.startswith(message) and "\x1b" not in shown


def test_names_of_pages(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        check_pages([f"{NAME}*.md"])
    assert "th-docs: error: a\\027[2J\\010b*.md: no page matches\n" in capfd.readouterr().err


def test_what_a_program_prints_is_its_own(session: Session, printed: Callable[[], str]) -> None:
    session.submit("print(select(2, pcall(error, '\\27[2J', 0)))")
    assert printed() == "\x1b[2J\t\n"


@pytest.mark.thorough
@pytest.mark.parametrize("terminal", [True, False])
def test_errors_of_scripts(command: list[str], environment: dict[str, str], terminal: bool) -> None:
    ours, theirs = pty.openpty() if terminal else os.pipe()
    subprocess.run(
        [*command, "-e", BAD_NAME], env=environment, stderr=theirs, timeout=60, check=False
    )
    shown = os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    assert (b"<a\\027[2J>" in shown, b"<a\x1b[2J>" in shown) == (terminal, not terminal)


def test_warnings_about_files(engine: Engine, printed: Callable[[], str]) -> None:
    engine.run(
        engine.compile(
            b"local C = torch.class('Field') local o = Field() o['a\\27[2J'] = io.stdout"
            b" torch.serialize(o)"
        )
    )
    assert printed() == "$ Warning: cannot write object field <a\\027[2J> of <Field> <?>\t\n"

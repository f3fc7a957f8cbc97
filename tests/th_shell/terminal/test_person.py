"""What a person at a terminal sees that scripts do not: hints, examples, the prompt's who."""

import subprocess

import pytest

from tests.th_shell.test_cli import Terminal
from tests.th_shell.typists import paste


@pytest.mark.thorough
def test_hints_examples_and_variables(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal()
    with terminal.running(command, env=environment) as program:
        terminal.until(b"th> ")
        for keys, shown in (
            (b"torch.rnad(2)\r", b"hint: there is torch.rand, torch.randn\r\n"),
            (b"?? torch.trace\r", b"th> torch.trace(a)\r\n    5\r\n"),
            (b"a = torch.ones(4)\r", b"th> "),
            (b"who()\r", b"1 variable; 1 storage with 32 bytes\r\n"),
            (b"y = torch.ones(3); y:sum()\r", b"\r\n3\t\r\n"),
            (b"io.write('hi\\n')\r", b"\r\nhi\r\n   "),
            (b"X = 1\r", b"th> "),
            (b"x\r", b"\r\nnil\t\r\nhint: there is X\r\n"),
            (b"X?\r", b"\r\nX: number 1\r\n"),
            (b"torch.cat?\r", b"\r\ntorch.cat(...)"),
            (b"? %profile\r", b"\r\n%profile INPUT\r\n"),
            (b"? nn.Linear\r", b"\r\nnothing is named nn.Linear: require 'nn' loads that package"),
            (b"show(torch.eye(2))\r", b"\xe2\x96\x80"),
            (b"?keys\r", b"\r\n  Up, Ctrl-R, Right"),
            (b"torch.range(1001, 2200):resize(2, 600)\r", b" 1007 \xe2\x80\xa6  1594"),
        ):
            terminal.press(keys)
            terminal.until(shown)
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(60) == 0
    terminal.close()


@pytest.mark.thorough
def test_a_page_at_the_prompt_of_python(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal()
    page = (
        ">>> import torch\n>>> torch.ones(2).sum()\ntensor(2.)\n>>> torch.ones(2)\ntensor([1.])\n"
    )
    with terminal.running([*command, "--python"], env=environment) as program:
        terminal.until(b">>> ")
        terminal.press(paste(page).encode() + b"\r")
        terminal.until("\r\ntensor(2.)\r\n✓\r\n".encode())
        terminal.until("\r\n✗ page: ".encode())
        terminal.until(b"3 inputs: 1 as documented, 1 different, 1 without output")
        terminal.until(b">>> ")
        terminal.press(b"\x04")
        assert program.wait(60) == 0
    terminal.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("flag", [(), ("-i",)])
def test_others_see_what_the_reference_prints(
    command: list[str], environment: dict[str, str], flag: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [*command, *flag],
        input="who()\nx = torch.rnad(2)\n",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("== User Variables ==\t\n==\t\n")
    assert "hint" not in done.stdout + done.stderr

"""What a person at a terminal sees that scripts do not: hints, examples, the prompt's who."""

from __future__ import annotations

import subprocess

import pytest

from tests.th_shell.test_cli import Terminal


def test_hints_examples_and_variables(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.theirs)
    with subprocess.Popen(command, env=environment, **streams) as program:
        terminal.until(b"th> ")
        for keys, shown in (
            (b"torch.rnad(2)\r", b"hint: there is torch.rand, torch.randn\r\n"),
            (b"?? torch.trace\r", b"Enter runs 1 (sets a), 1 the same, q leaves:"),
            (b"\r", b"th> torch.trace(a)\r\n5\t\r\n"),
            (b"who()\r", b"1 variable; 1 storage with 32 bytes\r\n"),
            (b"?? torch.trace\r", b"q leaves:"),
            (b"\x03", b"th> "),
        ):
            terminal.press(keys)
            terminal.until(shown)
        terminal.press(b"\x04")
        assert program.wait(60) == 0
    terminal.close()


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

"""The pager at a terminal, for help and lists that are longer than the screen."""

from pathlib import Path

import pytest

from tests.th_shell.terminals import Terminal


@pytest.mark.thorough
@pytest.mark.parametrize(("inputs", "is_paged"), [(60, True), (3, False)])
def test_what_is_longer_than_the_screen(
    command: list[str],
    environment: dict[str, str],
    tmp_path: Path,
    inputs: int,
    is_paged: bool,
) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged: $(wc -l) lines $1\n")
    pager.chmod(0o755)
    settings = {**environment, "PAGER": f"{pager} 'with words'"}
    terminal = Terminal()
    with terminal.running(command, env=settings):
        terminal.until(b"th> ")
        block = "\n".join(f"x = {number}" for number in range(inputs))
        terminal.press(f"\x1b[200~{block}\x1b[201~\r".encode())
        terminal.until(b"th> ")
        terminal.press(b"%history\r")
        shown = terminal.until(b"with words" if is_paged else b"3  x = 2")
        assert (b"paged: 60 lines" in shown) is is_paged
        terminal.press(b"5 + 6\r")
        terminal.until(b"11\t")
    terminal.close()

"""Which shell lines of a page are run."""

import pytest

from th_shell.docs.running.evaluation import refusal


@pytest.mark.parametrize(
    "command",
    ["cat hello.txt", 'echo "Hello World" > hello.txt', "ls", "mkdir a/b", "printf 'a b' >> c"],
)
def test_run(command: str) -> None:
    assert refusal(command) == ""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("lua", "starts a session: the lines after it run as the page's"),
        ("th -i x.lua", "starts a session: the lines after it run as the page's"),
        ("luarocks install torch", "not a shell line that this tool runs"),
        ("echo a; rm b", "not a shell line that this tool runs"),
        ("cat a | sh", "not a shell line that this tool runs"),
        ("echo `id`", "not a shell line that this tool runs"),
        ("echo $(id)", "not a shell line that this tool runs"),
        ("cat /etc/passwd", "not run: it names a path outside the page's folder"),
        ("cat ../a", "not run: it names a path outside the page's folder"),
        ("echo a >/tmp/b", "not run: it names a path outside the page's folder"),
        ("ls ~", "not run: it names a path outside the page's folder"),
        ("ls $HOME", "not run: it names a path outside the page's folder"),
        ("echo 'a", "not a shell line: No closing quotation"),
    ],
)
def test_not_run(command: str, why: str) -> None:
    assert refusal(command) == why

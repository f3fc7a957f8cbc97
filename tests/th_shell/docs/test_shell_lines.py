"""Which shell lines of a page are run, and that no shell sees their words."""

from pathlib import Path

import pytest

from th_shell.docs.running.processes import Engine, Starter
from th_shell.docs.running.shell_lines import ShellLine, parse_shell_line

NO_LINE = "not a shell line that this tool runs"
LEADS_OUT = "not run: it names a path outside the page's folder"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat hello.txt", ShellLine(["cat", "hello.txt"])),
        ('echo "Hello World" > a.txt', ShellLine(["echo", "Hello World"], "a.txt")),
        ("echo hi>a", ShellLine(["echo", "hi"], "a")),
        ("ls -la", ShellLine(["ls", "-la"])),
        ("mkdir a/b..c", ShellLine(["mkdir", "a/b..c"])),
        ("printf 'a b' >> c", ShellLine(["printf", "a b"], "c", True)),
        (r"""printf "%d/%s\n" "\"" '$x'""", ShellLine(["printf", r"%d/%s\n", '"', "$x"])),
        ("echo /etc -- --x ..", ShellLine(["echo", "/etc", "--", "--x", ".."])),
        ("echo a'b'\"c\"!", ShellLine(["echo", "abc!"])),
        ("echo '' \"a\nb\"", ShellLine(["echo", "", "a\nb"])),
    ],
)
def test_run(line: str, expected: ShellLine) -> None:
    assert parse_shell_line(line) == expected


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("lua", "starts a session: the lines after it run as the page's"),
        ("th -i x.lua", "starts a session: the lines after it run as the page's"),
        ("luarocks install torch", NO_LINE),
        ("", NO_LINE),
        ("echo a; rm b", NO_LINE),
        ("echo a && rm b", NO_LINE),
        ("echo a\nrm b", NO_LINE),
        ("cat a | sh", NO_LINE),
        ("echo `id`", NO_LINE),
        ("echo $(id)", NO_LINE),
        ('echo "$(id)"', NO_LINE),
        ('echo "`id`"', NO_LINE),
        ("touch x$IFS/abs", NO_LINE),
        ("cat {/a,}/b", NO_LINE),
        ("cat ?etc?passwd", NO_LINE),
        ("cat [/]etc/passwd", NO_LINE),
        ("cat *", NO_LINE),
        ("ls ~", NO_LINE),
        ("ls $HOME", NO_LINE),
        (r"cat \/etc/passwd", NO_LINE),
        ("cat x</abs", NO_LINE),
        ("cat < x", NO_LINE),
        ("cat a 2> b", NO_LINE),
        ("echo 2>b", NO_LINE),
        ("cat a > b > c", NO_LINE),
        ("cat a >& b", NO_LINE),
        ("cat a > b c", NO_LINE),
        ("cat a # remark", NO_LINE),
        ("cat 'a\0'", NO_LINE),
        ("cat /etc/passwd", LEADS_OUT),
        ("cat '/'etc/passwd", LEADS_OUT),
        ("cat a/../../b", LEADS_OUT),
        ("echo hi>/abs/file", LEADS_OUT),
        ("echo a > '../b'", LEADS_OUT),
        ("touch -r/etc/passwd a", LEADS_OUT),
        ("touch --reference=/etc/passwd a", LEADS_OUT),
        ("wc --files0-from a", LEADS_OUT),
        ("echo 'a", "not a shell line: No closing quotation"),
    ],
)
def test_not_run(line: str, why: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse_shell_line(line)
    assert str(raised.value) == why


@pytest.mark.sample(1)
@pytest.mark.parametrize("sandboxed", [False, True])
def test_no_shell_sees_the_words(starter: Starter, sandboxed: bool) -> None:
    run = starter.start(Engine(sandboxed=sandboxed), 0)
    assert run.shell(ShellLine(["echo", "$HOME *", ">b", ""])).output == "$HOME * >b \n"
    assert run.shell(ShellLine(["echo", "one é"], "a")).output == ""
    assert run.shell(ShellLine(["echo", "two"], "a", True)).output == ""
    assert run.shell(ShellLine(["cat", "a"])).output == "one é\ntwo\n"
    assert run.shell(ShellLine(["echo"], "no/a")).output == "no/a: No such file or directory\n"
    assert run.shell(ShellLine(["/no"])).output == "/no: No such file or directory\n"
    run.close()


def test_a_line_writes_nothing_outside(starter: Starter, tmp_path: Path) -> None:
    run = starter.start(Engine(sandboxed=True), 0)
    reply = run.shell(ShellLine(["echo", "hi"], f"{tmp_path}/a"))
    assert reply.output == f"{tmp_path}/a: Permission denied\n"
    assert not (tmp_path / "a").exists()
    run.close()

"""Runs are processes that leave nothing behind, however they end."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.docs.running import system
from th_shell.docs.running.processes import Engine, LostError, Starter, python_engine
from th_shell.docs.running.shell_lines import ShellLine

TOP = Path(__file__).parents[3]


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(process: int, seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_running(process)


@pytest.mark.parametrize(
    "how", ["sleep 1000 &", "setsid sleep 1000 &", "setsid sh -c 'sleep 1000 & sleep 1000' &"]
)
def test_processes_and_folder_go_with_the_run(starter: Starter, how: str) -> None:
    run = starter.start(Engine(), 0)
    folder = run.ask("input", b"io.popen('pwd'):read('*l')").output.strip()
    run.ask("run", f"os.execute([[{how} echo $! > pid]])".encode())
    process = int(Path(folder, "pid").read_text())
    assert is_running(process)
    run.close()
    assert not is_running(process)
    assert not Path(folder).parent.exists()


@pytest.mark.thorough
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_nothing_is_left_when_th_docs_is_ended(tmp_path: Path, ending: signal.Signals) -> None:
    if signal.getsignal(ending) is signal.SIG_IGN:
        pytest.skip("the tests were started without this signal")
    found = tmp_path / "found"
    (tmp_path / "page.md").write_text(
        f"```\nos.execute('setsid sleep 1000 & echo $! $PWD > {found}.new; "
        f"mv {found}.new {found}')\nwhile true do end\n```\n"
    )
    command = [sys.executable, "-m", "th_shell.docs", "page.md"]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    th_docs = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, start_new_session=True
    )
    while not found.exists():
        time.sleep(0.02)
    process, folder = found.read_text().split()
    th_docs.send_signal(ending)
    th_docs.communicate(timeout=10)
    assert th_docs.returncode in (-ending, 130)
    assert wait_until_gone(int(process))
    until = time.monotonic() + 10
    while Path(folder).parent.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(folder).parent.exists()


PARENT = data(__file__, "PARENT")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kill",
    [
        "kill -9 ' .. parent('self')",  # its keeper
        "kill -9 0'",  # its group
        "kill -15 ' .. parent('self') .. '; kill -9 $PPID'",
        pytest.param(  # takes as long as th-docs waits
            "kill -STOP ' .. parent('self') .. '; kill -9 $PPID'", marks=pytest.mark.slow
        ),
    ],
)
def test_a_page_that_kills_what_watches_it(kill: str) -> None:
    with Starter() as starter:
        other, run = starter.start(Engine(), 0), starter.start(Engine(), 0)
        folder = run.ask("input", b"io.popen('pwd'):read('*l')").output.strip()
        run.ask("run", PARENT.encode())
        run.ask("run", b"os.execute('setsid sleep 1000 & echo $! $PPID > pid')")
        processes = [int(word) for word in Path(folder, "pid").read_text().split()]
        with pytest.raises(LostError):
            run.ask("run", f"os.execute('{kill})".encode(), 1)
            time.sleep(0.1)  # the engine may reply before it ends
            run.ask("run")
        run.close()
        if "STOP" not in kill:
            assert wait_until_gone_folder(Path(folder).parent)
        assert other.ask("input", b"1").output == "1\t\n"
        other.close()
    assert not any(is_running(process) for process in processes)
    assert not Path(folder).parent.exists()


@pytest.mark.thorough
def test_a_page_that_kills_the_starter() -> None:
    with Starter() as starter:
        run = starter.start(Engine(), 0)
        run.ask("run", PARENT.encode())
        run.ask("run", b"os.execute('kill -9 ' .. parent(parent('self')))")
        assert run.ask("input", b"1").output == "1\t\n"
        run.close()
        time.sleep(0.05)
        run = starter.start(Engine(), 0)
        assert run.ask("input", b"2").output == "2\t\n"
        run.close()


def wait_until_gone_folder(folder: Path) -> bool:
    until = time.monotonic() + 10
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return not folder.exists()


def test_a_folder_without_permissions_is_removed(starter: Starter, tmp_path: Path) -> None:
    run = starter.start(Engine(), 0)
    folder = run.ask("input", b"io.popen('pwd'):read('*l')").output.strip()
    run.ask("run", b"os.execute('mkdir -p a/b; touch a/b/c; ln -s / all; chmod 0 a/b a .')")
    run.close()
    assert not Path(folder).parent.exists()
    # The tests may run as root, whom no permissions stop.
    top, other = tmp_path / "top", tmp_path / "other"
    (top / "page" / "inner").mkdir(parents=True)
    other.mkdir(mode=0o500)
    (top / "page" / "inner" / "file").touch()
    (top / "page" / "link").symlink_to(other)
    code = f"""
import os
from th_shell.docs.running.system import remove_folder
for folder in ({str(top)!r}, {str(top)!r} + "/page", {str(top)!r} + "/page/inner"):
    os.chown(folder, 65534, 65534) if os.geteuid() == 0 else None
os.chmod({str(top / "page" / "inner")!r}, 0)
os.chmod({str(top / "page")!r}, 0)
os.setuid(65534) if os.geteuid() == 0 else None
remove_folder({str(top)!r})
print(os.listdir({str(top)!r}) if os.path.exists({str(top)!r}) else [])
"""
    if os.geteuid() == 0:
        for folder_ in (tmp_path, *tmp_path.parents):
            if folder_ != folder_.parent and "pytest" in folder_.name:
                folder_.chmod(0o755)
    found = run_python("-c", code, env={**os.environ, "PYTHONPATH": str(TOP)})
    assert (found.stdout, found.stderr) == ("[]\n", "")
    assert other.stat().st_mode & 0o777 == 0o500


@pytest.mark.parametrize("how", ["rm -rf $PWD", "rm -rf $PWD/..", "cd ..; rmdir page"])
def test_a_page_that_removes_its_folder(starter: Starter, how: str) -> None:
    run = starter.start(Engine(), 0)
    folder = run.ask("input", b"io.popen('pwd'):read('*l')").output.strip()
    run.ask("run", f"os.execute('{how}')".encode())
    assert run.ask("input", b"1 + 1").output == "2\t\n"
    assert run.shell(ShellLine(["ls"])).output == ""
    run.close()
    assert not Path(folder).parent.exists()


FFI = data(__file__, "FFI").encode()


@pytest.mark.parametrize(("source", "how"), data(__file__, "test_a_page_that_hurts_its_engine"))
def test_a_page_that_hurts_its_engine(starter: Starter, source: str, how: str) -> None:
    run = starter.start(Engine(), 0)
    run.ask("run", FFI)
    with pytest.raises(LostError, match=how) as raised:
        run.ask("run", source.encode())
    assert "Traceback" not in raised.value.output
    run.close()


_FULL = "import os; os.ftruncate(1, 2**30); "


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "sandboxed"),
    [
        (f"{_FULL}print('x')", False),
        (f"{_FULL}print('x')", True),
        (f"{_FULL}import sys; sys.stderr.write('x\\n')", True),
        ("f = open('f', 'w'); f.seek(2**30); f.write('x'); f.close()", False),
        ("f = open('f', 'w'); f.seek(2**30); f.write('x'); f.close()", True),
        ("import os; s = os.system('truncate -s 1G /dev/stdout; echo x')", False),
        (f"import signal; s = signal.signal(signal.SIGXFSZ, signal.SIG_IGN); {_FULL}", True),
    ],
)
def test_python_that_writes_too_much(starter: Starter, source: str, sandboxed: bool) -> None:
    run = starter.start(replace(python_engine(), sandboxed=sandboxed), 0)
    with pytest.raises(LostError) as raised:
        run.ask("input", source.encode())
    assert str(raised.value) == "was killed: it has written more than 1024 MB into a file"
    run.close()


def test_a_child_or_a_shell_line_that_writes_too_much(starter: Starter) -> None:
    for command in (
        lambda run: run.ask("input", b"local _ = os.execute('truncate -s 1G /dev/stdout; echo x')"),
        lambda run: run.shell(ShellLine(["truncate", "-s", "1G", "/dev/stdout"])),
    ):
        run = starter.start(Engine(), 0)
        with pytest.raises(LostError) as raised:
            command(run)
        assert str(raised.value) == "was killed: it has written more than 1024 MB into a file"
        run.close()


def test_replies_to_no_request(starter: Starter) -> None:
    run = starter.start(Engine(), 0)
    run.ask("run", FFI + b" function reply() ffi.C.write(4, 'done 0\\n\\n', 8) end")
    run.ask("run", b"reply() reply()")
    time.sleep(0.05)
    with pytest.raises(LostError, match="it has written to the files of its engine"):
        run.ask("input", b"1")
    run.close()


def test_words_of_the_protocol_may_be_printed(starter: Starter) -> None:
    run = starter.start(Engine(), 0)
    words = "done 0\n\nvalues 0\n\nerror 3\nabc\n"
    reply = run.ask("input", f"io.stdout:write({words!r}) io.stderr:write('done 0\\n')".encode())
    assert (reply.output, reply.error) == (f"{words}done 0\n", None)
    run.close()


def test_a_page_that_empties_its_output(starter: Starter) -> None:
    run = starter.start(Engine(), 0)
    run.ask("input", b"print('before')")
    source = b"f = io.open('/dev/stdout', 'w') f:write('seen') f:close()"
    assert run.ask("input", source).output == "seen"
    assert run.ask("input", b"1").output == "1\t\n"
    run.close()


@pytest.mark.thorough
def test_memory_has_a_limit(starter: Starter) -> None:
    run = starter.start(Engine(memory=1 << 30), 0)
    assert run.ask("input", b"x = torch.zeros(5e7)").error is None
    error = run.ask("input", b"y = torch.zeros(1e9)").error
    assert error is not None and "not enough memory" in error
    assert run.ask("input", b"x:nElement()").output == "50000000\t\n"
    command = "import mmap; mmap.mmap(-1, 2 << 30)"
    reply = run.shell(ShellLine([sys.executable, "-c", command]))
    assert "Cannot allocate memory" in reply.output
    run.close()


def test_memory_has_a_limit_without_asking(starter: Starter) -> None:
    assert Engine().memory == 4 << 30
    run = starter.start(Engine(), 0)
    error = run.ask("run", b"t = {} for i = 1, 64 do t[i] = torch.Tensor(2^26) end").error
    assert error is not None and "not enough memory" in error
    assert run.ask("input", b"#t * 0.5 <= 4 and #t * 0.5 >= 3").output == "true\t\n"
    run.close()


def test_an_engine_that_cannot_be_started(starter: Starter) -> None:
    run = starter.start(Engine(["/no/such/engine"]), 0)
    with pytest.raises(LostError, match="ended with status 1") as raised:
        run.ask("begin")
    assert "/no/such/engine: No such file or directory" in raised.value.output
    run.close()


@pytest.mark.parametrize("listed", [system._CHILDREN, "/nowhere/children"])
def test_children_are_found_on_every_kernel(monkeypatch: pytest.MonkeyPatch, listed: str) -> None:
    monkeypatch.setattr(system, "_CHILDREN", listed)
    with subprocess.Popen(["sleep", "60"]) as process:
        assert process.pid in system._children()
        process.kill()

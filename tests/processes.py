"""Starts processes: th in ones that start quickly, Python in new ones.

A process that has imported the runtime, with numpy and all operations, forks for each `run_th`:
that saves 0.1 to 0.3 s that the imports take. How th starts is tested with real processes, in
tests/th_shell/test_cli.py, and what is loaded when in tests/runtime/host/test_late.py.
"""

import atexit
import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

TOP = Path(__file__).parents[1]


def run_th(
    *args: str | Path,
    input: str = "",
    cwd: Path = TOP,
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> subprocess.CompletedProcess[str]:
    """Run th with arguments; the like of `subprocess.run(..., capture_output=True, text=True)`."""
    words = [str(word) for word in args]
    request = {"words": words, "cwd": str(cwd), "env": dict(os.environ if env is None else env)}
    with TemporaryFile("w+") as text, TemporaryFile("w+") as out, TemporaryFile("w+") as errors:
        text.write(input)
        text.seek(0)
        server = _server()
        server.settimeout(timeout)
        files = [text.fileno(), out.fileno(), errors.fileno()]
        socket.send_fds(server, [json.dumps(request).encode()], files)
        try:
            status = os.waitstatus_to_exitcode(int(server.recv(64)))
        except TimeoutError:
            server.close()  # which ends the process
            _server.cache_clear()
            raise subprocess.TimeoutExpired(["th", *words], timeout) from None
        out.seek(0)
        errors.seek(0)
        printed = out.read(), errors.read()
    return subprocess.CompletedProcess(["th", *words], status, *printed)


def run_python(
    *words: str | Path, timeout: float = 300, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments in a new process; options as `subprocess.run` takes them."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        code = f"from tests.processes import serve; serve({theirs.fileno()})"
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=TOP,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def serve(descriptor: int) -> None:
    """Fork for each request from a socket, and answer with the child's status."""
    from th_shell.cli import main
    from th_shell.runtime.shell import preload_lapack, preload_operations, preload_random

    preload_operations()
    preload_random()
    preload_lapack()
    gc.freeze()
    server = socket.socket(fileno=descriptor)
    while True:
        data, files, _, _ = socket.recv_fds(server, 1 << 20, 3)
        if not data:
            os._exit(0)
        child = os.fork()
        if child == 0:
            server.close()
            request: dict[str, Any] = json.loads(data)
            for number, file in enumerate(files):
                os.dup2(file, number)
            os.closerange(3, 256)
            os.environ.clear()
            os.environ.update(request["env"])
            os.chdir(request["cwd"])
            sys.argv = ["th", *request["words"]]
            raise SystemExit(main())
        for file in files:
            os.close(file)
        server.send(b"%d" % os.waitpid(child, 0)[1])

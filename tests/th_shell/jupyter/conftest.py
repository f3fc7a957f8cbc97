"""What the tests of the kernel share: a kernel in a process of its own, and a client of it."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

from th_shell.jupyter.install import NAME, run

jupyter_client = pytest.importorskip("jupyter_client", reason="the extra 'jupyter' is missing")
pytest.importorskip("ipykernel", reason="the extra 'jupyter' is missing")

TIMEOUT = 30


class Client:
    """Sends requests to a kernel, and returns what it answers."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.channels = manager.blocking_client()
        self.channels.start_channels()
        self.channels.wait_for_ready(timeout=TIMEOUT)
        self.reply: dict[str, Any] = {}

    def send(self, code: str, **options: Any) -> str:
        """Send a cell to the kernel; returns the request's id."""
        options.setdefault("allow_stdin", False)
        return str(self.channels.execute(code, **options))

    def outputs(self, request: str, answers: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """The messages that a cell causes, until the kernel is idle again."""
        left = list(answers)
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            if left:
                self._answer(request, left)
            try:
                message = self.channels.get_iopub_msg(timeout=0.02 if left else TIMEOUT)
            except Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                self.reply = self.answer(request)
                return
            if message["msg_type"] not in ("status", "execute_input"):
                yield {"type": message["msg_type"], **content}
        raise TimeoutError

    def answer(self, request: str) -> dict[str, Any]:
        """The content of the reply to a request."""
        while True:
            message = self.channels.get_shell_msg(timeout=TIMEOUT)
            if message["parent_header"].get("msg_id") == request:
                return dict(message["content"])

    def run(self, code: str, answers: Sequence[str] = (), **options: Any) -> list[dict[str, Any]]:
        """Run a cell; answers: what is typed where it reads from the standard input."""
        request = self.send(code, allow_stdin=bool(answers), **options)
        return list(self.outputs(request, answers))

    def printed(self, code: str, answers: Sequence[str] = ()) -> dict[str, str]:
        """The text of each stream that a cell writes to."""
        texts: dict[str, str] = {}
        for output in self.run(code, answers):
            assert output["type"] == "stream", output
            texts[output["name"]] = texts.get(output["name"], "") + output["text"]
        return texts

    def result(self, code: str) -> dict[str, str]:
        """The data of the value of a cell that prints nothing."""
        (output,) = self.run(code)
        assert output["type"] == "execute_result", output
        return dict(output["data"])

    def _answer(self, request: str, left: list[str]) -> None:
        try:
            message = self.channels.get_stdin_msg(timeout=0)
        except Empty:
            return
        assert message["msg_type"] == "input_request"
        # A cell that was interrupted leaves its question; an answer to that would be dropped.
        if message["parent_header"].get("msg_id") == request:
            self.channels.input(left.pop(0))


@pytest.fixture(scope="session")
def spec_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of kernelspecs that th was installed in."""
    prefix = tmp_path_factory.mktemp("prefix")
    assert run(["install", "--prefix", str(prefix)]) == 0
    return prefix / "share" / "jupyter" / "kernels"


@pytest.fixture(scope="session")
def start(spec_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Starts kernels, which end with the tests."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager

    folder = tmp_path_factory.mktemp("notebooks")
    clients: list[Client] = []

    def start_one(**variables: str) -> Client:
        specs = KernelSpecManager(kernel_dirs=[str(spec_folder)])
        manager = KernelManager(kernel_name=NAME, kernel_spec_manager=specs)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("TREPL", "LUA_"))}
        manager.start_kernel(cwd=str(folder), env=kept | {"HOME": str(folder)} | variables)
        clients.append(Client(manager))
        return clients[-1]

    yield start_one
    for client in clients:
        client.channels.stop_channels()
        client.manager.shutdown_kernel(now=True)
        client.manager.cleanup_resources()


@pytest.fixture(scope="session")
def kernel(start: Any) -> Client:
    """A kernel that most tests share: they use names of their own."""
    client: Client = start()
    return client

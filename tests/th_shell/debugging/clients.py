"""A client of the Debug Adapter Protocol, as an editor is one: for tests of `th --dap`."""

import json
import os
import select
import subprocess
from pathlib import Path
from typing import Any

PATIENCE = 30  # seconds


class Client:
    """Speaks to a process that serves the protocol; each message goes to `check`, too."""

    def __init__(self, process: subprocess.Popen[bytes], check: Any) -> None:
        self.process = process
        self._check = check
        self._number = 0
        self._data = b""
        self.events: list[dict[str, Any]] = []
        self._answers: dict[int, dict[str, Any]] = {}

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request; returns its number."""
        self._number += 1
        message = {
            "seq": self._number,
            "type": "request",
            "command": command,
            "arguments": arguments,
        }
        self._check(message)
        data = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()
        return self._number

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The body of the answer to a request that is done."""
        answer = self.answer(self.send(command, **arguments))
        assert answer["success"], answer
        body: dict[str, Any] = answer.get("body", {})
        return body

    def refusal(self, command: str, **arguments: Any) -> str:
        """The message of the answer to a request that is not done."""
        answer = self.answer(self.send(command, **arguments))
        assert not answer["success"], answer
        return str(answer["message"])

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to the request with a number."""
        while number not in self._answers:
            self._receive()
        return self._answers[number]

    def wait(self, event: str) -> dict[str, Any]:
        """The body of the next event of a name; those before it are dropped, but output."""
        while True:
            for at, one in enumerate(self.events):
                if one["event"] == event:
                    del self.events[at]
                    body: dict[str, Any] = one.get("body", {})
                    return body
            self._receive()

    def output(self, category: str = "stdout") -> str:
        """What the program has written so far."""
        bodies = [one["body"] for one in self.events if one["event"] == "output"]
        return "".join(one["output"] for one in bodies if one["category"] == category)

    def _receive(self) -> None:
        message = json.loads(self._read_body())
        self._check(message)
        if message["type"] == "event":
            self.events.append(message)
        else:
            self._answers[message["request_seq"]] = message

    def _read_body(self) -> bytes:
        while b"\r\n\r\n" not in self._data:
            self._read_more()
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        length = int(head.removeprefix(b"Content-Length: "))
        while len(self._data) < length:
            self._read_more()
        body, self._data = self._data[:length], self._data[length:]
        return body

    def _read_more(self) -> None:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], PATIENCE)[0], "no message comes"
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        assert data, "the adapter has ended"
        self._data += data

    # -- what an editor does

    def launch(self, program: Path, *lines: int, **arguments: Any) -> None:
        """Begin a program with breakpoints at lines."""
        self.ask("initialize", adapterID="th", linesStartAt1=True, pathFormat="path")
        self.wait("initialized")
        self.ask("launch", program=str(program), **arguments)
        self.set_breakpoints(program, *({"line": line} for line in lines))
        self.ask("setExceptionBreakpoints", filters=["uncaught"])
        self.ask("configurationDone")

    def set_breakpoints(self, program: Path, *breakpoints: dict[str, Any]) -> list[dict[str, Any]]:
        """Set the breakpoints of a file; returns what the adapter tells of them."""
        found = self.ask(
            "setBreakpoints", source={"path": str(program)}, breakpoints=list(breakpoints)
        )["breakpoints"]
        assert len(found) == len(breakpoints)
        return list(found)

    def stopped(self) -> tuple[str, int]:
        """Why the program has stopped next, and the line where."""
        reason = self.wait("stopped")["reason"]
        return reason, self.ask("stackTrace", threadId=1)["stackFrames"][0]["line"]

    def variables(self, scope: str, frame: int = 1) -> dict[str, dict[str, Any]]:
        """The variables of a scope by their names."""
        scopes = self.ask("scopes", frameId=frame)["scopes"]
        number = next(one["variablesReference"] for one in scopes if one["name"] == scope)
        return self.parts(number)

    def parts(self, number: int) -> dict[str, dict[str, Any]]:
        """The parts of a value by their names."""
        found = self.ask("variables", variablesReference=number)["variables"]
        return {one["name"]: one for one in found}

    def go(self, command: str) -> tuple[str, int]:
        """Let the program go on, until it stops again."""
        self.ask(command, threadId=1)
        return self.stopped()

    def finish(self) -> int:
        """Let the program go on to its end; returns its exit status."""
        self.ask("continue", threadId=1)
        return self.ended()

    def ended(self) -> int:
        """The exit status of a program that ends, with which the adapter ends, too."""
        status = self.wait("exited")["exitCode"]
        self.wait("terminated")
        self.ask("disconnect")
        assert self.process.wait(PATIENCE) == status
        return int(status)

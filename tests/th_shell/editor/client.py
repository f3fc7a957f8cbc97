"""A small editor: speaks the language server protocol with a process of th."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_TIMEOUT = 60.0


class Client:
    """A server on a folder. Columns are in units of UTF-16, lines from 0."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "th_shell", "--lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            bufsize=0,
        )
        self._data = b""
        self._id = 0
        self._versions: dict[str, int] = {}
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.capabilities = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": "test"}],
                "capabilities": {},
            },
        )["capabilities"]
        self.notify("initialized", {})

    def close(self) -> str:
        """End the server as editors do; returns what it wrote to its standard error."""
        self.request("shutdown", None)
        self.notify("exit", None)
        errors = self._process.communicate(timeout=_TIMEOUT)[1]
        assert self._process.returncode == 0
        return errors.decode()

    # -- messages

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        """Ask for something; returns the result."""
        message = self._answer(method, params)
        assert "error" not in message, message["error"]
        return message["result"]

    def refusal(self, what: str, name: str, line: int, character: int, **more: Any) -> str:
        """Ask for something that is refused; returns why."""
        params = self._place(name, line, character)
        message = self._answer(f"textDocument/{what}", {**params, **more})
        return str(message["error"]["message"])

    def _answer(self, method: str, params: Any) -> dict[str, Any]:
        self._id += 1
        wanted = self._id
        self._send({"id": wanted, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == wanted and "method" not in message:
                return message

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))

    def _receive(self) -> dict[str, Any]:
        head = self._read_until(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        while len(self._data) < length:
            self._more()
        data, self._data = self._data[:length], self._data[length:]
        message: dict[str, Any] = json.loads(data)
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.diagnostics[params["uri"]] = params["diagnostics"]
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": None})
        return message

    def _read_until(self, mark: bytes) -> bytes:
        while mark not in self._data:
            self._more()
        head, self._data = self._data.split(mark, 1)
        return head

    def _more(self) -> None:
        assert self._process.stdout is not None
        ready = select.select([self._process.stdout], [], [], _TIMEOUT)[0]
        data = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
        if not data:
            self._process.kill()
            raise AssertionError(f"no answer: {self._process.communicate()[1].decode()}")
        self._data += data

    # -- documents

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str | None = None) -> list[dict[str, Any]]:
        """Open a file, or one with this text; returns its diagnostics (of a program)."""
        text = (self.folder / name).read_text() if text is None else text
        uri = self.uri(name)
        self._versions[uri] = 1
        language = "lua" if name.endswith(".lua") else "markdown"
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.diagnostics.pop(uri, None)
        self.notify("textDocument/didOpen", {"textDocument": document})
        return self.wait(uri) if language == "lua" else []

    def change(self, name: str, text: str) -> list[dict[str, Any]]:
        """Type another text; returns the diagnostics."""
        uri = self.uri(name)
        self._versions[uri] += 1
        self.diagnostics.pop(uri, None)
        document = {"uri": uri, "version": self._versions[uri]}
        self.notify(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": [{"text": text}]},
        )
        return self.wait(uri)

    def wait(self, uri: str) -> list[dict[str, Any]]:
        """Wait for the next diagnostics of a document."""
        limit = time.monotonic() + _TIMEOUT
        while uri not in self.diagnostics:
            assert time.monotonic() < limit
            self._receive()
        return self.diagnostics[uri]

    def at(self, what: str, name: str, line: int, character: int, **more: Any) -> Any:
        """Ask for something of a place: 'hover', 'completion' and so on."""
        return self.request(f"textDocument/{what}", {**self._place(name, line, character), **more})

    def of(self, what: str, name: str, **more: Any) -> Any:
        """Ask for something of a whole document."""
        return self.request(
            f"textDocument/{what}", {"textDocument": {"uri": self.uri(name)}, **more}
        )

    def _place(self, name: str, line: int, character: int) -> dict[str, Any]:
        return {
            "textDocument": {"uri": self.uri(name)},
            "position": {"line": line, "character": character},
        }

"""Makes the picture of the notebook page: cells that run in a real JupyterLab, in Chromium.

    python -m tests.th_shell.jupyter.screenshot

Needs JupyterLab beside th, with the kernel installed (`th --jupyter install --sys-prefix`), and
chromium-headless-shell.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import websocket  # type: ignore[import-not-found]  # comes with JupyterLab

PICTURE = Path(__file__).parents[3] / "th_shell/jupyter/notebook.png"
CELLS = (
    "x = torch.range(1, 6):resize(2, 3)\nx * 2",
    "for i = 1, 20 do xlua.progress(i, 20) sys.sleep(0.05) end",
    "require 'image'\nx = torch.linspace(0, 1, 60)\nimage.display(torch.ger(x, x))",
    "x + torch.ones(4)",
)
LAB, BROWSER = 18943, 18944  # ports
PATIENCE = 60  # seconds
READY = "!!document.querySelector('.jp-Notebook-ExecutionIndicator[data-status=idle]')"
DONE = (
    "![...document.querySelectorAll('.jp-InputPrompt')].some(one => one.innerText == '[*]:')"
    " && document.querySelectorAll('.jp-OutputArea-output').length >= %d"
)


def notebook() -> dict[str, Any]:
    """Return a notebook with the cells."""
    blank = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**blank, "id": f"cell{n}", "source": source} for n, source in enumerate(CELLS)]
    spec = {"name": "th", "display_name": "Torch7 (th)", "language": "lua"}
    return {
        "cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip


class Page:
    """A page of the browser, by the DevTools protocol."""

    def __init__(self) -> None:
        pages = fetched(f"http://127.0.0.1:{BROWSER}/json")
        self._socket = websocket.create_connection(pages[0]["webSocketDebuggerUrl"])
        self._number = 0

    def call(self, method: str, **arguments: Any) -> Any:
        """Call a method; returns its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": arguments}
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._number:
                return answer["result"]

    def value(self, code: str) -> Any:
        """Return the value of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True)
        return answer["result"].get("value")

    def wait(self, code: str) -> None:
        """Wait until JavaScript is true."""
        deadline = time.monotonic() + PATIENCE
        while not self.value(code):
            assert time.monotonic() < deadline, code
            time.sleep(0.2)

    def run_cell(self) -> None:
        """Press Shift-Enter."""
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": 8}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **key)


def fetched(address: str) -> Any:
    """Return the JSON at an address, when it answers."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(address) as answer:
                return json.load(answer)
        except OSError:
            assert time.monotonic() < deadline, address
            time.sleep(0.2)


def shot(page: Page) -> bytes:
    """Run the cells of a page, and return its picture."""
    page.call("Page.navigate", url=f"http://127.0.0.1:{LAB}/doc/tree/session.ipynb?reset")
    page.wait(READY)
    time.sleep(3)  # the page is still being laid out
    page.value("document.querySelector('.jp-Notebook .cm-content').focus()")
    for number in range(len(CELLS)):
        page.run_cell()
        page.wait(DONE % (number + 1))
    time.sleep(1)
    page.value("document.querySelectorAll('.Toastify').forEach(one => one.remove())")
    return base64.b64decode(page.call("Page.captureScreenshot")["data"])


def main() -> None:
    """Write the picture."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        (Path(folder) / "session.ipynb").write_text(json.dumps(notebook()))
        lab = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        lab += [f"--port={LAB}", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
        browser = ["chromium-headless-shell", "--no-sandbox", "--window-size=860,800"]
        browser += [f"--remote-debugging-port={BROWSER}", "--remote-allow-origins=*"]
        for words in (lab, [*browser, f"--user-data-dir={folder}/browser", "about:blank"]):
            process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
        fetched(f"http://127.0.0.1:{LAB}/api")
        PICTURE.write_bytes(shot(Page()))


if __name__ == "__main__":
    main()

"""The messages of the Debug Adapter Protocol.

They are plain dictionaries; tests hold them against the protocol's schema. The libraries that have
types of them are not kept well, or need pydantic.
"""

import itertools
import json
import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from th_shell.captured import NAMES, CapturedStream
from th_shell.debugging.frames import Frame
from th_shell.files import write_all
from th_shell.messages import NoMessageError, read_message

Message = dict[str, Any]


class Refused(Exception):
    """Why a request cannot be done; the client is told."""


class Wire:
    """The two ends of a client: where its requests come from, and where messages go."""

    def __init__(self, source: int, target: int) -> None:
        """Connect the file descriptors of a client's requests and of the messages to it."""
        self._source = os.fdopen(source, "rb")
        #: Why what the client has sent last is no request, or ''.
        self.problem = ""
        self._target = target
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def read(self) -> Message | None:
        """Return the next request; None where the client has gone, or `problem` says why there is
        none.
        """
        try:
            request: Message | None = json.loads(read_message(self._source) or "null")
            return request
        except NoMessageError as error:
            self.problem = str(error)
            return None

    def event(self, name: str, **body: Any) -> None:
        """Tell the client that something has happened."""
        self._write({"type": "event", "event": name, "body": body})

    def answer(self, request: Message, body: Message | None = None, problem: str = "") -> None:
        """Answer a request; problem: why it was not done."""
        answer: Message = {
            "type": "response",
            "request_seq": request.get("seq", 0),
            "command": str(request.get("command", "")),
            "success": not problem,
        }
        if problem:
            answer["message"] = problem
        if body is not None:
            answer["body"] = body
        self._write(answer)

    def _write(self, message: Message) -> None:
        with self._lock:
            data = json.dumps({"seq": next(self._numbers), **message}).encode()
            with suppress(OSError):  # the client has gone, which `read` tells
                write_all(self._target, b"Content-Length: %d\r\n\r\n%s" % (len(data), data))


# -- parts of messages


_SUPPORTED = (
    "ConfigurationDoneRequest ConditionalBreakpoints HitConditionalBreakpoints LogPoints "
    "FunctionBreakpoints EvaluateForHovers ClipboardContext SetVariable SetExpression "
    "CompletionsRequest ExceptionInfoRequest RestartRequest TerminateRequest"
)
CAPABILITIES: Message = {
    **{f"supports{name}": True for name in _SUPPORTED.split()},
    "completionTriggerCharacters": [".", ":"],
    "exceptionBreakpointFilters": [
        {"filter": "uncaught", "label": "Uncaught errors", "default": True}
    ],
}


def breakpoint_fields(path: str, asked: Message) -> tuple[str | int, ...]:
    """Return what the engine gets of a breakpoint in a file, or '' of a function."""
    place = (path, int(asked["line"])) if path else (asked["name"], 0)
    keys = ("condition", "hitCondition", "logMessage")
    return (*place, *(str(asked.get(key) or "") for key in keys))


def breakpoint_body(found: int | str, asked: Message, number: int) -> Message:
    """Return the description of a breakpoint; found: its line, 0, or a message."""
    is_there = found and not isinstance(found, str)
    place = {"id": number}
    if "line" in asked:
        place = {"line": int(found) if is_there else asked["line"]}
    message = {} if is_there else {"message": found or "no code is there"}
    return {"verified": bool(is_there), **place, **message}


def frame_body(frame: Frame) -> Message:
    """Return the description of a frame."""
    source: Message = {"name": os.path.basename(frame.chunk)}
    if frame.source.startswith("@"):
        source["path"] = os.path.abspath(frame.chunk)
    return {
        "id": frame.number, "name": frame.name, "line": frame.line, "column": 1, "source": source,
    }  # fmt: skip


def checked(answer: list[Any]) -> list[Any]:
    """Return the facts on a value without the mark of success. Raises Refused for a failure."""
    ok, *facts = answer
    if not ok:
        raise Refused(str(facts[0]))
    return facts


# -- the program's output


class Captured:
    """Replaces the descriptors 1 and 2 of the process. tell: gets a stream's name and a text."""

    def __init__(self, tell: Callable[[str, str], object]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._streams = [CapturedStream(descriptor) for descriptor in NAMES]
        threading.Thread(target=self._read_on, daemon=True).start()

    def _read_on(self) -> None:
        while True:
            select.select([stream.pipe for stream in self._streams], [], [])
            self.pass_on()

    def pass_on(self) -> None:
        """Tell of all that has arrived."""
        with self._lock:
            for stream in self._streams:
                while text := stream.read():
                    self._tell(stream.name, text)

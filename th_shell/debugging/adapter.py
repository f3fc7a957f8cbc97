"""`th --dap`: runs a program for an editor that speaks the Debug Adapter Protocol.

A thread reads the client's requests; the main thread runs the program, and answers them: before it
runs, where it has stopped, after its end, and between two of its lines, since the engine then asks
(`Engine.ask_debugger`). To end the program, nobody has to wait for that.
"""

import os
import queue
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from itertools import chain, count
from typing import Any

from th_shell.completing.complete import complete_code
from th_shell.debugging import client
from th_shell.debugging.client import Captured, Message, Refused, Wire, checked
from th_shell.debugging.frames import Frame, Variable, read_frames, read_parts, read_variables
from th_shell.runtime.shell import Dialogue, Engine, LuaError, Stop
from th_shell.visible import UsageError, complain

#: Makes an engine ready for a program and its words.
Prepare = Callable[[Engine, str, Sequence[str]], None]
#: Writes an error that nothing has caught.
Report = Callable[[LuaError], None]

#: The steps of an answer to a request.
Answer = Generator[tuple[Any, ...], list[Any], "Message | None"]

_PATIENCE = 2.0  # seconds until a program that does not end is killed
_WAYS = {"continue": "continue", "next": "next", "stepIn": "step", "stepOut": "finish"}
#: Reasons that the protocol calls otherwise.
_REASONS = {"call": "breakpoint", "error": "exception", "next": "step", "finish": "step"}
_RUNNING = ("attention", "long", "found")  # no stops
_THREAD = {"id": 1, "name": "main"}
# The numbers of scopes, by which their variables are asked for, are those of frames and:
_SCOPES = {"Locals": 10_000_000, "Upvalues": 20_000_000, "Globals": 30_000_000}
_KINDS = {"Locals": ("local", "vararg"), "Upvalues": ("upvalue",)}
#: Where the numbers of a tensor are shown.
_WHOLE = ("repl", "hover", "clipboard")


def run(words: Sequence[str], prepare: Prepare, report: Report) -> int:
    """Serve the client at the standard input and output; return the exit status."""
    if words:
        raise UsageError("--dap takes nothing: the editor says what is run")
    wire = Wire(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    errors = os.dup(2)
    status = Adapter(wire, prepare, report).serve()
    if not wire.problem:
        return status
    os.dup2(errors, 2)  # the program's output had taken its place
    complain(wire.problem)
    return 1


class Adapter:
    """Answers the requests of one client, and runs its program."""

    def __init__(self, wire: Wire, prepare: Prepare, report: Report) -> None:
        self._wire = wire
        self._prepare = prepare
        self._report = report
        self._output = Captured(lambda name, text: wire.event("output", category=name, output=text))
        self._begin_engine()
        self._requests: queue.Queue[Message | None] = queue.Queue()
        self._launch: Message = {}
        self._launched: Message = {}  # the latest one
        self._again: Message | None = None  # the launch of a program that is to run again
        #: All fields of breakpoints (see engine/debugging.py), by file; '': those of functions.
        self._breakpoints: dict[str, list[tuple[str | int, ...]]] = {}
        self._errors = ""  # at which the program stops
        self._pauses = False  # whether the program is to stop at its next line
        self._is_configured = self._runs = False
        self._ends = self._is_over = False  # the program is to end; the client leaves
        self._restarts = False  # the program is to end, and to run again
        self._status = 0

    def _begin_engine(self) -> None:
        self._engine = Engine()
        self._engine.debugging.debug_by(self._stopped)
        self._stop: Stop | None = None
        self._frames: list[Frame] = []
        # The scope, '' of any other value, and the frame of what has a number.
        self._scope_of: dict[int, tuple[str, int]] = {}

    def serve(self) -> int:
        """Answer all requests until the client leaves; return the program's exit status."""
        threading.Thread(target=self._read_on, daemon=True).start()
        while not self._is_over:
            self._engine.debugging.examine(self._handle(self._requests.get() or {}))
            while self._launch and self._is_configured or self._again:
                if self._again:
                    self._begin_again(self._again)
                self._run_program()
        self._output.pass_on()
        return self._status

    def _read_on(self) -> None:
        while request := self._wire.read():
            command = request.get("command")
            restarts = command == "restart" and self._runs
            self._restarts |= restarts
            self._requests.put(request)
            if restarts or command in ("disconnect", "terminate"):
                self._end_soon()
            elif self._runs:
                self._engine.debugging.ask_debugger()
        self._requests.put(None)
        self._end_soon()

    def _end_soon(self) -> None:
        self._ends = True
        if self._runs:
            self._engine.interrupt()
            killing = threading.Timer(_PATIENCE, self._kill, [self._engine])
            killing.daemon = True
            killing.start()

    def _kill(self, engine: Engine) -> None:
        if self._runs and self._engine is engine:
            os._exit(1)

    # -- the program

    def _run_program(self) -> None:
        launch, self._launch = self._launch, {}
        self._runs = True
        try:
            with self._engine.interruptible(), self._engine.before_exit(self._tell_end):
                self._engine.debugging.ask_debugger()  # of what has come before that could be heard
                self._engine.run(self._engine.compile_file(launch["program"]))
        except LuaError as error:
            self._status = 1
            self._engine.flush()
            if not self._ends:
                self._report(error)
        self._engine.flush()
        self._runs = False
        if self._restarts:
            return
        self._wire.event("exited", exitCode=self._status)
        self._tell_end()

    def _begin_again(self, launch: Message) -> None:
        """Begin anew after a program has ended, with the same breakpoints."""

        def prepare() -> Dialogue:
            yield ("breakpoints", *chain(*chain(*self._breakpoints.values())))
            yield ("errors", self._errors)
            with suppress(Refused):
                yield from self._do_launch(launch)

        self._launch = {"program": launch["program"]}  # be it there or not
        self._ends = self._restarts = False
        self._status, self._again = 0, None
        self._engine.close()
        self._begin_engine()
        self._engine.debugging.examine(prepare())

    def _tell_end(self) -> None:
        self._output.pass_on()
        self._wire.event("terminated")

    def _stopped(self, stop: Stop) -> Dialogue:
        """Return the dialogue where the program has stopped."""
        self._output.pass_on()
        if stop.reason in _RUNNING or self._ends:
            yield from self._attend(stop)
            return
        self._stop, self._frames = stop, read_frames((yield ("frames",)))
        reason = _REASONS.get(stop.reason, stop.reason)
        self._wire.event(
            "stopped", reason=reason, threadId=_THREAD["id"], allThreadsStopped=True,
            **{"text": stop.detail} if stop.detail else {},
        )  # fmt: skip
        way = None
        while way is None and not self._ends:
            request = self._requests.get() or {}
            yield from self._handle(request)
            way = _WAYS.get(str(request.get("command")))
        self._stop, self._frames, self._scope_of = None, [], {}
        yield ("go", "quit" if self._ends else way, 1)

    def _attend(self, stop: Stop) -> Dialogue:
        """Tell what there is to tell, and answer what can be answered, while the program runs."""
        if stop.reason == "long":
            self._wire.event("output", category="console", output=f"{stop.detail} runs\n")
        elif stop.reason == "found":
            told = {"id": int(stop.detail), "verified": True}
            self._wire.event("breakpoint", reason="changed", breakpoint=told)
        while not self._requests.empty():
            yield from self._handle(self._requests.get() or {})
        pauses, self._pauses = self._pauses, False
        yield ("go", "quit" if self._ends else "pause" if pauses else "on", 1)

    # -- requests: each has a method that is named after it

    def _handle(self, request: Message) -> Dialogue:
        """Answer a request; none where the client has gone."""
        if not request:
            self._is_over = True
            return
        handler = getattr(self, f"_do_{request.get('command')}", None)
        try:
            if handler is None:
                raise Refused("this is not supported")
            result = handler(request.get("arguments") or {})
            body = (yield from result) if isinstance(result, Generator) else result
        except Refused as error:
            self._wire.answer(request, problem=str(error))
        except KeyError as error:
            self._wire.answer(request, problem=f"an argument is missing: {error.args[0]}")
        except (AttributeError, TypeError, ValueError, OverflowError, OSError):  # no such JSON
            self._wire.answer(request, problem="wrong arguments")
        else:
            self._wire.answer(request, body)
            if request["command"] == "initialize":
                self._wire.event("initialized")

    def _do_initialize(self, _: Message) -> Message | None:
        return client.CAPABILITIES

    def _do_launch(self, arguments: Message) -> Answer:
        program = arguments["program"]
        if arguments.get("cwd"):
            try:
                os.chdir(arguments["cwd"])
            except OSError as error:
                raise Refused(f"{arguments['cwd']}: {error.strerror}") from None
        if not os.path.isfile(program):
            raise Refused(f"{program}: No such file")
        os.environ.update({str(k): str(v) for k, v in (arguments.get("env") or {}).items()})
        self._prepare(self._engine, program, [str(word) for word in arguments.get("args") or ()])
        self._engine.run(self._engine.compile(b"io.stdout:setvbuf('line')"))
        if arguments.get("stopOnEntry"):
            yield ("enter", os.path.abspath(program))
        self._launch = {"program": program}
        self._launched = {**arguments, "cwd": os.getcwd()}
        return None

    def _do_configurationDone(self, _: Message) -> Message | None:
        self._is_configured = True
        return None

    def _do_setBreakpoints(self, arguments: Message) -> Answer:
        return (yield from self._set(os.path.abspath(arguments["source"]["path"]), arguments))

    def _do_setFunctionBreakpoints(self, arguments: Message) -> Answer:
        return (yield from self._set("", arguments))

    def _set(self, path: str, arguments: Message) -> Answer:
        """Set the breakpoints of a file, or '' of functions."""
        asked = list(arguments.get("breakpoints") or ())
        rows = [client.breakpoint_fields(path, one) for one in asked]
        self._breakpoints.pop(path, None)
        self._breakpoints[path] = rows  # the last ones
        lines = yield ("breakpoints", *chain(*chain(*self._breakpoints.values())))
        found = map(client.breakpoint_body, lines[len(lines) - len(rows) :], asked, count(1))
        return {"breakpoints": list(found)}

    def _do_setExceptionBreakpoints(self, arguments: Message) -> Answer:
        self._errors = "uncaught" if "uncaught" in arguments["filters"] else ""
        yield ("errors", self._errors)
        return {"breakpoints": []}

    def _do_threads(self, _: Message) -> Message | None:
        return {"threads": [_THREAD]}

    def _do_stackTrace(self, arguments: Message) -> Message | None:
        start, most = arguments.get("startFrame") or 0, arguments.get("levels") or None
        shown = [client.frame_body(frame) for frame in self._frames[start:][:most]]
        return {"stackFrames": shown, "totalFrames": len(self._frames)}

    def _do_scopes(self, arguments: Message) -> Message | None:
        frame = self._frame(arguments)
        self._scope_of.update({base + frame: (name, frame) for name, base in _SCOPES.items()})
        scopes: list[Message] = [
            {"name": name, "variablesReference": base + frame, "expensive": name == "Globals"}
            for name, base in _SCOPES.items()
        ]
        return {"scopes": scopes}

    def _frame(self, arguments: Message) -> int:
        """Return the number of the frame that a request is about, by default the innermost one."""
        frame = int(arguments.get("frameId") or 1)
        if not 0 < frame <= len(self._frames):
            raise Refused("the program has not stopped there")
        return frame

    def _do_variables(self, arguments: Message) -> Answer:
        number = int(arguments["variablesReference"])
        scope, frame = self._scope(number)
        if scope in _KINDS:
            listed = read_variables((yield ("variables", frame)))
            variables = [variable for variable in listed if variable.kind in _KINDS[scope]][::-1]
        else:
            if scope:
                number = (yield ("evaluate", frame, "_G"))[3]
            variables = read_parts((yield ("parts", number)))
        return {"variables": [self._variable_body(variable, frame) for variable in variables]}

    def _scope(self, number: int) -> tuple[str, int]:
        """Return the name of the scope with a number, '' of another value; and its frame."""
        if number not in self._scope_of:
            raise Refused("this value is no longer there")
        return self._scope_of[number]

    def _variable_body(self, variable: Variable, frame: int) -> Message:
        return {
            "name": variable.name,
            **self._value_body([variable.text, variable.type, variable.number], frame),
        }

    def _value_body(self, facts: list[Any], frame: int, name: str = "value") -> Message:
        text, kind, number = facts
        self._scope_of[int(number)] = "", frame
        return {name: text, "type": kind, "variablesReference": int(number)}

    def _do_evaluate(self, arguments: Message) -> Answer:
        frame = self._frame(arguments)
        shows_numbers = arguments.get("context") in _WHOLE
        facts = checked((yield ("evaluate", frame, arguments["expression"], shows_numbers)))
        return self._value_body(facts, frame, "result")

    def _do_setVariable(self, arguments: Message) -> Answer:
        number = int(arguments["variablesReference"])
        name, value = arguments["name"], arguments["value"]
        scope, frame = self._scope(number)
        if not scope:
            facts = checked((yield ("set", frame, number, name, value)))
            return self._value_body(facts, frame)
        return (yield from self._assign(frame, name, value))

    def _do_setExpression(self, arguments: Message) -> Answer:
        frame = self._frame(arguments)
        return (yield from self._assign(frame, arguments["expression"], arguments["value"]))

    def _assign(self, frame: int, target: str, value: str) -> Answer:
        checked((yield ("evaluate", frame, f"{target} = {value}")))
        return self._value_body(checked((yield ("evaluate", frame, target))), frame)

    def _do_completions(self, arguments: Message) -> Answer:
        line, column = int(arguments.get("line") or 1), int(arguments["column"])
        *above, last = str(arguments["text"]).split("\n")[:line]
        before = "\n".join([*above, last[: column - 1]])
        yield ("lend", self._frame(arguments))
        found = complete_code(before, "", 0, self._engine)
        yield ("give_back",)
        place = {"start": found.start + 1, "length": len(before) - found.start}
        return {"targets": [{"label": one.text, **place} for one in found.candidates]}

    def _do_exceptionInfo(self, _: Message) -> Message | None:
        if self._stop is None or self._stop.reason != "error":
            raise Refused("the program has not stopped at an error")
        return {"exceptionId": "error", "description": self._stop.detail, "breakMode": "unhandled"}

    def _do_continue(self, _: Message) -> Message | None:
        if not self._frames:
            raise Refused("the program has not stopped")
        return {"allThreadsContinued": True}

    _do_next = _do_stepIn = _do_stepOut = _do_continue

    def _do_pause(self, _: Message) -> Message | None:
        self._pauses = True
        return None

    def _do_restart(self, arguments: Message) -> Message | None:
        if not self._restarts:
            raise Refused("no program runs")
        self._ends, self._again = True, arguments.get("arguments") or self._launched
        return None

    def _do_terminate(self, _: Message) -> Message | None:
        self._ends = True
        return None

    def _do_disconnect(self, _: Message) -> Message | None:
        self._ends = self._is_over = True
        return None

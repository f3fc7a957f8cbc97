"""The command ``th``: runs statements, libraries and scripts, and then the prompt if it is wanted.

Modules are imported only where they are needed: the help needs no Lua, and a script no terminal
library. Also, a closed pipe ends the program quietly even before numpy is imported, as Ctrl-C does
(`start_up.py`).
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from th_shell.options import Action, Options, parse, usage
from th_shell.packages.place import search_users_tree
from th_shell.visible import UsageError, can_show_first, complain, visible, visible_line

if TYPE_CHECKING:
    from th_shell.runtime.shell import Dialogue, Engine, LuaError, Stop

FAILURE = 1
WRONG_USAGE = 2
_MONITORS = {"warn": b"monitor_G()", "error": b"monitor_G(true)"}


def main(argv: list[str] | None = None) -> int:
    """Run th; return the exit status."""
    # Python's default is an exception, whose traceback would be printed.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    _open_missing_streams()
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
        if options.program:
            return _run_program(options.program, options.words)
        # What the start makes stays until the end, where the system takes it back: Python's
        # collector would look through all of it, several times.
        gc.disable()
        try:
            return _print(options.prints) if options.prints else _run(options)
        finally:
            gc.freeze()
    except UsageError as error:
        complain(error)
        print(usage(), end="", file=sys.stderr)
        return WRONG_USAGE
    except MemoryError:
        complain("not enough memory")
        return FAILURE


def _run_program(name: str, words: Sequence[str]) -> int:
    """Do what an option asks for that has words of its own. Raises UsageError."""
    run: Callable[[Sequence[str]], int]
    try:
        if name == "check":
            from th_shell.preflight.command import run as check
            from th_shell.runtime.shell import Engine

            gc.disable()  # the programs stay until the end
            run = partial(check, engine=Engine(search_users_tree))
        elif name == "lsp":
            from th_shell.editor.server import run
        elif name == "dap":
            from th_shell.debugging import adapter

            run = partial(
                adapter.run, prepare=_prepare_program, report=partial(_report, prefix="th: ")
            )
        elif name == "convert":
            from th_shell.convert import run as convert

            run = partial(convert, prepare=search_users_tree)
        elif name == "jupyter":
            from th_shell.jupyter.install import run
        elif name == "report":
            from th_shell.report import run
        elif name == "python":
            from th_shell.python.command import run
        else:
            from th_shell.packages import command

            run = partial(command.run, name)
    except ImportError as error:
        complain(error)
        return WRONG_USAGE
    return run(words)


def _print(what: str) -> int:
    try:
        for text in _texts(what):
            os.write(1, text.encode("utf-8", "surrogateescape"))
    except (OSError, ImportError) as error:
        complain(f"write error: {error.strerror}" if isinstance(error, OSError) else error)
        return FAILURE
    return 0


def _texts(what: str) -> Iterator[str]:
    """Yield the text of an option that does nothing but print, part by part."""
    if what == "help":
        yield usage()
    elif what == "config":
        from th_shell.config import load, overview

        yield overview(load())
    else:
        from th_shell.report import versions

        yield from versions("th")


def _open_missing_streams() -> None:
    """Give th the standard streams that it was started without (`th <&-`).

    Otherwise, the first files that a program opens would be these streams. The input is empty, and
    writing to the others is an error.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # the lowest number that is free: this one
    sys.stdin = sys.stdin or open(0, closefd=False)
    sys.stderr = sys.stderr or open(os.devnull, "w")


def _run(options: Options) -> int:
    try:
        if _begins_with_the_prompt(options):
            return _open_prompt_first(options)
        from th_shell.runtime.shell import Engine, LuaError
    except ImportError as error:
        complain(error)
        return FAILURE

    engine = Engine()
    opens_prompt = _opens_prompt(options)
    _prepare(engine, options, opens_prompt)
    engine.debugging.debug_by(_stopped)
    engine.debugging.prompt_by(partial(_open_prompt_in_script, engine))
    ran = False
    try:
        ran = _run_before_prompt(engine, options)
    except LuaError as error:
        engine.flush()
        _report(error, "th: ")
        if (options.script or "").endswith(".py"):
            print("th --python runs programs of Python", file=sys.stderr)
        if re.search("field 'Cuda|global 'cu(torch|dnn)'", error.message):
            print("th --gpu-as-cpu lets programs for GPUs compute here", file=sys.stderr)
        if advice := engine.penlight_advice(error.message):
            print(advice, file=sys.stderr)
    engine.flush()
    if not (ran or opens_prompt):
        return FAILURE
    return (opens_prompt and _open_prompt(engine)) or _check_output(engine)


def _opens_prompt(options: Options) -> bool:
    return options.interactive or not (options.actions or options.script or not sys.stdin.isatty())


def _begins_with_the_prompt(options: Options) -> bool:
    """Tell whether nothing is to be run before the prompt, which is one of a terminal."""
    runs = options.actions or options.script or options.monitor
    if runs or (os.environ.get("TREPLSTARTUP") and not options.interactive):
        return False
    return can_show_first()


def _open_prompt_first(options: Options) -> int:
    """Show the prompt; load what it needs, and then the engine, behind it. Raises ImportError."""
    from th_shell.terminal.first_prompt import FirstPrompt

    first = FirstPrompt()
    try:
        from th_shell import config as settings
        from th_shell.runtime.shell import Engine, preload_operations
        from th_shell.session.session import prepare as prepare_for_people
        from th_shell.terminal import repl

        config = settings.load()

        def prepare(engine: Engine) -> None:
            _prepare(engine, options, opens_prompt=True)
            prepare_for_people(engine, config)
            with suppress(Exception):  # the first operation raises it again
                preload_operations()

        engine = Engine(prepare)
        _survive_broken_pipes()
        return repl.run(engine, config, first) or _check_output(engine)
    except ImportError:
        os.write(1, b"\n")
        raise
    finally:
        first.close()


def _prepare(engine: Engine, options: Options, opens_prompt: bool) -> None:
    """Set what the command line says about an engine that has just been made."""
    gc.freeze()
    gc.enable()
    if opens_prompt:
        engine.count_loops()
    _set_arguments(engine, options)
    search_users_tree(engine)
    if options.trust:
        engine.run(engine.compile(b"torch.trustfunctions(true)"))
    if options.gpu_as_cpu:
        engine.run(engine.compile(b"torch.gpuascpu()"))


def _stopped(stop: Stop) -> Dialogue:
    """Ask where a script has stopped; the debugger is loaded then, since few scripts stop."""
    from th_shell.terminal.repl import console

    return console()(stop)


def _open_prompt_in_script(engine: Engine, place: str) -> None:
    from th_shell.terminal.repl import open_prompt

    open_prompt(engine, place)
    engine.debugging.debug_by(_stopped)


def _prepare_program(engine: Engine, path: str, words: Sequence[str]) -> None:
    """Make an engine ready for a script that is run as `th path words` does."""
    _prepare(engine, Options(script=path, arguments=tuple(words)), opens_prompt=True)


def _check_output(engine: Engine) -> int:
    """Return the exit status of a program that has ended: failure if its output was not written."""
    error = engine.output_error()
    if error:
        complain(error)
    return FAILURE if error else 0


def _set_arguments(engine: Engine, options: Options) -> None:
    program = "th" if options.script in (None, "-") else options.script
    engine.set_arguments(
        os.fsencode(program or ""),
        [os.fsencode(word) for word in options.arguments],
        [os.fsencode(word) for word in _launcher()],
    )


def _launcher() -> list[str]:
    """Return the command that has started th, for `arg`: scripts read there how to start others."""
    if not sys.argv[0].endswith(".py"):
        return [sys.argv[0]]
    script = os.path.join(
        os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "scripts", "th"
    )
    return [script] if os.path.isfile(script) else [sys.executable, "-m", "th_shell"]


def _run_before_prompt(engine: Engine, options: Options) -> bool:
    """Run what the command line says; return whether all inputs of a pipe have. Raises LuaError.

    Their errors are shown at once.
    """
    startup = os.environ.get("TREPLSTARTUP")
    statements = [action for action in options.actions if action.kind == "statement"]
    # Torch7: the startup file is not run with -i or -e.
    if startup and not options.interactive and not statements:
        engine.run(engine.compile_file(startup))
    libraries = list(takewhile(lambda action: action.kind == "library", options.actions))
    _run_actions(engine, libraries)
    if options.monitor:
        # Torch7: libraries are loaded before; the globals that they make are not reported.
        engine.run(engine.compile(_MONITORS[options.monitor]))
    _run_actions(engine, options.actions[len(libraries) :])
    if options.script not in (None, "-"):
        engine.run(engine.compile_file(options.script or ""))
    elif options.script == "-":
        engine.run(engine.compile(_standard_input(b"#"), b"=stdin"))
    elif not (options.actions or options.interactive or sys.stdin.isatty()):
        from th_shell.terminal.without_terminal import run_piped

        return run_piped(engine, _standard_input(b"#!"), lambda error: _report(error, "th: "))
    return True


def _run_actions(engine: Engine, actions: Sequence[Action]) -> None:
    for kind, text in actions:
        if kind == "library":
            _load(engine, text)
        else:
            engine.run(engine.compile(os.fsencode(text), b"=(command line)"))


def _load(engine: Engine, name: str) -> None:
    from th_shell.runtime import LuaError

    try:
        engine.require(os.fsencode(name))
    except LuaError as error:
        # Torch7: goes on without the library.
        engine.flush()
        _report(error, f"could not load {visible_line(name)}, skipping\n")


def _standard_input(mark: bytes) -> bytes:
    """Return the standard input without a first line that begins with a mark.

    loadfile takes `#` for that, but an input may begin with Lua's operator of length.
    """
    source = sys.stdin.buffer.read()
    if source.startswith(mark):
        # An empty line takes its place, for the line numbers.
        return b"\n" + source.partition(b"\n")[2]
    return source


def _report(error: LuaError, prefix: str) -> None:
    text = f"{prefix}{error.message}\n"
    if error.traceback:
        text += f"{error.traceback}\n"
    if sys.stderr.isatty():
        text = visible(text)
    # Written as bytes: the message may contain bytes that are no text in any encoding.
    sys.stderr.flush()
    os.write(2, text.encode("utf-8", "surrogateescape"))


def _survive_broken_pipes() -> None:
    # Writing to a command that a statement has started, and that has ended, must not end th.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def _open_prompt(engine: Engine) -> int:
    engine.debugging.prompt_by(None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _survive_broken_pipes()
    if sys.stdin.isatty():
        from th_shell import config as settings
        from th_shell.session.session import prepare as prepare_for_people
        from th_shell.terminal import repl

        config = settings.load()
        prepare_for_people(engine, config)
        return repl.run(engine, config)
    from th_shell.terminal import without_terminal

    return without_terminal.run(engine)

"""The command ``th``: runs statements, libraries and scripts, and then the prompt if it is wanted.

Modules are imported only where they are needed: the help needs no Lua, and a script no terminal
library. Also, the signals are set up before numpy is imported, so that Ctrl-C or a closed pipe
ends the program quietly even then.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from th_shell.options import USAGE, Options, UsageError, parse

if TYPE_CHECKING:
    from runtime import Engine, LuaError

__all__ = ["main"]

FAILURE = 1
WRONG_USAGE = 2


def main(argv: list[str] | None = None) -> int:
    """Run th; returns the exit status."""
    _let_signals_end_the_program()
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
    except UsageError as error:
        print(f"th: {error}\n{USAGE}", end="", file=sys.stderr)
        return WRONG_USAGE
    if options.help:
        return _print_usage()
    if options.jupyter is not None:
        from th_shell.jupyter import install

        return install.run(list(options.jupyter))
    return _run(options)


def _print_usage() -> int:
    try:
        os.write(1, USAGE.encode())
    except OSError as error:
        print(f"th: write error: {error.strerror}", file=sys.stderr)
        return FAILURE
    return 0


def _let_signals_end_the_program() -> None:
    # Python's default for both is an exception, whose traceback would be printed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _run(options: Options) -> int:
    try:
        from runtime import Engine, LuaError
    except ImportError as error:
        print(f"th: {error}", file=sys.stderr)
        return FAILURE

    engine = Engine()
    _set_arguments(engine, options)
    if options.trust:
        engine.run(engine.compile(b"torch.trustfunctions(true)"))
    try:
        _run_before_prompt(engine, options)
    except LuaError as error:
        engine.flush()
        _report(error, "th: ")
        return FAILURE
    engine.flush()
    if options.interactive or not (options.actions or options.script or not sys.stdin.isatty()):
        return _open_prompt(engine) or _check_output(engine)
    return _check_output(engine)


def _check_output(engine: Engine) -> int:
    """The exit status of a program that has ended: failure if not all output could be written."""
    error = engine.output_error()
    if error:
        print(f"th: {error}", file=sys.stderr)
    return FAILURE if error else 0


def _set_arguments(engine: Engine, options: Options) -> None:
    program = "th" if options.script in (None, "-") else options.script
    engine.set_arguments(
        os.fsencode(program or ""),
        [os.fsencode(word) for word in options.arguments],
        [os.fsencode(word) for word in _launcher()],
    )


def _launcher() -> list[str]:
    """The command that has started th, for `arg`: scripts read there how to start others."""
    if not sys.argv[0].endswith(".py"):
        return [sys.argv[0]]
    script = os.path.join(os.path.dirname(os.path.dirname(__file__)), "scripts", "th")
    return [script] if os.path.isfile(script) else [sys.executable, "-m", "th_shell"]


def _run_before_prompt(engine: Engine, options: Options) -> None:
    startup = os.environ.get("TREPLSTARTUP")
    statements = [action for action in options.actions if action.kind == "statement"]
    # Torch7: the startup file is not run with -i or -e.
    if startup and not options.interactive and not statements:
        engine.run(engine.compile_file(startup))
    for kind, text in options.actions:
        if kind == "library":
            _load(engine, text)
        else:
            engine.run(engine.compile(os.fsencode(text), b"=(command line)"))
    if options.script not in (None, "-"):
        engine.run(engine.compile_file(options.script or ""))
    elif options.script == "-" or not (options.actions or options.interactive):
        _run_standard_input(engine, always=options.script == "-")


def _load(engine: Engine, name: str) -> None:
    from runtime import LuaError

    try:
        engine.require(os.fsencode(name))
    except LuaError as error:
        # Torch7: goes on without the library.
        engine.flush()
        _report(error, f"could not load {name}, skipping\n")


def _run_standard_input(engine: Engine, always: bool) -> None:
    if not always and sys.stdin.isatty():
        return
    source = sys.stdin.buffer.read()
    if source.startswith(b"#"):
        # As loadfile does, skip a first line that names the interpreter; an empty one takes its
        # place, for the line numbers.
        source = b"\n" + source.partition(b"\n")[2]
    engine.run(engine.compile(source, b"=stdin"))


def _report(error: LuaError, prefix: str) -> None:
    text = f"{prefix}{error.message}\n"
    if error.traceback:
        text += f"{error.traceback}\n"
    if sys.stderr.isatty():
        from th_shell.visible import visible

        text = visible(text)
    # Written as bytes: the message may contain bytes that are no text in any encoding.
    sys.stderr.flush()
    os.write(2, text.encode("utf-8", "surrogateescape"))


def _open_prompt(engine: Engine) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGPIPE"):
        # Writing to a command that a statement has started, and that has ended, must not end th.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if sys.stdin.isatty():
        from th_shell.terminal import repl

        return repl.run(engine)
    from th_shell.session import plain

    return plain.run(engine)

"""``th --python``: runs a program as Python does, with this project's torch for `import torch`."""

import os
import signal
import stat
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from th_shell.python import alias
from th_shell.python.programs import Program, PythonOptions, leave_by_interrupt, parse
from th_shell.visible import can_show_first

_FAILURE = 1


def run(words: Sequence[str]) -> int:
    """Run what the words behind --python name; return the exit status.

    Raises UsageError, and SystemExit where the program does.
    """
    options = parse(words)
    _signals_of_python()
    _environment_of_python()
    if not options.installed:
        alias.use_face()
    elif not alias.is_installed():
        message = f"--torch installed: {sys.executable} finds no module torch"
        print(f"th: {message}; install PyTorch there, or leave the option out", file=sys.stderr)
        return _FAILURE
    return _run(options)


def _run(options: PythonOptions) -> int:
    leave_by_interrupt()
    program = Program(options)
    if options.kind:
        if not options.interactive:
            return program.run()
        program.run_before_prompt()
        return _open_prompt(program.namespace, options)
    sys.path.insert(0, "")
    sys.argv[:] = [""]
    if can_show_first():
        return _open_prompt_first(program.namespace, options)
    if options.interactive or sys.stdin.isatty():
        return _open_prompt(program.namespace, options)
    return _run_input(program)


def _open_prompt_first(namespace: dict[str, Any], options: PythonOptions) -> int:
    """Show the prompt, and load what it needs behind it."""
    from th_shell.terminal.first_prompt import FirstPrompt

    greeting = _greeting(options.installed)
    with closing(FirstPrompt(f"{greeting}>>> ")) as first:
        from th_shell.python import prompt

        return prompt.run(namespace, greeting, first)


def _open_prompt(namespace: dict[str, Any], options: PythonOptions) -> int:
    if sys.stdin.isatty():
        from th_shell.python import prompt

        return prompt.run(namespace, _greeting(options.installed))
    from th_shell.python.session import PythonSession
    from th_shell.terminal.without_terminal import read_and_run

    # Of the same object that an input reads from, which so gets the line behind it.
    return read_and_run(PythonSession(namespace), lambda: sys.stdin.readline())


def _run_input(program: Program) -> int:
    """Run the standard input, which is no terminal: a file as a program, else its inputs."""
    source = sys.stdin.buffer.read()
    if _is_program(source):
        return program.run_source(source)
    from th_shell.python.session import PythonSession

    session = PythonSession(program.namespace)
    for piece in session.inputs(source.decode("utf-8", "surrogateescape")):
        if session.is_exit(piece):
            break
        if not session.run(piece) or session.has_failed:
            sys.stdout.flush()
            return _FAILURE
    return 0


def _is_program(source: bytes) -> bool:
    """Tell whether the standard input is a file that is a program as a whole."""
    if not stat.S_ISREG(os.fstat(0).st_mode):
        return False
    try:
        compile(source, "<stdin>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _greeting(installed: bool) -> str:
    torch = "the PyTorch that is installed" if installed else "th's torch, which is on numpy"
    version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"th: Python {version}; import torch gives {torch}\n"
        "? for an overview, ?torch.cat for one function, Ctrl-D to leave\n"
    )


def _signals_of_python() -> None:
    """Let signals do what they do in Python: Ctrl-C is an exception, a closed pipe an error."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def _environment_of_python() -> None:
    """Let programs import what $PYTHONPATH names, also where th itself is isolated from it."""
    if sys.flags.ignore_environment:
        named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [folder for folder in named if folder]

"""``python -m th_shell``: the shell."""

from th_shell.safe_path import forget_folder


def _start() -> int:
    forget_folder()  # before any import, which could find another module in the working directory
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what follows is not to end with a traceback
    from th_shell.cli import main

    return main()


raise SystemExit(_start())

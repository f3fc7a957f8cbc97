"""``python -m th_shell``: the shell."""

from th_shell.safe_path import forget_folder


def _start() -> int:
    forget_folder()  # before any import, which could find another module in the working directory
    from th_shell.cli import main

    return main()


raise SystemExit(_start())

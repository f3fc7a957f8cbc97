"""``python -m th_shell.docs``: run the examples of pages."""

from th_shell.safe_path import forget_folder


def _start() -> int:
    forget_folder()  # before any import, which could find another module in the working directory
    from th_shell.docs.start import main

    return main()


raise SystemExit(_start())

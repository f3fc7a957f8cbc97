"""The command ``th-docs``, and ``python -m th_shell.docs``: run the examples of pages."""

from th_shell.start_up import forget_folder

forget_folder()  # before any import, which could find another module in the working directory
from th_shell.docs.start import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())

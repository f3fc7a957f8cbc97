"""The command ``th``, and ``python -m th_shell``: the shell."""

from th_shell.start_up import forget_folder

forget_folder()  # before any import, which could find another module in the working directory
from th_shell.cli import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())

"""The command ``th``, and ``python -m th_shell``: the shell."""

import th_shell.ctrl_c  # noqa: F401
from th_shell.safe_path import forget_folder

forget_folder()  # before any import, which could find another module in the working directory
from th_shell.cli import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())

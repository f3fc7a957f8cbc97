"""``python -m th_shell``: the shell."""

from th_shell.cli import main

raise SystemExit(main())

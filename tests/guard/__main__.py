"""``TH_GUARD=1 python -m tests.guard``: the shell in guard mode."""

from th_shell.cli import main

raise SystemExit(main())

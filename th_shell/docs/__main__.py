"""``python -m th_shell.docs``: run the examples of pages."""

from th_shell.docs.cli import main

raise SystemExit(main())

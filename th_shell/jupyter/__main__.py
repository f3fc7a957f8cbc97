"""The kernel's process, which the kernelspec starts: ``python -I -m th_shell.jupyter -f FILE``."""

import sys

if __name__ == "__main__":
    try:
        from th_shell.jupyter.app import main
    except ImportError as error:
        sys.exit(f"th: {error}: pip install 'th-shell[jupyter]'")
    main()

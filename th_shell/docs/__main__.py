"""The command ``th-docs``, and ``python -m th_shell.docs``: run the examples of pages.

Says in one line why th-docs cannot run on a system, where it cannot. While the libraries load, the
system ends th-docs at Ctrl-C. Then the first Ctrl-C ends what runs, which may take a moment; at the
second one the system ends th-docs. The processes of pages then end by themselves.
"""

from th_shell.start_up import forget_folder

forget_folder()  # before any import, which could find another module in the working directory
import gc  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from types import FrameType  # noqa: E402
from typing import NoReturn  # noqa: E402

from th_shell.visible import complain  # noqa: E402

_CANNOT_RUN = 2
_INTERRUPTED = 130
#: New objects behind which the collector looks for garbage: those of a page stay until its report.
_MANY_OBJECTS = 100_000

#: Bytes of a page that are looked at for prompts.
_LOOK = 1 << 16


def main() -> int:
    """Run th-docs; the exit status."""
    gc.set_threshold(_MANY_OBJECTS)
    try:
        from th_shell.docs.running.processes import start_ahead

        start_ahead(with_runtime=not any(map(_is_python, sys.argv[1:])))
        from th_shell.docs.cli import main as run

        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, _interrupt)
        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (ImportError, MemoryError) as error:
        complain(str(error) or "not enough memory", "th-docs")
        return _CANNOT_RUN


def _is_python(word: str) -> bool:
    """Tell whether a word names a file with prompts of Python: its runs need no runtime."""
    try:
        with open(word, "rb") as page:
            return b">>> " in page.read(_LOOK)
    except (OSError, ValueError):
        return False


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    """Handle the first Ctrl-C, and leave the second one to the system."""
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())

"""The first steps of a command: Ctrl-C ends it, and the folder where it runs has no say in imports.

The commands import this module before any other. Python's own answer to Ctrl-C is an exception,
whose traceback would be shown. Where Ctrl-C is ignored, as in the background of a script, it stays
so.
"""

import _signal  # type: ignore[import-not-found]  # `signal` itself takes a while to load
import sys

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def forget_folder() -> None:
    """Remove the working directory, which ``python -m`` puts first, from the module path.

    It is kept if it contains this package: that is how a checkout runs without installation.
    """
    import os  # late: Ctrl-C is to end what it loads, too

    if sys.flags.isolated or getattr(sys.flags, "safe_path", False) or not sys.path:
        return
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = os.getcwd()
    if sys.path[0] in ("", here) and not os.path.samefile(here, top):
        del sys.path[0]

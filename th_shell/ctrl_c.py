"""Lets Ctrl-C end the process: Python's own answer is an exception, whose traceback would be shown.

The commands import this module before any other. Where Ctrl-C is ignored, as in the background of a
script, it stays so.
"""

import _signal  # type: ignore[import-not-found]  # `signal` itself takes a while to load

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

"""Ctrl-C is not lost where Python loses its exception."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[3]

CODE = """
import os, signal, weakref
from th_shell.docs.interrupts import handle_interrupts, raise_if_interrupted

class Kept:
    pass

signal.signal(signal.SIGINT, signal.default_int_handler)
handle_interrupts()
raise_if_interrupted()
kept = Kept()
weakref.finalize(kept, os.kill, os.getpid(), signal.SIGINT)
del kept
print("lost")
try:
    raise_if_interrupted()
except KeyboardInterrupt:
    print("found")
os.kill(os.getpid(), signal.SIGINT)
"""


def test_an_interrupt_in_a_finalizer() -> None:
    run = subprocess.run(
        [sys.executable, "-u", "-c", CODE], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.returncode) == ("lost\nfound\n", -2)

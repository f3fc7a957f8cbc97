"""What ``?`` alone shows: the prompt's own commands, in a few lines."""

from __future__ import annotations

__all__ = ["OVERVIEW"]

OVERVIEW = """\
th runs Lua, line by line, with torch in it. At the prompt:

  1 + 2                   prints the value (also = 1 + 2); with ; at the end it does not
  x = torch.randn(2, 3)   defines a global; locals end with their input
  _LAST, _RESULTS         the last value printed; all of them
  ? torch.sum, ? x:sum    what a function does and how it is called
  ? x                     what a value is; of your own functions the source
  ? sort descending       the functions that words tell of
  ?? torch.sum            examples, and running them
  who()                   the variables: sizes, bytes, which share their memory
  $ ls -l                 a command of the system's shell; _LAST is its output
  Tab                     completes names, methods after ':', files inside quotes
  Up, Ctrl-R              former inputs
  Ctrl-C                  drops the line, or stops what runs
  exit, Ctrl-D            leave

An input that is not complete goes on in the next line, at the prompt '..>'.
"""

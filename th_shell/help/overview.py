"""What ``?`` alone shows: the prompt's own commands, in a few lines."""

from __future__ import annotations

__all__ = ["OVERVIEW"]

OVERVIEW = """\
th runs Lua, line by line, with torch in it. At the prompt:

  1 + 2                   prints the value (also = 1 + 2); with ; at the end it does not
  x = torch.randn(2, 3)   defines a global; a local stays until another of its name
  _7, _LAST               the value of input 7; the last one printed
  ? torch.sum, ? x:sum    what a function does and how it is called
  ? x                     what a value is; of your own functions the source
  ? sort descending       the functions that words tell of
  ?? torch.sum            examples, and running them
  who()                   the variables: sizes, bytes, which share their memory
  show(x), plot(y)        pictures, also hist(x); in a file with 'x.png' behind them
  %time f()               a command of the session; % lists them all
  $ ls -l                 a command of the system's shell; _LAST is its output
  Tab                     completes names, methods after ':', files inside quotes
  Up, Ctrl-R              former inputs
  Ctrl-C                  drops the line, or stops what runs; Ctrl-\\ gives up on it
  exit, Ctrl-D            leave

An input that is not complete goes on in the next line, at the prompt '..>'.
"""

"""What ``?`` alone shows: the prompt's own commands and keys, on one screen."""

from __future__ import annotations

from th_shell.paragraphs import filled, two_columns

_ROWS = (
    ("1 + 2", "prints the value; with ; at the end it does not"),
    ("x = torch.randn(2, 3)", "defines a global; a local stays until another one"),
    ("_7, _LAST", "the value of input 7; the last one"),
    ("? torch.sum, ? x:sum", "what a function does and how it is called"),
    ("? x", "what a value is; of your own functions the source"),
    ("? sort descending", "the functions that words tell of"),
    ("?? torch.sum", "examples, and running them"),
    ("who()", "the variables: sizes, bytes, which share memory"),
    ("show(x), plot(y)", "pictures; also hist(x), show(x, 'file.png')"),
    ("%time f()", "a command of the session; % lists them all"),
    ("%save page.md", "the session as a page; pasted pages are compared"),
    ("$ ls -l", "a command of the system's shell; _LAST is its output"),
    ("Tab", "completes names, methods after ':', files in quotes"),
    ("Up, Ctrl-R, Right", "former inputs: of that beginning, searched, in grey"),
    ("Ctrl-X Ctrl-E", "the input in $EDITOR"),
    ("Ctrl-C", "drops the line, or stops what runs"),
    ("Ctrl-\\", "gives up on what does not stop"),
    ("exit, Ctrl-D", "leave"),
)


def overview() -> str:
    """The text, at most 22 lines of a terminal with 80 columns."""
    return (
        filled("th runs Lua, line by line, with torch in it. At the prompt:")
        + "\n"
        + two_columns(_ROWS)
        + "\n"
        + filled("An input that is not complete goes on in the next line, at the prompt '..>'.")
    )

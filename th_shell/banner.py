"""The lines that th shows at its start, and its prompts."""

from __future__ import annotations

from th_shell.visible import columns

BANNER = """\
th: the Torch7 shell, on LuaJIT and numpy
? for an overview, ? torch.randn for one function, Ctrl-D to leave
"""

PROMPT = "th> "
CONTINUATION = "..> "


def banner() -> str:
    """Return the lines, broken where the terminal is narrower."""
    width = max(columns() - 1, 20)
    lines = BANNER.rstrip().split("\n")
    if all(len(line) <= width for line in lines):
        return BANNER
    import textwrap  # late: the first prompt does without where there is room

    return "".join(f"{textwrap.fill(line, width)}\n" for line in lines)

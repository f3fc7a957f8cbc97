"""The lines that th shows at its start, and its prompts."""

BANNER = """\
th: the Torch7 shell, on LuaJIT and numpy
? for an overview, ? torch.randn for one function, Ctrl-D to leave
"""

PROMPT = "th> "
CONTINUATION = "..> "

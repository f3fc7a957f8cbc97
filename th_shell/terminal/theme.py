"""The colours of the prompt.

The theme `terminal` uses the sixteen colours of the terminal, which the user has chosen to be
readable. Other themes are styles of pygments. With $NO_COLOR there are no colours at all.
"""

from __future__ import annotations

import os

from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import BaseStyle, Style, merge_styles, style_from_pygments_cls

from th_shell.config import NO_THEME, TERMINAL_THEME, Config

STYLE = Style.from_dict(
    {
        "prompt": "ansigreen",
        "command": "ansicyan",
        "matching-bracket.cursor": "noinherit bold",
        "matching-bracket.other": "noinherit bold underline",
        "signature": "ansibrightblack",
        "signature.argument": "ansidefault",
        "auto-suggestion": "ansibrightblack",
        "pygments.comment": "ansibrightblack italic",
        "pygments.keyword": "ansiblue bold",
        "pygments.keyword.constant": "ansicyan",
        "pygments.keyword.declaration": "ansiblue bold",
        "pygments.literal.number": "ansicyan",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.string.escape": "ansiyellow",
        "pygments.name": "",
        "pygments.name.builtin": "ansimagenta",
        "pygments.name.function": "",
        "pygments.operator": "",
        "pygments.operator.word": "ansiblue bold",
    }
)


def in_colour(config: Config) -> bool:
    """Whether the prompt has colours. Every value of $NO_COLOR but '' forbids them."""
    return config.theme != NO_THEME and not os.environ.get("NO_COLOR")


def color_depth(config: Config) -> ColorDepth | None:
    """How many colours; None for as many as the terminal has."""
    return None if in_colour(config) else ColorDepth.DEPTH_1_BIT


def style(config: Config) -> BaseStyle:
    """The style of a theme."""
    if not in_colour(config):
        return Style([])
    if config.theme == TERMINAL_THEME:
        return STYLE
    from pygments.styles import get_style_by_name  # type: ignore[import-untyped]

    return merge_styles([STYLE, style_from_pygments_cls(get_style_by_name(config.theme))])

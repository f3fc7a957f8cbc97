"""`%config`: how a notebook shows plots."""

from th_shell.runtime.shell import LuaError
from th_shell.session.commands import MagicError
from th_shell.session.session import Session

_PLOTS = ("plots", "InlineBackend.figure_format")  # the second one is IPython's


def configure(session: Session, text: str) -> None:
    """Show plots as png or svg from now on."""
    name, _, value = (part.strip(" '\"") for part in text.partition("="))
    if name not in _PLOTS or value not in ("png", "svg"):
        raise MagicError("it takes plots = svg, or plots = png; th --config lists other settings")
    try:
        code = f"require('jupyter').plots = '{value}'"
        session.engine.run(session.engine.compile(code.encode()))
    except LuaError:
        raise MagicError("this is for notebooks") from None

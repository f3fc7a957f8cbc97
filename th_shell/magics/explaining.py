"""`?`, `??` and `%help`: what is known of names, examples of pages, and the commands themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from th_shell.help.about import about, overview
from th_shell.help.meanings import is_path, name_in
from th_shell.lines import usual_lines
from th_shell.paragraphs import MOST_LINES, filled, two_columns
from th_shell.session.commands import MagicError
from th_shell.session.conversation import Conversation
from th_shell.session.session import Session
from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.help.pages import Shown

_USAGE = "?? takes a function's name, as in: ?? torch.gather\n"


def show_help(session: Session, name: str) -> None:
    """Tell what a name means; without a name, what there is at the prompt."""
    if name.startswith("%"):
        list_commands(session, name)
        return
    session.show_text(about(name, session.engine, session.log) if name else overview())


def list_commands(session: Conversation, name: str) -> None:
    """Show what a command does that begins with '%'; without a name, all of them."""
    table = session.commands
    asked = table.name(f"%{name.removeprefix('%')}")
    rows = {key: f"{key} {table.rows[key].usage}".rstrip() for key in table.names()}
    if asked == "%help":
        listed = [(call, table.rows[key].meaning) for key, call in rows.items()]
        numbers = "N-M are numbers of inputs, as %history lists them: 3-9, 1-3 5, 7-"
        session.show_text(f"{two_columns(listed)}\n{filled(numbers)}")
    elif asked in rows:
        session.write(f"{rows[asked]}\n  {table.rows[asked].meaning}\n")
    else:
        raise MagicError(f"there is no {asked}")


# -- examples of pages


def show_examples(session: Session, text: str) -> None:
    """Show the examples of a function."""
    from th_shell.help.pages import find_examples, page_folders  # and with it th-docs

    name = name_in(text)
    if not is_path(name):
        session.write(_USAGE)
        return
    result = find_examples(name, page_folders(session.config.pages), session.engine)
    for problem in result.problems:
        session.write(f"?? has not read a page: {visible(problem)}\n")
    if not result.examples:
        session.write(f"no page has an example of {name}\n")
        return
    texts = [_lines(session, number, shown) for number, shown in enumerate(result.examples, 1)]
    session.show_text("".join("\n".join(lines) + "\n\n" for lines in texts))


def _lines(session: Session, number: int, shown: Shown) -> list[str]:
    heading = f" - {shown.heading}" if shown.heading else ""
    lines = [f"{number}. {shown.page}{heading}"]
    for example in shown.steps:
        lines += [f"    {line}" for line in usual_lines(session.echo(example.source.strip()))]
        output = usual_lines(example.expected) if example is shown.steps[-1] else []
        lines += ["    " + line for line in output[:MOST_LINES]]
        if len(output) > MOST_LINES:
            lines.append("    …")
    return lines

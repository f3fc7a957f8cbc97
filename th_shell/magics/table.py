"""The commands of Lua's prompt that begin with %, by their names."""

from __future__ import annotations

from th_shell.magics.tables import Magic, MagicTable

_ROWS = {
    "save": Magic(
        "save.save", "[-f] PAGE.md [N-M ...]", "write inputs, with what they print, as a page"
    ),
    "load": Magic("editing.load", "FILE [N-M ...]", "put lines of a file into the next input"),
    "edit": Magic("editing.edit", "[N | NAME]", "edit an input in $EDITOR, and run the result"),
    "run": Magic("editing.run_file", "FILE [ARGUMENT ...]", "run a script, with `arg` set"),
    "history": Magic("inputs.history", "[N-M ...]", "list inputs by their numbers (also %log)"),
    "time": Magic("timing.time_input", "INPUT", "run an input, and tell how long it takes"),
    "timeit": Magic("timing.time_many", "INPUT", "run an input many times, and tell the best time"),
    "profile": Magic("profiling.profile", "INPUT", "run an input, and tell which lines take long"),
    "who": Magic("globals.who", "", "list the globals of the session"),
    "reset": Magic("globals.reset", "-f", "remove the globals of the session"),
    "cd": Magic("folders.change", "[FOLDER]", "change the current folder"),
    "pwd": Magic("folders.tell", "", "tell the current folder"),
}

#: What a session of Lua has.
LUA = MagicTable("th_shell.magics", _ROWS)

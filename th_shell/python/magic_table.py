"""The commands of the Python prompt that begin with %, by their names."""

from __future__ import annotations

from th_shell.magics.tables import Magic, MagicTable

#: What a session of Python has.
PYTHON = MagicTable(
    "th_shell.python",
    {
        "save": Magic("magics.save", "[-f] FILE.py [N-M ...]", "write inputs as a program"),
        "load": Magic("magics.load", "FILE [N-M ...]", "put lines of a file into the next input"),
        "edit": Magic("magics.edit", "[N | NAME]", "edit an input in $EDITOR, and run the result"),
        "run": Magic("magics.run_file", "FILE [ARGUMENT ...]", "run a program, and take its names"),
        "history": Magic("magics.history", "[N-M ...]", "list inputs by their numbers (also %log)"),
        "time": Magic("magics.time_input", "INPUT", "run an input, and tell how long it takes"),
        "timeit": Magic(
            "magics.time_many", "INPUT", "run an input many times, and tell the best time"
        ),
        "who": Magic("magics.who", "", "list the names of the session"),
        "reset": Magic("magics.reset", "-f", "remove the names of the session"),
        "cd": Magic("magics.change", "[FOLDER]", "change the current folder"),
        "pwd": Magic("magics.tell", "", "tell the current folder"),
    },
)

"""``? name`` at the prompt: the help text on a name, or on what a few words tell of.

What the name has in the session comes first: a variable, a function of the user's. Then torch's
functions and methods, those of the libraries, and words of Lua.
"""

import re
import textwrap
from collections.abc import Sequence

from th_shell import paragraphs
from th_shell.call_forms import without_types
from th_shell.entry import Entry
from th_shell.help.meanings import (
    SECTIONS_OF_CLASS,
    Meaning,
    few_names,
    find,
    find_path,
    is_path,
    name_in,
    parts_of,
    search,
    sections,
)
from th_shell.help.values import function_text, listed_names, value_text
from th_shell.nearest import nearest
from th_shell.paragraphs import filled, two_columns
from th_shell.runtime.shell import ALL, DOUBLE, TABLE, Engine, Facts, Row

_WORDS = re.compile(r"[A-Za-z][\w-]*(?:[ ,]+[A-Za-z][\w-]*)*$", re.ASCII)


def about(text: str, engine: Engine, log: Sequence[Entry] = ()) -> str:
    """Return the help text on a name, which may have a path before it, or on a topic.

    log: the inputs of the session, in which functions of the user's are looked up.
    """
    name = name_in(text)
    if not is_path(name):
        return _topic(name) if _WORDS.match(name) else "? takes a name, as in: ? torch.randn\n"
    facts = engine.variables.inspect(name.replace(":", "."), True)
    if not facts and name == "keys":
        return paragraphs.keys()
    if not facts:
        return _without_value(name, engine)
    if facts["category"] == "function":
        if facts["own"]:
            return _users_function(name, facts, log)
        return _function(name, facts, engine)
    meaning = find_path(name) if "." in name else None
    if meaning and facts["category"] == "table":
        return explained(meaning) + _members(name, engine)
    if facts["category"] == "table" and (constructor := engine.variables.inspect(f"{name}.__init")):
        return _users_class(name, constructor, log, engine)
    text = value_text(name, facts)
    return (explained(meaning) if meaning else "") + text + _methods(name, facts, engine)


def _members(name: str, engine: Engine) -> str:
    public = [member for member in engine.variables.names(name) if not member.startswith("_")]
    return listed_names(public)


def _methods(name: str, facts: Facts, engine: Engine) -> str:
    """Return the methods of an object that is no tensor or storage, whose methods are too many."""
    if facts["category"] not in ("userdata", "table") or "class" not in facts:
        return ""
    names = engine.variables.names(name.replace(":", "."))
    public = [key for key, kind in names.items() if kind == "function" and not key.startswith("_")]
    return "methods:\n" + listed_names(public) if public else ""


# -- functions


def _function(name: str, facts: Facts, engine: Engine) -> str:
    meaning = _meaning_at(name, engine) or find_path(str(facts.get("known_as", "")))
    if meaning is not None:
        return explained(meaning)
    return f"{name}: a function of a library, of which nothing is known here\n"


def _meaning_at(name: str, engine: Engine) -> Meaning | None:
    """Return a function's meaning by its path; of a method, by its object's class."""
    path, mark, last = parts_of(name)
    if not mark:
        return find(last, ("globals",))
    meaning = find_path(f"{path}.{last}")
    if meaning is not None:
        return meaning
    of = engine.variables.inspect(path.replace(":", "."))
    return find(last, SECTIONS_OF_CLASS.get(_class(of), ()))


def _class(facts: Facts) -> str:
    """Return the key of a value's class in SECTIONS_OF_CLASS."""
    category = str(facts.get("category", ""))
    if category in ("tensor", "storage"):
        return category.capitalize()
    return str(facts.get("class", "")).removeprefix("torch.")


def _users_function(name: str, facts: Facts, log: Sequence[Entry]) -> str:
    where, source = function_text(facts, log)
    head = f"{name}({facts['parameters']}): defined in {where}\n"
    return head + textwrap.indent(source + "\n" if source else "", "  ")


def _users_class(name: str, constructor: Facts, log: Sequence[Entry], engine: Engine) -> str:
    """Return the text on a class of torch.class. constructor: its first argument is the object."""
    where, _ = function_text(constructor, log)
    arguments = str(constructor.get("parameters", "")).partition(", ")[2]
    return f"{name}({arguments}): a class; its constructor is defined in {where}\n" + _methods(
        name, {"category": "table", "class": name}, engine
    )


def explained(meaning: Meaning) -> str:
    """Return a function's line of meaning, and its call forms."""
    text = f"{meaning.call}{meaning.arguments}\n" + filled(meaning.text, 4)
    owner = meaning.section
    if owner not in ("torch", "Tensor", "Storage"):
        return text
    sections = call_forms(meaning.name, "" if owner == "torch" else owner)
    return "\n".join([text, *sections]) + LEGEND if sections else text


# -- names without a value


def _without_value(name: str, engine: Engine) -> str:
    """Return the text on a name that has no value in the session."""
    path, mark, last = parts_of(name)
    if not mark:
        meaning = find(last, ("torch", "Tensor", "keywords", "Storage"))
    elif mark == ":" and not engine.variables.inspect(path.replace(":", ".")):
        meaning = find(last, ("Tensor", "torch", "Storage", "File"))
    else:
        meaning = None
    return explained(meaning) if meaning else _unknown(name, path, mark, last, engine)


def _unknown(name: str, path: str, mark: str, last: str, engine: Engine) -> str:
    near = nearest(last, few_names(path.replace(":", "."), engine))
    is_bare = not mark
    if not is_bare and not near:
        path, near = _near_paths(path, mark, last, engine)
    if is_bare and not near:
        path, mark, near = _near_of_torch(last, engine)
    package = re.split("[.:]", name)[0]
    text = f"nothing is named {name}"
    if package in engine.package_sources() and not engine.variables.inspect(package):
        return f"{text}: require '{package}' loads that package, th --install {package} brings it\n"
    if near:
        text += f"; there is {', '.join(f'{path}{mark}{near_name}' for near_name in near)}"
    meanings = search(last) if last.isalpha() and is_bare and not near else []
    return f"{text}\n" + (_listed(meanings) if meanings else "")


def _near_paths(path: str, mark: str, name: str, engine: Engine) -> tuple[str, list[str]]:
    """Return the path that is nearly right, of those behind which the name is; and the name."""
    dotted = path.replace(":", ".")
    if "." in dotted or engine.variables.inspect(dotted):
        return path, []
    right = [
        near_name
        for near_name in nearest(path, few_names("", engine))
        if name in engine.variables.names(near_name)
    ]
    return (right[0], [name]) if len(right) == 1 else (path, [])


def _near_of_torch(name: str, engine: Engine) -> tuple[str, str, list[str]]:
    """Return the path, mark and names of the nearest functions of torch, or methods of tensors."""
    near = nearest(name, engine.variables.names("torch"))
    return ("torch", ".", near) if near else ("x", ":", nearest(name, sections()["Tensor"]))


# -- topics


def _topic(words: str) -> str:
    meanings = search(words)
    return _listed(meanings) if meanings else f"no function is known to be about: {words}\n"


def _listed(meanings: Sequence[Meaning]) -> str:
    return two_columns([(meaning.call, meaning.text) for meaning in meanings])


# -- the text of `?` alone: the prompt's own commands and keys, on one screen

_ROWS = (
    ("1 + 2", "prints the value; with ; at the end it does not"),
    ("x = torch.randn(2, 3)", "defines a global; a local stays until another one"),
    ("_7, _LAST", "the value of input 7; the last one"),
    ("? torch.sum, ? x:sum", "what a function does and how it is called"),
    ("? x", "what a value is; of your own functions the source"),
    ("? sort descending", "the functions that words tell of"),
    ("?? torch.sum", "examples of pages"),
    ("who()", "the variables: sizes, bytes, which share memory"),
    ("show(x)", "an image of x; show(x, 'file.png') writes it"),
    ("%debug, %store x", "looks into an error; keeps x; % lists all commands"),
    ("%save page.md", "the session as a page; pasted pages are compared"),
    ("$ ls -l", "a command of the system's shell; _LAST is its output"),
    ("Tab", "completes names, methods after ':', files in quotes"),
)


def overview() -> str:
    """Return the text, at most 22 lines of a terminal with 80 columns."""
    return paragraphs.overview(
        "th runs Lua, line by line, with torch in it. At the prompt:",
        _ROWS,
        "An input that is not complete goes on in the next line, at the prompt '..>'.",
    )


# -- the call forms of torch's operations, from the table of operations


LEGEND = "[x] may be left out, *x* is the destination; of a method, the first one is its object.\n"

#: The parts of docstrings for those who read the implementation.
_INTERNAL = re.compile(r"; see [\w/]+\.\w+(?: \([^;]*\))?| \(see (?:(?! \(see ).)*?\)| Raises .*")


def call_forms(name: str, owner: str = "") -> list[str]:
    """Return the forms of an operation, in a section for each way in which it can be called.

    owner: 'torch' for the function, 'Tensor' or 'Storage' for the method, '' for all.
    """
    if "_" in name:
        return []
    keys = {"": (name, f"Storage.{name}"), "Storage": (f"Storage.{name}",)}.get(owner, (name,))
    spaces = {"torch": ("function",), "Tensor": ("method",)}.get(owner, ("function", "method"))
    # The rows that only HalfTensor has are left out.
    row_lists = [[row for row in TABLE.get(key, []) if _is_public(row)] for key in keys]
    return [text for rows in row_lists for text in _section(rows, spaces)]


def _is_public(row: Row) -> bool:
    return any(dtype in ALL for dtype in row.types)


def _section(rows: list[Row], spaces: tuple[str, ...]) -> list[str]:
    """Return the forms of one operation; once, if method and function have the same ones."""
    if all(row.method == row.function for row in rows) and len(spaces) > 1:
        return [_forms(rows, spaces)] if rows else []
    return [_forms(rows, (space,)) for space in spaces if any(row.form(space) for row in rows)]


def _forms(rows: list[Row], spaces: tuple[str, ...]) -> str:
    owner, _, name = rows[0].name.rpartition(".")
    calls = {"function": f"torch.{name}(...)", "method": f"{'s' if owner else 'x'}:{name}(...)"}
    lines = [", ".join(calls[space] for space in spaces)]
    for row in rows:
        form = row.form(spaces[0])
        if form is not None:
            doc = _first_sentence(row)
            lines.append(f"    {_text(form, row)}")
            if doc:
                lines.append(f"        {doc}")
    return "\n".join(lines) + "\n"


def _first_sentence(row: Row) -> str:
    return _INTERNAL.sub("", (row.implementation.__doc__ or "").partition("\n")[0])


def _text(form: str, row: Row) -> str:
    """Return a form as error messages print it for one element type, with all types if few have
    it.
    """
    dtype = DOUBLE if DOUBLE in row.types else row.types[0]
    form = without_types(form, f"{dtype.name}Tensor", dtype.real)
    if all(some in row.types for some in ALL):
        return form
    return f"{form}   ({', '.join(some.name for some in row.types)})"

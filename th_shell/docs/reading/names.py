"""The names in code of any language that examples have: functions of a language and a source."""

from collections.abc import Callable, Set

from th_shell import python_syntax
from th_shell.docs.reading import lua_names
from th_shell.docs.reading.examples import PYTHON

_Names = Callable[[str], Set[str]]


def _of(in_python: _Names, in_lua: _Names) -> Callable[[str, str], frozenset[str]]:
    return lambda language, source: frozenset((in_python if language == PYTHON else in_lua)(source))


#: Returns the names that code gives a value.
bound_names = _of(python_syntax.bound_names, lua_names.bound_names)
#: Returns the names that code gives a value which may outlive it: no parameters.
lasting_names = _of(python_syntax.lasting_names, lua_names.lasting_names)
#: Returns the names whose values code binds, sets a part of, or calls a method of by itself.
changed_names = _of(python_syntax.changed_names, lua_names.changed_names)
#: Returns the names of fields and methods in code, and of functions that it calls.
called_names = _of(python_syntax.called_names, lua_names.called_names)
#: Returns the names whose values code uses.
read_names = _of(python_syntax.read_names, lua_names.read_names)
#: Returns the names that code gives to modules.
imported_names = _of(python_syntax.imported_names, lua_names.required_names)

"""The functions and classes of th-docs that other rooms use.

It is imported when the first page is pasted, shown or saved. What it imports is what they use.
"""
# ruff: noqa: F401

from th_shell.docs.checking import Checker, ReadPage, assess_page
from th_shell.docs.judging.comparison import agrees
from th_shell.docs.judging.printout import loose_layout, numbers
from th_shell.docs.judging.reasons import damage
from th_shell.docs.judging.repairs import Passage, repairs
from th_shell.docs.judging.verdicts import Judging, Result, Verdict
from th_shell.docs.reading import lua_names
from th_shell.docs.reading.classification import examples_of
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import (
    LUA,
    Block,
    Example,
    Kind,
    Line,
    PageText,
    edited,
    numbered,
)
from th_shell.docs.reading.page import read, read_text
from th_shell.docs.reading.prose import is_prose
from th_shell.docs.reading.python import cut_python
from th_shell.docs.reporting.differences import changes
from th_shell.docs.reporting.report import TextReport
from th_shell.docs.running.configured import decided, missing_imports
from th_shell.docs.running.evaluation import Outcome, unrunnable
from th_shell.docs.running.processes import Starter
from th_shell.docs.selection import NoPagesError, find_pages
from th_shell.docs.settings.directives import cut_with_settings
from th_shell.docs.settings.settings import Configuration, Hidden, PageError, SettingsError

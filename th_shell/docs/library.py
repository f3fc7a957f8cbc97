"""What the other rooms use of th-docs: how pages are read, judged, run and reported.

It is imported when the first page is pasted, shown or saved. What is imported here under its own
name is what they use.
"""

from __future__ import annotations

from th_shell.docs.checking import Checker as Checker
from th_shell.docs.checking import assess_page as assess_page
from th_shell.docs.command.selection import NoPagesError as NoPagesError
from th_shell.docs.command.selection import find_pages as find_pages
from th_shell.docs.judging.comparison import agrees as agrees
from th_shell.docs.judging.printout import loose_layout as loose_layout
from th_shell.docs.judging.printout import numbers as numbers
from th_shell.docs.judging.verdicts import Judging as Judging
from th_shell.docs.judging.verdicts import Result as Result
from th_shell.docs.judging.verdicts import Verdict as Verdict
from th_shell.docs.reading.compiler import Compiler as Compiler
from th_shell.docs.reading.examples import LUA as LUA
from th_shell.docs.reading.examples import Block as Block
from th_shell.docs.reading.examples import Example as Example
from th_shell.docs.reading.examples import Kind as Kind
from th_shell.docs.reading.examples import Line as Line
from th_shell.docs.reading.examples import PageText as PageText
from th_shell.docs.reading.examples import numbered as numbered
from th_shell.docs.reading.names import bound_names as bound_names
from th_shell.docs.reading.names import called_names as called_names
from th_shell.docs.reading.names import read_names as read_names
from th_shell.docs.reading.page import read as read
from th_shell.docs.reading.page import read_text as read_text
from th_shell.docs.reading.prose import is_prose as is_prose
from th_shell.docs.reading.python import cut_python as cut_python
from th_shell.docs.reading.refining import examples_of as examples_of
from th_shell.docs.reporting.differences import changes as changes
from th_shell.docs.reporting.report import TextReport as TextReport
from th_shell.docs.reporting.report import View as View
from th_shell.docs.running.configured import decided as decided
from th_shell.docs.running.evaluation import Outcome as Outcome
from th_shell.docs.running.evaluation import unrunnable as unrunnable
from th_shell.docs.running.processes import MAX_OUTPUT as MAX_OUTPUT
from th_shell.docs.running.processes import Starter as Starter
from th_shell.docs.settings.conditions import Facts as Facts
from th_shell.docs.settings.configuration import Configuration as Configuration
from th_shell.docs.settings.placement import cut_with_settings as cut_with_settings
from th_shell.docs.settings.settings import Hidden as Hidden
from th_shell.docs.settings.settings import PageError as PageError
from th_shell.docs.settings.settings import SettingsError as SettingsError

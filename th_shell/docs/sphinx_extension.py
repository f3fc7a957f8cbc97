"""An extension of Sphinx that checks the examples of the pages which are built.

In conf.py: `extensions = ["th_shell.docs.sphinx_extension"]`. What fails is a warning of the type
`th-docs`; with `th_docs_fail = True` the build fails then. Pages are checked when their references
are resolved: Sphinx does this in one process, also where several write pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

from th_shell.docs.built_pages import failures_of, marked
from th_shell.docs.checking import shared_checker
from th_shell.docs.judging.verdicts import PageResult

_LOG = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the extension to a build."""
    build = _Build()
    app.add_config_value("th_docs_fail", False, "", [bool])
    app.connect("doctree-resolved", build.check)
    app.connect("html-page-context", build.mark)
    app.connect("build-finished", build.end)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class _Build:
    """One run of Sphinx, and the pages that it has checked."""

    def __init__(self) -> None:
        self._pages: dict[str, PageResult] = {}

    def check(self, app: Sphinx, doctree: nodes.document, name: str) -> None:
        """Check a page, and those that a builder has put into it."""
        parts = [part["docname"] for part in doctree.findall(addnodes.start_of_file)]
        for part in dict.fromkeys((name, *parts)):
            page = self._pages[part] = shared_checker().check(Path(app.env.doc2path(part)))
            for line, text in failures_of(page):
                _LOG.warning("%s", text, type="th-docs", location=(part, line))

    def mark(self, _: Sphinx, name: str, __: str, context: dict[str, Any], ___: object) -> None:
        """Put the verdicts into the HTML of a page."""
        if name in self._pages:
            context["body"] = marked(context["body"], self._pages[name])

    def end(self, app: Sphinx, _: object) -> None:
        """Let the build fail, if it is to."""
        if app.config.th_docs_fail and any(page.failed for page in self._pages.values()):
            app.statuscode = 1

"""A plugin of MkDocs that checks the examples of the pages which are built.

In mkdocs.yml: `plugins: [th-docs]`. What fails is a warning, which `--strict` makes an error; with
the option `fail: true` the build fails in any case, when all pages are built.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.config import config_options
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, get_plugin_logger

from th_shell.docs.built_pages import failures_of, marked
from th_shell.docs.checking import shared_checker
from th_shell.docs.judging.verdicts import PageResult
from th_shell.runtime.shell import PROCESSORS

_LOG = get_plugin_logger("th-docs")


class Plugin(BasePlugin):  # type: ignore[misc]
    """The plugin; `mkdocs serve` builds several times with one."""

    config_scheme = (("fail", config_options.Type(bool, default=False)),)

    def on_pre_build(self, **_: Any) -> None:
        """Begin a build."""
        self._failed: list[str] = []

    def on_nav(self, nav: Any, *, files: Any, **_: Any) -> None:
        """Begin to check the pages that have files, as many at a time as there are processors."""
        pool, check = ThreadPoolExecutor(PROCESSORS), shared_checker().check
        places = [file.abs_src_path for file in files.documentation_pages() if file.abs_src_path]
        self._results: dict[str, Future[PageResult]]
        self._results = {place: pool.submit(check, Path(place)) for place in places}
        pool.shutdown(wait=False)

    def on_page_content(self, html: str, *, page: Any, **_: Any) -> str:
        """Return the HTML of a page with the verdicts, if it has a file."""
        if not page.file.abs_src_path:
            return html
        result = self._results[page.file.abs_src_path].result()
        for line, text in failures_of(result):
            _LOG.warning("%s:%d: %s", page.file.src_uri, line, text)
        if result.failed:
            self._failed.append(page.file.src_uri)
        return marked(html, result)

    def on_post_build(self, **_: Any) -> None:
        """Let the build fail, if it is to."""
        if self.config["fail"] and self._failed:
            raise PluginError(f"examples fail in {', '.join(self._failed)}")

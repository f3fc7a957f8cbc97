"""The site in a browser: `scripts/site --check` builds it and runs these tests.

They need Debian's chromium, or another Chromium that is named so, and skip without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium")
#: The browser is to speak with our server alone.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
PAGES = [
    "",
    "docs/tour/",
    "docs/old_program/",
    "docs/comparison/",
    "reference/tensors/",
    "reference/python/",
    "th_shell/docs/",
    "th_shell/terminal/",
    "th_shell/public_programs/",
    "tests/docs/torch7_in_python/",
]
WIDTHS = (360, 768, 1280)
MOST_BYTES = 1_500_000
#: Code that is wider than its room can be scrolled by keys; the theme sees to this a little later.
REACHABLE = """[...document.querySelectorAll("pre code")].every(
    (code) => code.scrollWidth <= code.clientWidth || code.hasAttribute("tabindex"))"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("playwright", "axe_playwright_python", "material"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The address at which a server has it."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site))) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Watched:
    """A page, and what goes wrong while it is there. bytes: of what it has loaded."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.problems, self.bytes = page, list[str](), 0
        page.on("console", lambda one: self._note(one.type in ("error", "warning"), one.text))
        page.on("pageerror", lambda error: self._note(True, str(error)))
        page.on("request", lambda one: self._note(not one.url.startswith(address), one.url))
        page.on("response", self._loaded)

    def _note(self, is_wrong: bool, text: str) -> None:
        self.problems += [text] * is_wrong

    def _loaded(self, response: Any) -> None:
        self.bytes += int(response.headers.get("content-length", 0))
        self._note(response.status >= 400, f"{response.status} {response.url}")


@pytest.fixture(scope="module")
def opened(address: str) -> Iterator[Callable[..., Watched]]:
    """Opens a page, by its path, in a window of its own, which may have a size and a colour."""
    from playwright.sync_api import sync_playwright

    if not CHROMIUM:
        pytest.skip("there is no chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

        def opened(path: str, width: int = 1280, colours: Any = "light") -> Watched:
            size = {"width": width, "height": 900}
            watched = Watched(browser.new_page(viewport=size, color_scheme=colours), address)
            watched.page.set_default_timeout(120_000)  # a busy machine may take its time
            watched.page.goto(address + path, wait_until="networkidle")
            return watched

        yield opened
        browser.close()


@pytest.mark.parametrize("path", [*PAGES, "reference/torch/"])
def test_pages_are_whole(opened: Callable[..., Watched], path: str) -> None:
    """Nothing fails, comes from elsewhere, is too much, or is wider than the window."""
    for width in WIDTHS:
        for colours in ("light", "dark"):
            one = opened(path, width, colours)
            assert one.problems == []
            assert 0 < one.bytes < MOST_BYTES
            assert one.page.evaluate("document.scrollingElement.scrollWidth") <= width
            one.page.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_can_be_used_by_all(opened: Callable[..., Watched], path: str, colours: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    one = opened(path, 1280, colours)
    one.page.wait_for_function(REACHABLE)
    found = Axe().run(one.page).response["violations"]
    serious = [
        f"{rule['id']}: {node['html']}"
        for rule in found
        for node in rule["nodes"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []
    one.page.close()


@pytest.mark.parametrize(
    ("words", "found"),
    [("torch.cat", "reference/torch/#torchcat"), ("minimum", "reference/torch/#torchmin")],
)
def test_search_finds_functions(opened: Callable[..., Watched], words: str, found: str) -> None:
    one = opened("")
    one.page.keyboard.press("/")
    one.page.keyboard.type(words)
    one.page.wait_for_selector(".md-search-result__link")
    links = one.page.eval_on_selector_all(".md-search-result__link", "all => all.map(x => x.href)")
    assert any(found in link for link in links[:5]), links
    assert one.problems == []


def test_marks_lead_to_verdicts(opened: Callable[..., Watched]) -> None:
    one = opened("docs/tour/")
    one.page.click("a.th-docs-pass >> nth=0")
    shown = one.page.locator("li:target")
    assert shown.inner_text().endswith(": pass")
    assert 0 < shown.bounding_box()["y"] < 900
    commit = one.page.locator("#th-docs-verdicts h2 code").inner_text()
    assert commit.removesuffix("-dirty")
    assert one.problems == []


def test_links_lead_somewhere(site: Path) -> None:
    """In the site, and in the Markdown of the repository."""
    lychee = Path(sys.executable).with_name("lychee")
    command = [lychee, "--offline", "--include-fragments", "--no-progress", "--root-dir", site]
    for folder, places in ((site, "**/*.html"), (TOP, "**/*.md")):
        index = "index.html" if folder is site else "."
        words = [*command, "--index-files", index, places]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout

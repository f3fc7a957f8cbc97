"""MkDocs hooks: the pages of the site come from where they stand in the repository.

A page keeps the path that it has there, so that links between pages hold in both places. Files that
pages lead to come along. The reference of torch is written from the lines of `? name`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePosixPath
from posixpath import normpath
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.structure.files import File

import th_shell
from th_shell.docs.checking import shared_checker
from th_shell.docs.reading.examples import Example
from th_shell.help.about import LEGEND, explained
from th_shell.help.meanings import SECTIONS_OF_CLASS, Meaning, sections
from th_shell.help.pages import find_examples, page_folders
from th_shell.runtime.shell import Engine

TOP = Path(__file__).parents[1]
#: The start of links, up to the end of their addresses, but for those with a scheme.
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()#: ]+)(#[^() ]*)?\)")
#: What the site does not tell: texts that are parts of pages.
_PARTS = ("tests/outside/", ".github/")
_MARKUP = re.compile(r"[*_<\[\]`]")
_escaped = r"\\\g<0>"
_written = TemporaryDirectory(prefix="th-site-")
_commit = subprocess.run(
    ["git", "describe", "--always", "--dirty", "--exclude=*"],
    cwd=TOP,
    capture_output=True,
    text=True,
).stdout.strip()
_VERDICTS = {
    '<section id="th-docs-verdicts">': '<section id="th-docs-verdicts" data-search-exclude>',
    "<h2>Verdicts</h2>": f"<h2>Verdicts at commit <code>{_commit}</code></h2>",
}


def on_config(config: Any) -> None:
    """Add what stands at the top of the repository, such as a list of changes, to the last tab."""
    (pages,) = config.nav[-1].values()
    pages[:0] = [page for page in _listed(":/*.md") if page != "README.md" and "/" not in page]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, what they lead to, and the reference."""
    pages = _listed("*.md")
    linked = {path for page in pages for path in _targets(page) if (TOP / path).is_file()}
    reference = Path(_written.name)
    for path in sorted({*pages, *linked}):
        files.append(File(path, TOP, config.site_dir, True))
    for path in write_reference(reference):
        files.append(File(path, reference, config.site_dir, True))
    return files


def _listed(pattern: str) -> list[str]:
    """Return the files of the repository that match a pattern, from its top."""
    words = ["git", "ls-files", "-co", "--exclude-standard", pattern]
    found = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=True).stdout
    return [path for path in found.split("\n") if path and not path.startswith(_PARTS)]


def _targets(page: str) -> Iterator[str]:
    """Yield the paths from the repository's top that a page has links to."""
    for link in _LINK.finditer((TOP / page).read_text("utf-8")):
        yield _resolved(page, link[2])


def _resolved(page: str, address: str) -> str:
    return normpath(PurePosixPath(page).parent / address)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Leave out links to folders, which the site does not have, and keep their texts."""

    def kept(link: re.Match[str]) -> str:
        is_folder = (TOP / _resolved(page.file.src_uri, link[2])).is_dir()
        return link[1] if is_folder else link[0]

    return _LINK.sub(kept, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Tell the commit whose th has given a page's verdicts, for which nobody searches."""
    for old, new in _VERDICTS.items():
        html = html.replace(old, new)
    return html


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's search for screen readers."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


# -- the reference

#: The pages of the reference: names, titles, and the sections of `help/meanings`.
_REFERENCE = {
    "torch": ("Functions of torch", ("torch",)),
    "tensors": ("Methods of tensors and storages", ("Tensor", "Storage")),
    "classes": ("Files, timers, options, testers", tuple(SECTIONS_OF_CLASS)[3:]),
}
_PYTHON = "reference/python.md"
_shown = {section for _, among in _REFERENCE.values() for section in among}
_REFERENCE["libraries"] = ("Libraries", tuple(key for key in sections() if key not in _shown))


def write_reference(folder: Path) -> list[str]:
    """Write the pages of the reference into a folder; return their paths there."""
    (folder / "reference").mkdir()
    texts = [f"\n::: th_shell.runtime.{name}\n" for name in th_shell.__all__]
    (folder / _PYTHON).write_text("# Python\n" + "".join(texts), "utf-8")
    with ThreadPoolExecutor() as pool:
        return [_PYTHON, *pool.map(partial(_write_page, folder), _REFERENCE)]


def _write_page(folder: Path, name: str) -> str:
    """Write a page, without the examples that do not hold where they stand in it."""
    title, among = _REFERENCE[name]
    engine, path = Engine(), folder / "reference" / f"{name}.md"
    entries = [one for key in among for one in sections().get(key, {}).values()]
    texts = {_entry(one): _example(one, engine) for one in entries}
    page = [f"# {title}\n", _MARKUP.sub(_escaped, LEGEND), *map("".join, texts.items())]
    path.write_text("\n".join(page), "utf-8")
    failed = {result.example.heading for result in shared_checker().check(path).failures}
    page[2:] = [
        entry + example * (entry.split()[1] not in failed) for entry, example in texts.items()
    ]
    path.write_text("\n".join(page), "utf-8")
    return str(path.relative_to(folder))


def _entry(meaning: Meaning) -> str:
    """Return what the reference tells of a function: what `? name` does."""
    _, _, forms = explained(meaning).removesuffix(LEGEND).partition("\n\n")
    calls = forms.strip() or (meaning.arguments and meaning.call + meaning.arguments)
    text = f"## {meaning.call}\n\n{_MARKUP.sub(_escaped, meaning.text)}\n"
    return text + f"\n```text\n{calls}\n```\n" * bool(calls)


def _example(meaning: Meaning, engine: Engine) -> str:
    """Return an example of a function, with what it needs; '' without one."""
    examples = find_examples(meaning.call, page_folders(), engine, 1).examples
    lines = [line for shown in examples for step in shown.steps for line in _lines(step)]
    return "\n".join(["\n```lua", *lines, "```\n"]) if lines else ""


def _lines(step: Example) -> list[str]:
    output = [*step.expected.split("\n"), ""] if step.expected else []
    return ["th> " + step.source.replace("\n", "\n..> "), *output]

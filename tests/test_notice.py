"""NOTICE names whose behaviour is reproduced, and is part of what is installed."""

import re
from pathlib import Path

TOP = Path(__file__).parents[1]
LICENCES = ("BSD-3-Clause", "MIT")


def sections() -> dict[str, str]:
    """What NOTICE says of each project, by its name."""
    parts = re.split(r"^(\S.*) \(https://\S+\)$", (TOP / "NOTICE").read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_project_has_its_copyright_and_a_licence_that_is_quoted() -> None:
    quoted = (TOP / "NOTICE").read_text().splitlines()
    for name, text in sections().items():
        assert re.search(r"^    Copyright (\(c\)|\(C\)|©) \d{4}", text, re.M), name
        assert [licence in text and licence in quoted for licence in LICENCES].count(True), name


def test_every_package_that_comes_along_is_named() -> None:
    described = " ".join(sections()) + " ".join(sections().values())
    folder = TOP / "runtime/packages"
    loaded = re.findall(r"'packages\.(\w+)'", (folder / "init.lua").read_text())
    table = (folder / "provided.lua").read_text().partition("PROVIDED = {")[2].partition("}")[0]
    required = re.findall(r"(?:^|[{,])\s*(?:\[')?(\w+)", table, re.M)
    packages = {*loaded, *required} - {"require", "provided", "gpu"}
    assert {name for name in packages if not re.search(rf"\b{name}\b", described)} == set()
    assert packages >= {"dok", "image", "lfs", "paths", "sys", "threads", "trepl", "xlua"}


def test_it_is_installed() -> None:
    found = re.search(r"^license-files = \[(.*)\]$", (TOP / "pyproject.toml").read_text(), re.M)
    assert found
    assert re.findall(r'"(.*?)"', found[1]) == ["LICENSE", "NOTICE"]

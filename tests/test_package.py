"""What is installed: all packages of the checkout."""

from pathlib import Path

from th_shell.docs.settings.options import read_toml

TOP = Path(__file__).parents[1]


def test_all_packages_are_installed() -> None:
    listed = read_toml(TOP / "pyproject.toml")["tool"]["setuptools"]["packages"]
    folders = (
        path.parent.relative_to(TOP)
        for name in ("runtime", "th_shell")
        for path in (TOP / name).rglob("__init__.py")
    )
    assert sorted(listed) == sorted(".".join(folder.parts) for folder in folders)

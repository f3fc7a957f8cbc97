"""What is installed: all packages of the checkout."""

from pathlib import Path

from th_shell.docs.settings.options import read_toml

TOP = Path(__file__).parents[1]


def test_all_packages_are_installed() -> None:
    listed = read_toml(TOP / "pyproject.toml")["tool"]["setuptools"]["packages"]
    folders = (
        str(path.parent.relative_to(TOP))
        for name in ("runtime", "th_shell")
        for path in (TOP / name).rglob("__init__.py")
    )
    assert sorted(listed) == sorted(import_name(folder) for folder in folders)


def import_name(folder: str) -> str:
    """Return the name under which a folder's package is imported: the links in th_shell give it."""
    name = f"th_shell/{folder}" if folder.startswith("runtime") else folder
    return name.replace("th_shell/runtime/pytorch", "th_shell/torch").replace("/", ".")

"""Checks sources as th --check does."""

from pathlib import Path
from typing import Protocol

import pytest

from th_shell.preflight.finding import NOTES
from th_shell.preflight.knowledge import Facts, facts_of
from th_shell.preflight.programs import Modules, World, read
from th_shell.preflight.rules import findings
from th_shell.runtime.shell import Engine


class Check(Protocol):
    """What is found in the first of some sources."""

    def __call__(
        self, *sources: str, columns: bool = False, beside: str = "", notes: bool = False
    ) -> list[str]: ...


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.fixture(scope="module")
def facts(engine: Engine) -> Facts:
    return facts_of(engine)


@pytest.fixture
def check(engine: Engine, facts: Facts, tmp_path: Path) -> Check:
    """beside: a file in the folder that is not checked."""

    def found(
        *sources: str, columns: bool = False, beside: str = "", notes: bool = False
    ) -> list[str]:
        paths = [tmp_path / f"program{i}.lua" for i in range(len(sources))]
        for path, source in zip(paths, sources, strict=True):
            path.write_text(source)
        (tmp_path / "beside.lua").write_text(beside)
        programs = [read(path, engine) for path in paths]
        world = World.of(programs, facts, Modules(engine, paths))
        return [
            f"{one.line}:{one.column}: {one.message}" if columns else f"{one.line}: {one.message}"
            for one in findings(programs[0], world)
            if notes or one.subject not in NOTES
        ]

    return found

"""What the programs that are checked together may build on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from th_shell.preflight.knowledge import Facts
from th_shell.preflight.modules import Modules
from th_shell.preflight.origins import required_module
from th_shell.preflight.programs import Program, Programs, UnreadableError, read


@dataclass(frozen=True)
class World:
    """What a program may build on: what th has, its modules, and what all programs define.

    is_extended: whether they load modules that cannot be read, which may add to torch.
    """

    facts: Facts
    modules: Modules
    programs: Programs
    is_extended: bool = False

    @classmethod
    def of(cls, programs: Sequence[Program], facts: Facts, modules: Modules) -> World:
        """The world of programs that are checked together: with the modules that they load."""
        known = {program.path.resolve() for program in programs}
        read_too, is_extended = list(programs), False
        for program in read_too:  # which grows
            for name in filter(None, map(required_module, program.chunk.nodes)):
                file = modules.file(name, program.path)
                if file is None or file.resolve() in known:
                    continue
                known.add(file.resolve())
                try:
                    read_too.append(read(file, facts.engine))
                except UnreadableError:
                    is_extended = True
        is_extended = is_extended or any(one.error for one in read_too[len(programs) :])
        return cls(facts, modules, Programs.of(read_too), is_extended)

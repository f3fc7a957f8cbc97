"""How many mistakes of people ``th --check`` finds: makes some in programs, one at a time.

    python -m tests.seeded FOLDER… [--each 50] [--seed 1] [--missed]

Each folder is a program, or several. Of each kind of mistakes so many are made: misspelt members
and methods, numbers of arguments, sizes, undefined globals, at places that --check has nothing to
say of. --missed shows those that it does not find.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.knowledge import Facts, facts_of
from th_shell.preflight.programs import Modules, Program, World, program_of, read
from th_shell.preflight.rules import findings
from th_shell.runtime.shell import Engine

#: A change of a program: where it begins and ends in its bytes, and what stands there then.
Change = tuple[int, int, str]

_ARITY = (
    "torch.ones({a}):add(1, 2, 3, 4)",
    "torch.zeros({a}, {b}):fill(1, 2)",
    "torch.rand({a}):exp(1, 2, 3)",
    "torch.randn({a}, {b}):cmul()",
    "torch.zeros()",
    "torch.cat()",
    "local x_ = torch.Tensor({a}):zero(); x_:uniform(1, 2, 3)",
    "torch.cmul(torch.rand({a}))",
)
_SIZES = (
    "torch.mm(torch.ones({a}, {b}), torch.ones({c}, {a}))",
    "torch.zeros({a}):add(torch.zeros({c}))",
    "torch.rand({a}, {b}):view({c}, {c})",
    "local x_ = torch.ones({a}, {b}) * torch.ones({c}, {b})",
    "local x_ = torch.rand({a}) + torch.rand({c})",
    "local x_ = torch.randn({a}, {b}); x_:cmul(torch.ones({c}, {b}))",
    "torch.range(1, {a}):reshape({c}, {c})",
    "torch.ones({a}, {b}):t() * torch.ones({c})",
)


def slip(name: str, dice: random.Random) -> str:
    """A name with two letters swapped, one left out, doubled, or another one instead."""
    at = dice.randrange(1, len(name) - 1)
    return dice.choice(
        [
            name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :],
            name[:at] + name[at + 1 :],
            name[:at] + name[at] + name[at:],
            name[:at] + dice.choice("aeinorst") + name[at + 1 :],
        ]
    )


class Seeder:
    """Makes mistakes in the programs of a folder, and looks whether they are found."""

    def __init__(self, folder: Path, engine: Engine, facts: Facts) -> None:
        self._engine, self._facts = engine, facts
        paths = [path for path in sorted(folder.rglob("*.lua")) if path.is_file()]
        self.programs = [read(path, engine) for path in paths]
        self._modules = Modules(engine, paths)
        self._files = {one.path.resolve(): one for one in self.programs}
        self._before = {
            one.path: {found.line for found in self._found(one, one)} for one in self.programs
        }

    def _found(self, old: Program, new: Program) -> list:  # type: ignore[type-arg]
        programs = [new if one is old else one for one in self.programs]
        return findings(new, World.of(programs, self._facts, self._modules, self._read))

    def _read(self, path: Path, engine: Engine) -> Program:
        if path not in self._files:
            self._files[path] = read(path, engine)
        return self._files[path]

    def is_found(self, program: Program, change: Change) -> bool | None:
        """Whether a change is found in its line; None where it is no mistake to begin with."""
        start, end, text = change
        data = program.parsed[:start] + text.encode() + program.parsed[end:]
        new = program_of(program.path, data, self._engine)
        line = program.parsed.count(b"\n", 0, start) + 1
        if new.errors or line in self._before[program.path]:
            return None
        return line in {found.line for found in self._found(program, new)}


def _misspelt(program: Program, dice: random.Random) -> Iterator[Change]:
    """Members of packages, fields and methods."""
    for node in program.chunk.nodes:
        name = ""
        if isinstance(node, tree.Index) and node.use in (tree.Use.CALLED, tree.Use.INDEXED):
            name = node.key or ""
        elif isinstance(node, tree.Invoke):
            name = node.name
        if re.fullmatch(r"[A-Za-z]\w{3,}", name) and node.place.end - node.place.start == len(name):
            yield node.place.start, node.place.end, slip(name, dice)


def _undefined(program: Program, dice: random.Random) -> Iterator[Change]:
    """Variables that are read."""
    for node in program.chunk.nodes:
        if isinstance(node, tree.Name) and node.use is not tree.Use.ASSIGNED and len(node.name) > 3:
            yield node.place.start, node.place.end, slip(node.name, dice)


def _inserted(program: Program, dice: random.Random, texts: tuple[str, ...]) -> Iterator[Change]:
    """Statements before functions and calls that begin a line."""
    for found in re.finditer(rb"(?m)^[ \t]*(?=(?:local |\w+\())", program.parsed):
        a, b, c = dice.sample(range(2, 20), 3)
        yield found.end(), found.end(), dice.choice(texts).format(a=a, b=b, c=c) + "; "


def _arguments(program: Program, dice: random.Random) -> Iterator[Change]:
    """Calls of torch's functions with no arguments or far too many, and inserted ones."""
    yield from _inserted(program, dice, _ARITY)


KINDS: dict[str, Callable[[Program, random.Random], Iterator[Change]]] = {
    "misspelt": _misspelt,
    "arguments": _arguments,
    "sizes": lambda program, dice: _inserted(program, dice, _SIZES),
    "undefined": _undefined,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    sys.setrecursionlimit(10_000)
    dice, engine = random.Random(options.seed), Engine()
    facts = facts_of(engine)
    seeders = [Seeder(folder, engine, facts) for folder in options.folders]
    made, found = Counter[str](), Counter[str]()
    for kind, changes in KINDS.items():
        while made[kind] < options.each:
            seeder = dice.choice([one for one in seeders if one.programs])
            program = dice.choice(seeder.programs)
            possible = list(changes(program, dice))
            if not possible:
                continue
            change = dice.choice(possible)
            is_found = seeder.is_found(program, change)
            if is_found is None or change[2] == program.parsed[change[0] : change[1]].decode():
                continue
            made[kind] += 1
            found[kind] += is_found
            if not is_found and options.missed:
                was = program.parsed[change[0] : change[1]].decode()
                line = program.parsed.count(b"\n", 0, change[0]) + 1
                print(f"{program.path}:{line}: {was} -> {change[2]}")
    for kind in KINDS:
        print(f"{kind}: {found[kind]} of {made[kind]}")
    print(f"all: {found.total()} of {made.total()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

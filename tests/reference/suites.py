"""The suites of Torch7 and of its packages: what each runs, needs, and must reach."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """The suite of a package; its name is that of the package's checkout.

    reach: how many must pass, of what it runs: of its tests, which its Tester counts, or, where it
    has several programs, of these. folder: where the programs are, in the checkout; they run in a
    copy of it. programs: Lua code, a process for each. needs: packages to install, by the names of
    their checkouts.
    """

    name: str
    reach: int
    programs: tuple[str, ...]
    folder: str = "test"
    needs: tuple[str, ...] = ()

    @property
    def counts_programs(self) -> bool:
        """Whether what counts are the programs that end well, and not the tests in one."""
        return len(self.programs) > 1 or self.name == "tds"


def _files(pattern: str, names: str) -> tuple[str, ...]:
    return tuple(f"dofile '{pattern % name}.lua'" for name in names.split())


#: Moses has to be 1.6.1: nn calls functions that later versions name otherwise.
_NN = ("nn", "moses")
_TOTEM = ("totem", "penlight")

SUITES = (
    Suite("torch7", 164, ("dofile 'test.lua' torch.test()",)),
    Suite("nn", 212, ("require 'nn' nn.test()",), needs=_NN),
    # In the reference, one of them fails where there is no program `dot`.
    Suite(
        "nngraph",
        7,
        _files(
            "test_%s",
            "JustElement JustTable ModuleFromCriterion connectivity debug nest nngraph old",
        ),
        needs=("nngraph", "graph", *_NN, *_TOTEM),
    ),
    Suite("torchnet", 32, ("dofile 'test.lua'",), needs=("torchnet", "argcheck", "optim", *_NN)),
    # In the reference, some of them fail for the sizes that a seed draws: with seed 1, one.
    Suite("rnn", 56, ("require 'rnn' rnn.test()",), needs=("rnn", "dpnn", "torchx", *_NN)),
    Suite("dpnn", 32, ("require 'dpnn' dpnn.test()",), needs=("dpnn", "torchx", *_NN)),
    Suite("totem", 27, ("dofile 'test_totem.lua'",), "tests", needs=(*_TOTEM, *_NN)),
    Suite("tds", 1, _files("test_%s", "atomic")),
    # Without test-threads-multiple, which makes 4,000 threads and counts nothing.
    Suite(
        "threads",
        9,
        _files(
            "test-%s",
            "threads threads-async threads-shared threads-safe threads-error threads-coroutine "
            "traceback atomic low-level",
        ),
    ),
)

"""A campaign: fuzzers in turn on every processor, until the time is over.

python -m tests.fuzz.campaign SECONDS [--seed N] [--only NAME] [--keep FOLDER] [--jobs N]
    [--guard 1|front|none]
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from tests.fuzz.fuzzers import FUZZERS, Fuzzer
from tests.fuzz.harness import GUARDS, TOP, Finding, Server, Tally, originals


@dataclass
class _State:
    fuzzer: Fuzzer
    tally: Tally = field(default_factory=Tally)
    spent: float = 0.0
    batch: int = 0


class Campaign:
    """Gives each fuzzer its share of the time, and keeps one finding of each kind."""

    def __init__(
        self,
        names: list[str],
        seed: int,
        keep: Path,
        *,
        verbose: bool = True,
        guards: Sequence[str] = GUARDS,
    ) -> None:
        self._states = {name: _State(FUZZERS[name]) for name in names}
        self._seed = seed
        self._keep = keep
        self._verbose = verbose
        self._guards = guards  # of batches, in turn
        self._lock = threading.Lock()
        self.kinds: dict[str, tuple[Finding, int]] = {}

    def run(self, seconds: float, jobs: int) -> None:
        """Run for some seconds, in so many processes at a time."""
        deadline = time.monotonic() + seconds
        with ThreadPoolExecutor(jobs) as threads:
            for done in [threads.submit(self._work, deadline) for _ in range(jobs)]:
                done.result()

    def _work(self, deadline: float) -> None:
        while (left := deadline - time.monotonic()) > 0:
            with self._lock:
                state = min(self._states.values(), key=lambda s: s.spent / s.fuzzer.weight)
                batch, state.batch = state.batch, state.batch + 1
                state.spent += 1  # so that the other processor takes another
            tally, began = Tally(), time.monotonic()
            guard = self._guards[(self._seed + batch) % len(self._guards)]
            seed, seconds = str(self._seed), min(left, 60)
            state.fuzzer.batch(seed, batch, tally, seconds, guard if state.fuzzer.guarded else "")
            with self._lock:
                state.spent += time.monotonic() - began - 1
                state.tally.add(**tally.counts)
            for finding in tally.findings:
                self._found(finding)

    def _found(self, finding: Finding) -> None:
        with self._lock:
            known = self.kinds.get(finding.kind)
            self.kinds[finding.kind] = (
                known[0] if known else finding,
                known[1] + 1 if known else 1,
            )
            number = len(self.kinds)
        if known:
            return
        where = self._keep / f"{number:03d}-{finding.fuzzer}"
        if finding.case is not None:
            self._reduce(finding)
            path = finding.case.save(where)
            shell = f"PYTHONPATH={quote(str(TOP))} {quote(sys.executable)} -m tests.guard"
            command = f"TH_GUARD={finding.guard} {shell} {path.name}"
            finding.command = finding.command or f"(cd {quote(str(where))}; {command})"
        where.mkdir(parents=True, exist_ok=True)
        program = finding.case.texts()[0] if finding.case is not None else ""
        note = f"{finding.wrong}\nseed: {finding.seed}\n{finding.command}\n\n"
        note += f"{program}{finding.output}\n"
        (where / "note.txt").write_text(note[:20000])
        if self._verbose:
            print(f"{where}: {finding.wrong}", flush=True)

    def _reduce(self, finding: Finding) -> None:
        server = Server(guard=finding.guard)
        try:
            if not server.reduce(finding):
                finding.wrong += " (not by itself: run its batch again)"
        except (OSError, ValueError) as error:  # the server died with it
            finding.wrong += f" (not reduced: {error})"
        finally:
            server.close()

    def table(self) -> str:
        """What was done and found, a line for each fuzzer, then one for each kind of finding."""
        lines = []
        for name, state in self._states.items():
            found = [k for k in self.kinds if k.startswith(f"{name}: ")]
            counts = "  ".join(f"{n} {c:,}" for n, c in sorted(state.tally.counts.items()))
            lines.append(f"{name:12} {state.spent:7.0f} s  findings {len(found)}  {counts}")
        lines += [f"{count:6}  {kind}" for kind, (_, count) in sorted(self.kinds.items())]
        return "\n".join(lines)


def main() -> int:
    """Run a campaign; returns the exit status: 1 where something was found."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=sorted(FUZZERS), metavar="NAME")
    parser.add_argument("--guard", choices=[*GUARDS, "none"])
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--from", dest="caller", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    keep = (options.caller or Path()) / options.keep
    guards = [options.guard.replace("none", "")] if options.guard else GUARDS
    names = options.only or list(FUZZERS)
    campaign = Campaign(names, options.seed, keep.resolve(), guards=guards)
    with originals():
        campaign.run(options.seconds, options.jobs)
    print(campaign.table())
    return 1 if campaign.kinds else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Holds the text under several statements of a script against each of them.

What a script prints may be shown below its last statement. Where that depends on chance, each line
must be like those that its own statement prints.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from th_shell.docs.judging.agreement import comparison
from th_shell.docs.judging.samples import Samples
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.running.evaluation import Outcome


def shares(
    examples: Sequence[Example], index: int, outcomes: Sequence[tuple[Outcome, ...]]
) -> list[tuple[int, str]]:
    """Return the lines that a text under several statements documents of each, by their index.

    Empty where it documents the last one alone, or where they print other numbers of lines.
    """
    last, start = examples[index], index
    while start and _prints_into(examples[start - 1], last):
        start -= 1
    texts = [outcome.printed for outcome, *_ in outcomes[start : index + 1]]
    lines = _lines(last.expected)
    # A page may show a tensor below the index before it: `print(i, x)`.
    for parts in (texts, [text.replace("\t", "\n") for text in texts]):
        counts = [len(_lines(part)) for part in parts]
        ends = list(accumulate(counts))
        if start < index and counts[-1] != len(lines) == ends[-1]:
            spans = zip([0, *ends], ends, strict=False)
            return [(i, "\n".join(lines[a:b])) for i, (a, b) in enumerate(spans, start)]
    return []


def _lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line for line in text.split("\n") if line.strip()]


def _prints_into(example: Example, last: Example) -> bool:
    """Tell whether an example is a statement of a script whose output stands under the last one."""
    is_in_script = example.kind is last.kind is Kind.BARE and example.block == last.block
    return is_in_script and not example.expected


def by_shares(
    result: Result,
    shares: Sequence[tuple[int, str]],
    printed: Mapping[int, Samples],
    unlike: Mapping[int, str],
    sorts: Mapping[int, Callable[[str], str] | None],
) -> Result:
    """Return the result of an example whose text is what several statements print by chance.

    printed: the texts that runs have printed, by the index of the statement. unlike: for each, how
    its part differs from what all runs have printed; or ''. sorts: what sorts the texts of those
    that print in another order in each run.
    """
    for i, documented in shares:
        samples = printed[i]
        why = samples.contradiction(documented) or (unlike[i] if samples.differ else "")
        equal, sort = comparison(result.example), sorts.get(i) or str
        if not samples.differ and not equal(sort(documented), sort(samples.texts[0])):
            why = f"this part does not: {documented}"
        if why:
            got = "".join(printed[i].texts[0] for i, _ in shares)
            return replace(result, verdict=Verdict.DIFFERS, got=got, note=f"by chance, but {why}")
    return result

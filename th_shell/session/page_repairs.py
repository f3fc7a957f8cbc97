"""Small repairs of an example that was copied from a damaged page, by which it holds.

They are those that th-docs tries. Where they change the text under the input, nothing runs again.
"""

from collections.abc import Iterator
from dataclasses import replace

import th_shell.docs.library as docs


def repaired(
    example: docs.Example, got: str, bound: frozenset[str]
) -> Iterator[tuple[str, docs.Example]]:
    """Yield proposals: what each mends, and the example as it is then.

    got: the text that the example has printed. bound: the names that have values.
    """
    inputs = docs.numbered(example.source.split("\n"), 1)
    shown = docs.numbered(example.expected.split("\n"), len(inputs) + 1)
    passage = docs.Passage((), inputs, shown, (), bound, got=got, language=example.language)
    for repair in docs.repairs(passage):
        source, expected = (
            "\n".join(line.text for line in docs.edited(lines, repair.lines))
            for lines in (inputs, shown)
        )
        yield repair.why, replace(example, source=source, expected=expected)

"""The names that the sessions of a page in Python import, and its blocks without prompts take.

A page whose sessions are run as tests has sketches beside them: a block without prompts shows how a
class that a session has imported is written, or imports the module that has its name. No test of
the page runs these blocks. So such a name has two values from the first such block on, one for the
prompts and one for the blocks, which are exchanged where the page goes from one form to the other.
"""

from collections.abc import Iterable, Sequence

from th_shell import python_syntax
from th_shell.docs.reading.examples import Example, Kind


class PageImports:
    """Writes the code that exchanges these values in one run of a page.

    indices: those of the examples in Python that share their variables.
    """

    def __init__(self, examples: Sequence[Example], indices: Iterable[int]) -> None:
        self._examples = examples
        self._above: int | None = None  # the example that ran last
        #: The indices of the blocks that first take names which a prompt above imports.
        self._taken: dict[str, int] = {}
        imported = set[str]()
        for index in indices:
            if examples[index].kind is Kind.PROMPT:
                imported |= python_syntax.imported_names(examples[index].source)
            elif examples[index].kind is Kind.BARE:
                names = imported & python_syntax.bound_names(examples[index].source)
                self._taken = {**dict.fromkeys(names, index), **self._taken}

    def before(self, index: int) -> str:
        """Return the code to run before an example, which is the next one that runs; or ''."""
        kinds = {self._examples[i].kind for i in (self._above, index) if i is not None}
        self._above, code = index, []
        for name, first in sorted(self._taken.items()):
            other = f"_OTHER_{name}"
            if first == index:
                code.append(f"if {name!r} in globals(): {other} = {name}")
            elif first < index and kinds == {Kind.PROMPT, Kind.BARE}:
                code.append(f"if {other!r} in globals(): {name}, {other} = {other}, {name}")
        return "\n".join(code)

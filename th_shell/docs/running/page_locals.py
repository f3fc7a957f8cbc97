"""The locals of a page's scripts, whose statements run one by one, and its default type of tensors.

A local that a script declares is known to what stands below it, also in later blocks: so it is made
a global. Where that would change what follows, it stays one:

- A function that is given to another thread takes its upvalues along, and no globals: a local that
  no block sets twice, or without `local`, is an upvalue of the functions that use it.
- A local that has the name of a global of an earlier block hides it to the end of its own block.
- A local that has a name of Lua's own, such as `table`, hides it from the statements of its block
  alone: the libraries need it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from th_shell.docs.reading import lua_names
from th_shell.docs.reading.examples import LUA, Example, Kind
from th_shell.patterns import pattern

_FUNCTION = pattern(r"\bfunction\b")
#: What precedes the name of a global that a local hides.
_HIDDEN = "_HIDDEN_"
#: What precedes a name of Lua's own where it is that of a local.
_OWN = "_OWN_"
_OF_LUA = frozenset(
    "assert bit coroutine debug error getmetatable io ipairs jit math next os package pairs pcall"
    " print rawget rawset require select setmetatable string table tonumber tostring type"
    " unpack".split()
)


class PageLocals:
    """Writes the inputs of a page, with what keeps its locals."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = examples
        in_lua = [e for e in examples if e.language == LUA and e.kind is not Kind.TEXT]
        lists = [lua_names.lasting_names(e.source) for e in in_lua]
        pairs = list(zip(in_lua, lists, strict=True))
        times = Counter((name, e.block) for e, names in pairs for name in names)
        changed = {name for (name, _), number in times.items() if number > 1}
        changed |= {name for e, names in pairs if not e.is_local for name in names} | _OF_LUA
        self._constant = {name for e, names in pairs if e.is_local for name in names} - changed
        #: The blocks in which globals were first set, by name.
        self._globals: dict[str, int] = {}
        for example, names in pairs:
            for name in () if example.is_local else names:
                self._globals.setdefault(name, example.block)
        #: The globals that the locals of a block hide, by the block.
        self._hidden: dict[int, set[str]] = {}
        for example, _ in pairs:
            self._hidden.setdefault(example.block, set()).update(self._hides(example))
        #: The locals with names of Lua's own, and where each is declared in its block.
        self._own: dict[tuple[int, str], int] = {}
        for index, example in enumerate(examples):
            if example.is_local and example.language == LUA:
                for name in _OF_LUA & lua_names.lasting_names(example.source):
                    self._own.setdefault((example.block, name), index)

    def source(self, index: int, source: str) -> str:
        """Return what to run for the input of an example."""
        example = self._examples[index]
        if example.language != LUA or example.kind is not Kind.BARE:
            return source
        source = self._with_own(index, source)
        hidden = "".join(f"{_HIDDEN}{name} = {name}; " for name in self._hides(example))
        is_silent = not (example.expected or example.value)
        if not (is_silent and self._constant and _FUNCTION.search(source)):
            return f"{hidden}{source}"
        names = self._constant & lua_names.read_names(source) - lua_names.bound_names(source)
        declared = ", ".join(sorted(names))
        return f"{hidden}local {declared} = {declared}; {source}" if names else f"{hidden}{source}"

    def _with_own(self, index: int, source: str) -> str:
        """Return an input with the locals of its block that have names of Lua's own."""
        used = lua_names.read_names(source) | (bound := lua_names.bound_names(source))
        for name in sorted(used & _OF_LUA):
            declared = self._own.get((self._examples[index].block, name), index + 1)
            if declared <= index:
                value = name if declared == index else f"{_OWN}{name}"
                end = f"\n{_OWN}{name} = {name}" if name in bound else ""
                source = f"local {name} = {value}; {source}{end}"
        return source

    def behind(self, block: int | None) -> str:
        """Return the code that ends the locals of a block that hide globals; or ''."""
        names = sorted(self._hidden.get(block, ())) if block is not None else ()
        return " ".join(f"{name}, {_HIDDEN}{name} = {_HIDDEN}{name}, nil" for name in names)

    def _hides(self, example: Example) -> Iterator[str]:
        """Yield the names of a local statement that globals of earlier blocks have."""
        if example.is_local:
            for name in sorted(lua_names.lasting_names(example.source) - _OF_LUA):
                if self._globals.get(name, example.block) < example.block:
                    yield name


#: The type of tensors that code sets as the default.
_SETS_TYPE = pattern(r"\bsetdefaulttensortype\b(?:[\s(]*[\"']torch\.(\w+))?")


def blocks_with_default_type(examples: Sequence[Example]) -> set[int]:
    """Return the blocks that set a default type of tensors which does not hold for those below.

    It does in a notebook, and where the outputs below show that type, and no doubles. The pages of
    Torch7's manual set it, and go on with doubles.
    """
    name, shown, blocks = "", "", set[int]()
    for example in examples:
        texts = example.source, *(hidden.text for hidden in example.hidden)
        if match := _SETS_TYPE.search("\n".join(texts)):
            name = match[1] or ""
            blocks.add(example.block)
        elif blocks and example.block not in blocks:
            shown += example.expected + (example.value.text if example.value else "")
    holds = bool(name) and name in shown and "DoubleTensor" not in shown
    is_notebook = any(example.kind is Kind.CELL for example in examples)
    return set() if holds or is_notebook else blocks

"""Examples of Lua in the cells of notebooks, and behind the prompts `In [1]:` of a page.

The prompt tells nothing of the language: iTorch has it as IPython does. Where one of a page's cells
is no Python, and all are Lua, they are Lua.
"""

import ast
from collections.abc import Sequence
from dataclasses import replace

from th_shell.docs.reading.cells import CELL, cells
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import (
    LUA,
    PYTHON,
    Block,
    Example,
    Kind,
    Line,
    example_of,
    with_output,
)
from th_shell.python_syntax import statements, syntax, without_magics
from th_shell.syntax import Syntax

_CURLY = frozenset(
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
    "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
)


def has_cells(block: Block) -> bool:
    """Return whether a block is a cell, or has such prompts."""
    return block.output is not None or any(CELL.match(line.text) for line in block.lines)


def with_cell_language(blocks: Sequence[Block], compiler: Compiler) -> Sequence[Block]:
    """Return the blocks of a page, whose cells have the language that they compile in."""
    marked = {
        at for at, b in enumerate(blocks) if b.language == PYTHON and not b.role and has_cells(b)
    }
    sources = [_source(code) for at in sorted(marked) for code, _ in _cells(blocks[at])]
    are_lua = (text.startswith("?") or _is_lua(text, compiler) for text in sources)
    if all(map(_is_python, sources)) or not all(are_lua):
        return blocks
    return [replace(b, language=LUA) if at in marked else b for at, b in enumerate(blocks)]


def _is_lua(source: str, compiler: Compiler) -> bool:
    """Return whether code is Lua; to LuaJIT, curly quotes would be letters of names."""
    return compiler.typed(source) is Syntax.COMPLETE and not _CURLY & set(source)


def _is_python(source: str) -> bool:
    """Return whether code is Python; there, `x:sum()` would be an annotation that says nothing."""
    source = without_magics(source)
    is_call = any(
        isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Call) and not node.value
        for node in statements(source)
    )
    return syntax(source) is Syntax.COMPLETE and not is_call


def cut_cells(block: Block, compiler: Compiler) -> list[Example]:
    """Return the examples of a block of Lua that has cells."""
    examples = []
    for code, output in _cells(block):
        source = _source(code)
        if source and not compiler.is_comment(source):
            examples.append(with_output(example_of(block, Kind.CELL, code, source), output))
    return examples


def _cells(block: Block) -> list[tuple[Sequence[Line], Sequence[Line]]]:
    """Return the code and the output of each cell."""
    if block.output is not None:
        return [(block.lines, block.output)]
    return [(cell.code, cell.output) for cell in cells(block.lines, with_prose=False) if cell.code]


def _source(code: Sequence[Line]) -> str:
    return "\n".join(line.text for line in code).strip()

"""The answers of `th --lsp` about a program's structure: places, folds, kinds of names, fixes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path

from th_shell.editor import symbols
from th_shell.editor.workspace import position_of, range_of, units
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import CORRECTION
from th_shell.preflight.programs import Program
from th_shell.preflight.sizes import known_sizes

if TYPE_CHECKING:
    from th_shell.editor.server import Server

_MOST_SYMBOLS = 200  # of the workspace, in one answer
_FORMATTING = 10.0  # seconds that StyLua may take


class RefusedError(JsonRpcException):  # type: ignore[misc]
    """A request that cannot be done; the message says why."""


def _rename(ls: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    program, symbol, _ = ls.place(params)
    problem = symbols.rename_problem(symbol, params.new_name, program)
    if symbol is None or problem:
        raise RefusedError(problem)
    edits = [
        lsp.TextEdit(range_of(program, place), params.new_name)
        for _, place in symbols.places_of(symbol, [program])
    ]
    return lsp.WorkspaceEdit({params.text_document.uri: edits})


def _prepare_rename(ls: Server, params: lsp.PrepareRenameParams) -> lsp.Range:
    program, symbol, _ = ls.place(params)
    problem = symbols.rename_problem(symbol, None, program)
    if symbol is None or problem:
        raise RefusedError(problem)
    return range_of(program, symbol.place)


def _highlights(
    ls: Server, params: lsp.DocumentHighlightParams
) -> list[lsp.DocumentHighlight] | None:
    program, symbol, _ = ls.place(params)
    if symbol is None or symbol.is_text:
        return None
    places = symbols.places_of(symbol, [program])
    return [lsp.DocumentHighlight(range_of(program, place)) for _, place in places]


def _workspace_symbols(
    ls: Server, params: lsp.WorkspaceSymbolParams
) -> list[lsp.SymbolInformation]:
    query = params.query.lower()
    listed = [
        lsp.SymbolInformation(
            lsp.Location(from_fs_path(str(program.path)) or "", range_of(program, function.place)),
            function.name,
            lsp.SymbolKind.Method if ":" in function.name else lsp.SymbolKind.Function,
        )
        for program in ls.programs.world().programs
        for function in program.chunk.functions
        if query in function.name.lower()
    ]
    return listed[:_MOST_SYMBOLS]


def _folds(ls: Server, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    program = ls.program(params.text_document.uri)
    ranges = [range_of(program, place) for place in program.chunk.blocks]
    lines = dict.fromkeys((one.start.line, one.end.line) for one in ranges)
    return [lsp.FoldingRange(start, end) for start, end in lines if start < end]


# -- kinds of names

_KINDS = ["parameter", "variable", "function", "method", "property"]


def _semantic_tokens(ls: Server, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    program = ls.program(params.text_document.uri)
    data: list[int] = []
    before = lsp.Position(0, 0)
    for place, kind in sorted(dict(_kinds(program)).items(), key=lambda item: item[0].start):
        text = program.parsed[place.start : place.end].decode()
        if text.isidentifier():
            at = position_of(program, place.start)
            column = at.character - (before.character if at.line == before.line else 0)
            data += [at.line - before.line, column, units(text), _KINDS.index(kind), 0]
            before = at
    return lsp.SemanticTokens(data)


def _kinds(program: Program) -> Iterator[tuple[tree.Place, str]]:
    """Yield the places of names, with what they are."""
    for local in program.chunk.locals:
        if local.place != tree.NOWHERE:
            yield local.place, "variable" if local.declared else "parameter"
    for node in program.chunk.nodes:
        if isinstance(node, (tree.Name, tree.Index)) and node.use is tree.Use.CALLED:
            yield node.place, "function"
        elif isinstance(node, tree.Name):
            is_parameter = node.local is not None and not node.local.declared
            yield node.place, "parameter" if is_parameter else "variable"
        elif isinstance(node, tree.Invoke):
            yield node.place, "method"
        elif isinstance(node, (tree.Index, tree.Field)):
            yield node.place, "property"


# -- what is shown or changed in the text


def _actions(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Return the replacements of names that hints tell."""
    uri, actions = params.text_document.uri, []
    for diagnostic in params.context.diagnostics:
        correction = re.search(rf"; {CORRECTION}(\S+)$", diagnostic.message)
        if diagnostic.source == "th" and correction:
            edit = lsp.WorkspaceEdit({uri: [lsp.TextEdit(diagnostic.range, correction[1])]})
            title, kind = f"Replace by {correction[1]}", lsp.CodeActionKind.QuickFix
            actions.append(lsp.CodeAction(title, kind, [diagnostic], edit=edit))
    return actions


def _hints(ls: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """Return the sizes of tensors behind the locals that they are given to."""
    program = ls.program(params.text_document.uri)
    hints = [
        lsp.InlayHint(position_of(program, local.place.end), f": {sizes}", lsp.InlayHintKind.Type)
        for local, sizes in known_sizes(program, ls.programs.world())
    ]
    first, last = params.range.start.line, params.range.end.line
    return [hint for hint in hints if first <= hint.position.line <= last]


def _format(ls: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    source = ls.text_of(params.text_document.uri)
    command = ["stylua", "--search-parent-directories", "-"]
    try:
        ended = subprocess.run(
            command, input=source, capture_output=True, encoding="utf-8", timeout=_FORMATTING
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RefusedError(f"StyLua does not end or start: {error}") from None
    if ended.returncode:
        raise RefusedError(ended.stderr.strip() or "StyLua cannot format this")
    end = lsp.Position(source.count("\n") + 1, 0)
    return [lsp.TextEdit(lsp.Range(lsp.Position(0, 0), end), ended.stdout)]


FEATURES: dict[str, Callable[..., Any]] = {
    lsp.TEXT_DOCUMENT_RENAME: _rename,
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: _prepare_rename,
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: _highlights,
    lsp.WORKSPACE_SYMBOL: _workspace_symbols,
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: _folds,
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: _semantic_tokens,
    lsp.TEXT_DOCUMENT_CODE_ACTION: _actions,
    lsp.TEXT_DOCUMENT_INLAY_HINT: _hints,
    **({lsp.TEXT_DOCUMENT_FORMATTING: _format} if shutil.which("stylua") else {}),
}
OPTIONS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: lsp.SemanticTokensLegend(_KINDS, []),
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]),
    lsp.TEXT_DOCUMENT_RENAME: lsp.RenameOptions(prepare_provider=True),
}

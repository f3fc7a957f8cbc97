"""``th --lsp``: answers an editor through the standard input and output. pygls has the protocol."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO
from urllib.parse import unquote

try:
    from lsprotocol import types as lsp
    from pygls.lsp.server import LanguageServer
    from pygls.uris import from_fs_path, to_fs_path
    from pygls.workspace import TextDocument
except ModuleNotFoundError:
    raise ImportError("--lsp needs pygls: pip install 'th-shell[editor]'") from None

from th_shell import __version__
from th_shell.completing.signatures import Signature
from th_shell.editor import structure, symbols, typing_help
from th_shell.editor.structure import RefusedError
from th_shell.editor.workspace import Workspace, range_of, text_before, units
from th_shell.files import read_file
from th_shell.messages import NoMessageError, read_message
from th_shell.preflight.finding import NOTES, Finding
from th_shell.preflight.programs import Program
from th_shell.visible import UsageError, complain

_PAUSE = 0.05  # seconds without a key before a program is checked


class Server(LanguageServer):  # type: ignore[misc]
    """One editor's session."""

    def __init__(self) -> None:
        # The library ends lines in parts of a text as Python does: so it gets all of it.
        super().__init__("th", __version__, lsp.TextDocumentSyncKind.Full)
        self.programs = Workspace()
        # What is refused is answered, and no error of this program.
        logging.getLogger("pygls.protocol.json_rpc").addFilter(
            lambda record: not isinstance((record.exc_info or (None, None))[1], RefusedError)
        )

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Have the editor show an error of this program."""
        if not isinstance(error, RefusedError):
            super().report_server_error(error, source)

    def path_of(self, uri: str) -> Path:
        """Return the file of a document."""
        try:
            return Path(to_fs_path(uri) or uri).resolve()
        except ValueError:  # no file can have such a name
            return Path(ascii(uri))

    def document(self, uri: str) -> TextDocument | None:
        """Return the document that is open in the editor; None where it is not."""
        documents = self.workspace.text_documents  # by their addresses, which pygls may unquote
        return documents.get(uri) or documents.get(unquote(uri))

    def text_of(self, uri: str) -> str:
        """Return the text of a document as typed, or of a file; '' where it cannot be read."""
        if document := self.document(uri):
            return str(document.source)
        try:
            return read_file(self.path_of(uri)).decode("utf-8", "replace")
        except OSError:
            return ""

    def place(
        self, params: lsp.TextDocumentPositionParams
    ) -> tuple[Program, symbols.Symbol | None, str]:
        """Return the program, the name and the text before it that a request is about."""
        program = self.program(params.text_document.uri)
        before = text_before(program.source, params.position)
        symbol = symbols.symbol_at(program, len(before.encode("utf-8", "surrogatepass")))
        return program, symbol, before

    def program(self, uri: str) -> Program:
        """Return the program of a document as it is typed."""
        return self.programs.set_text(self.path_of(uri), self.text_of(uri))

    def show(self, uri: str) -> None:
        """Send what is found in a program."""
        program = self.program(uri)
        lines = program.source.split("\n")
        diagnostics = [_diagnostic(finding, lines) for finding in self.programs.findings(program)]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))


def _make_server() -> Server:
    """Return the server, with all that it answers."""
    server = Server()
    for name, function in _FEATURES.items():
        options = _OPTIONS.get(name)
        server.feature(name, options)(function)
    return server


# -- documents


def _initialized(ls: Server, _: lsp.InitializedParams) -> None:
    ls.programs.folders = [ls.path_of(folder.uri) for folder in ls.workspace.folders.values()]
    if ls.programs.folders:  # where programs are started, and `require` looks first
        os.chdir(ls.programs.folders[0])


async def _changed(
    ls: Server, params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams
) -> None:
    uri = params.text_document.uri
    version = params.text_document.version
    await asyncio.sleep(_PAUSE)
    document = ls.document(uri)
    if document is not None and _is_program(document) and document.version == version:
        ls.show(uri)


def _is_program(document: TextDocument) -> bool:
    # What has no name yet is Lua by what the editor says of it.
    return str(document.uri).endswith(".lua") or document.language_id == "lua"


def _closed(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.programs.close(ls.path_of(uri))
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def _saved(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    ls.programs.forget()
    for document in ls.workspace.text_documents.values():
        if _is_program(document):
            ls.show(document.uri)


def _exit(ls: Server, _: None) -> None:
    """End the process at once: nothing here has to be put away."""
    os._exit(0 if ls.protocol._shutdown else 1)


def _diagnostic(finding: Finding, lines: Sequence[str]) -> lsp.Diagnostic:
    text = lines[finding.line - 1] if finding.line <= len(lines) else ""
    start, end = (units(text[: finding.column - 1 + n]) for n in (0, finding.length))
    kinds = lsp.DiagnosticSeverity
    severity = kinds.Error if finding.subject in ("syntax", "sizes") else kinds.Warning
    is_note, is_needless = finding.subject in NOTES, finding.subject in ("unused", "unreachable")
    return lsp.Diagnostic(
        lsp.Range(lsp.Position(finding.line - 1, start), lsp.Position(finding.line - 1, end)),
        finding.message,
        kinds.Hint if is_note else severity,
        source="th",
        tags=[lsp.DiagnosticTag.Unnecessary] if is_needless else None,
    )


# -- what stands at a place


def _hover(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    program, symbol, _ = ls.place(params)
    if symbol is None or symbol.is_text:
        return None
    end = program.parsed[: symbol.place.end].decode()
    text = typing_help.meaning(end, symbol, program, ls.programs)
    if not text:
        return None
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, f"```lua\n{text.rstrip()}\n```")
    return lsp.Hover(content, range_of(program, symbol.place))


def _completion(ls: Server, params: lsp.CompletionParams) -> lsp.CompletionList:
    program, _, before = ls.place(params)
    completions = typing_help.completions(before, program, ls.programs)
    line = before.rpartition("\n")[2]
    start = lsp.Position(
        params.position.line, units(line[: max(len(line) - len(before) + completions.start, 0)])
    )
    kinds = lsp.CompletionItemKind
    items = [
        lsp.CompletionItem(
            candidate.text,
            kind=getattr(kinds, candidate.kind.capitalize(), kinds.Variable),
            detail=candidate.detail,
            text_edit=lsp.TextEdit(lsp.Range(start, params.position), candidate.text),
        )
        for candidate in completions.candidates
    ]
    return lsp.CompletionList(completions.more > 0, items)


def _signature(ls: Server, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp:
    program, _, before = ls.place(params)
    signatures = typing_help.signatures(before, program, ls.programs)
    return lsp.SignatureHelp([_signature_of(signature) for signature in signatures], 0)


def _signature_of(signature: Signature) -> lsp.SignatureInformation:
    label, parameters = f"{signature.name}(", []
    for at, word in enumerate(signature.words):
        label += ", " if at else ""
        start = units(label)
        label += word
        parameters.append(lsp.ParameterInformation((start, units(label))))
    return lsp.SignatureInformation(
        f"{label})", parameters=parameters, active_parameter=signature.current
    )


def _definition(ls: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
    program, symbol, _ = ls.place(params)
    places = symbols.definitions(symbol, program, ls.programs.world()) if symbol else []
    return list(map(_location, places))


def _references(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    program, symbol, _ = ls.place(params)
    if symbol is None:
        return []
    other_programs = [
        listed for listed in ls.programs.world().programs if listed.path != program.path
    ]
    programs = [program] if symbol.local else [program, *other_programs]
    return list(map(_location, symbols.places_of(symbol, programs)))


def _location(symbol_place: symbols.SymbolPlace) -> lsp.Location:
    program, place = symbol_place
    return lsp.Location(from_fs_path(str(program.path)) or "", range_of(program, place))


def _symbols(ls: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    program = ls.program(params.text_document.uri)
    return [
        lsp.DocumentSymbol(
            function.name,
            lsp.SymbolKind.Method if ":" in function.name else lsp.SymbolKind.Function,
            range_of(program, function.whole),
            range_of(program, function.place),
            function.parameters,
        )
        for function in program.chunk.functions
        if symbols.last_name(function)
    ]


_FEATURES: dict[str, Callable[..., Any]] = {
    lsp.INITIALIZED: _initialized,
    lsp.TEXT_DOCUMENT_DID_OPEN: _changed,
    lsp.TEXT_DOCUMENT_DID_CHANGE: _changed,
    lsp.TEXT_DOCUMENT_DID_CLOSE: _closed,
    lsp.TEXT_DOCUMENT_DID_SAVE: _saved,
    lsp.EXIT: _exit,
    lsp.TEXT_DOCUMENT_HOVER: _hover,
    lsp.TEXT_DOCUMENT_COMPLETION: _completion,
    lsp.TEXT_DOCUMENT_SIGNATURE_HELP: _signature,
    lsp.TEXT_DOCUMENT_DEFINITION: _definition,
    lsp.TEXT_DOCUMENT_REFERENCES: _references,
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _symbols,
    **structure.FEATURES,
}
_OPTIONS: dict[str, Any] = {
    lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=[".", ":", '"', "'"]),
    lsp.TEXT_DOCUMENT_SIGNATURE_HELP: lsp.SignatureHelpOptions(trigger_characters=["(", ","]),
    **structure.OPTIONS,
}


# -- the command

_DEPTH = 10_000  # of Python's calls, as th --check allows


def run(words: Sequence[str]) -> int:
    """Serve until the editor ends it; return the exit status. Raises UsageError."""
    if words:
        raise UsageError("--lsp takes no arguments")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    # What anything else writes must not come between the messages.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    parts = _parts(sys.stdin.buffer)
    source = SimpleNamespace(readline=partial(next, parts), read=lambda size: next(parts))
    try:
        _make_server().start_io(source, output)
    except NoMessageError as error:
        complain(error)
        return 1
    return 0


def _parts(source: BinaryIO) -> Iterator[bytes]:
    """Yield what pygls reads of messages: at any other header, it would wait for ever."""
    while data := read_message(source):
        yield from (b"Content-Length: %d\r\n" % len(data), b"\r\n", data)
    yield b""

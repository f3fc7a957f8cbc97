"""The examples of a page in an editor: run through th-docs, with a verdict above each."""

from __future__ import annotations

from pathlib import Path

from lsprotocol.types import CodeLens, Command, Diagnostic, DiagnosticSeverity, Position, Range

COMMAND = "th.checkPage"


class PageLens:
    """Reads and checks pages, and keeps their verdicts until their texts change."""

    def __init__(self) -> None:
        self._verdicts: dict[str, dict[int, str]] = {}

    def lenses(self, uri: str, path: Path, text: str) -> list[CodeLens]:
        """Return a lens above each example: its verdict, or what runs it."""
        import th_shell.docs.library as docs  # late: few editors have pages open

        verdicts = self._verdicts.get(f"{uri}\n{text}", {})
        try:
            examples = docs.read(path, docs.Compiler(), None, text).examples
        except docs.PageError:
            return []
        return [
            CodeLens(
                _line(example.line),
                Command(verdicts.get(example.line, "run"), COMMAND, arguments=[uri]),
            )
            for example in examples
        ]

    def check(self, uri: str, path: Path, text: str) -> list[Diagnostic]:
        """Run a page; return what does not hold."""
        import th_shell.docs.library as docs

        starter = docs.Starter()
        try:
            checker = docs.Checker(starter, docs.Compiler(), docs.Configuration())
            page = docs.check_page(*checker.read(path, text))
        except docs.PageError as error:
            return [_diagnostic(1, str(error))]
        finally:
            starter.stop()
        self._verdicts[f"{uri}\n{text}"] = {
            result.example.line: f"{result.verdict.value} {result.note}".strip()
            for result in page.results
        }
        whole = [_diagnostic(1, page.problem)] if page.problem else []
        return whole + [
            _diagnostic(
                result.example.line, f"{result.verdict.value}: {result.note or result.got}".strip()
            )
            for result in page.failures
        ]


def _line(number: int) -> Range:
    """Return a line, from 1, as a range."""
    return Range(Position(number - 1, 0), Position(number, 0))


def _diagnostic(line: int, message: str) -> Diagnostic:
    return Diagnostic(_line(line), message, DiagnosticSeverity.Warning, source="th-docs")

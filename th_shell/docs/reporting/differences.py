"""Differences between a documented text and the printed one, by lines and by words.

What the comparison of verdicts does not count is no difference here either: white space, blank
lines, colours, comments of the page, 'of size' for 'of dimension', numbers that agree to the
precision that the page shows, and whatever a line '...' of the page stands for.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, groupby
from typing import NamedTuple

from th_shell.docs.judging.comparison import line_readings, tokens_agree
from th_shell.docs.judging.printout import NUMBER, PUNCTUATION, is_number, without_colours
from th_shell.patterns import pattern

#: The most lines, and words of a block, that are matched: the time grows with the square.
_MOST = 400
_LONG_LINE = 4000  # characters; a longer line is one token

#: A word or sign of a line, behind the white space before it.
WORD = pattern(
    rf"(?<!\s)(\s*)(of (?:size|dimension)(?=\s[\dx]+\])|\b0x[0-9a-fA-F]+|(?:{NUMBER})(?![\w.])"
    rf"|[{PUNCTUATION}]|[^\s{PUNCTUATION}]+)"
)
_ADDRESS = pattern(r"0x[0-9a-fA-F]+\Z")
_SIZE = pattern(r"of (?:size|dimension)\Z")

#: The tokens of a line or a word that count; one thing may be read in several ways.
_Tokens = tuple[str, ...]
_Readings = Sequence[_Tokens]
_ANYTHING: _Tokens = ("\0",)


class Block(NamedTuple):
    """Lines of the page, and of the printed text in their place."""

    #: True if both are the same in all that counts.
    same: bool
    #: The lines of the page.
    old: tuple[str, ...]
    #: The printed lines.
    new: tuple[str, ...]


class Piece(NamedTuple):
    """A part of a text."""

    #: '-' if only the page has it, '+' if only the program, else ' '.
    mark: str
    #: The part as the page has it, or, for '+', as it is printed.
    text: str


def line_blocks(documented: str, printed: str, exact: bool = False) -> list[Block]:
    """Return the lines of two texts, in order, as blocks of the same and of different ones.

    exact: whether everything counts, as in code.
    """
    read = _read_exactly if exact else _read
    old, new = _lines(documented), _lines(without_colours(printed))
    start = _length_of_start(old, new, read)
    old_lines, new_lines = (_counting(lines[start : start + _MOST], read) for lines in (old, new))
    left, right = _keys([r for _, r in old_lines], [r[:1] for _, r in new_lines])
    blocks = [Block(True, tuple(old[:start]), tuple(new[:start]))]
    for same, i1, i2, j1, j2 in _opcodes(left, right):
        block = _block(same, old_lines[i1:i2], new_lines[j1:j2])
        blocks.append(block if exact else _without_minor_differences(block))
    unmatched = (tuple(lines[start + _MOST :]) for lines in (old, new))
    return list(_merged([*blocks, Block(False, *unmatched)]))


def agreeing(documented: Sequence[str], printed: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of lines that agree, by their indices, in order; of the first lines of long texts."""
    old, new = (
        [[reading or ("",) for reading in _read(line)] for line in lines[:_MOST]]
        for lines in (documented, printed)
    )
    opcodes = _opcodes(*_keys(old, [readings[:1] for readings in new]))
    return [(i1 + at, j1 + at) for same, i1, i2, j1, _ in opcodes if same for at in range(i2 - i1)]


def word_pieces(documented: str, printed: str) -> list[Piece]:
    """Return two texts as pieces that differ or not: words with the white space before them."""
    old, new = (_words(text) for text in (documented, printed))
    if old is None or new is None:
        return [piece for piece in (Piece("-", documented), Piece("+", printed)) if piece.text]
    left, right = _keys([_word(w) for _, w in old], [_word(w) for _, w in new])
    pieces = []
    for same, i1, i2, j1, j2 in _opcodes(left, right):
        if same:
            pieces.append(Piece(" ", _joined(old[i1:i2])))
            continue
        if i2 > i1:
            pieces.append(Piece("-", _joined(old[i1:i2])))
        if j2 > j1:
            pieces.append(Piece("+", _joined(new[j1:j2])))
    return pieces


def changes(documented: str, printed: str) -> list[tuple[str, str]]:
    """Return pairs of the page's words and the printed ones in their place, each pair once."""
    replaced: dict[tuple[str, str], None] = {}
    for block in line_blocks(documented, printed):
        if block.same:
            continue
        pieces = word_pieces("\n".join(block.old), "\n".join(block.new))
        for is_same, group in groupby(pieces, key=lambda piece: piece.mark == " "):
            words = {piece.mark: " ".join(piece.text.split()) for piece in group}
            if not is_same:
                replaced[words.get("-", ""), words.get("+", "")] = None
    return list(replaced)


# -- lines


_Line = tuple[str, _Readings]


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _counting(lines: Sequence[str], read: Callable[[str], _Readings]) -> list[_Line]:
    """Return the lines that have something that counts, with what that is."""
    pairs = ((line, read(line)) for line in lines)
    return [(line, readings) for line, readings in pairs if any(readings)]


def _read(line: str) -> _Readings:
    return [(" ".join(line.split()),)] if len(line) > _LONG_LINE else line_readings(line)


def _read_exactly(line: str) -> _Readings:
    return [(line,)]


def _length_of_start(
    old: Sequence[str], new: Sequence[str], read: Callable[[str], _Readings]
) -> int:
    """Return the number of lines that agree at the beginning of texts too long to be matched."""
    if max(len(old), len(new)) <= _MOST:
        return 0
    for at, (left, right) in enumerate(zip(old, new, strict=False)):
        if left != right and not any(tokens_agree(way, read(right)[0]) for way in read(left)):
            return at
    return min(len(old), len(new))


def _block(same: bool, old: Iterable[_Line], new: Iterable[_Line]) -> Block:
    return Block(same, tuple(line for line, _ in old), tuple(line for line, _ in new))


def _without_minor_differences(block: Block) -> Block:
    """Return a block without differences that do not count: lines '...', comments of the page."""
    if block.same:
        return block
    anything = [line for line in block.old if line_readings(line[:9])[0] == _ANYTHING]
    old = tuple(line for line in block.old if line not in anything and all(_read(line)))
    if anything and not old:
        return Block(True, tuple(anything), block.new)
    return Block(False, old, block.new)


def _merged(blocks: Iterable[Block]) -> Iterator[Block]:
    shown = (block for block in blocks if block.old or block.new)
    for same, group in groupby(shown, key=lambda block: block.same):
        old, new = zip(*((block.old, block.new) for block in group), strict=True)
        yield Block(same, tuple(chain(*old)), tuple(chain(*new)))


# -- words


def _words(text: str) -> list[tuple[str, str]] | None:
    """Return the words, each with the white space before it; None if there are too many."""
    if any(len(line) > _LONG_LINE for line in text.split("\n", _MOST)):
        return None
    words = WORD.findall(text)
    return words if len(words) <= _MOST else None


def _joined(words: Sequence[tuple[str, str]]) -> str:
    return "".join(map("".join, words))


def _word(word: str) -> _Readings:
    if _SIZE.match(word):
        return [("of size",)]
    return [("0x",)] if _ADDRESS.match(word) else [(word,)]


# -- matching


def _keys(
    old: Sequence[_Readings], new: Sequence[_Readings]
) -> tuple[list[Hashable], list[Hashable]]:
    """Keys for two sequences, which are equal where the things agree."""
    exact: dict[_Tokens, int] = {}
    alike: dict[_Tokens, list[tuple[_Tokens, int]]] = {}
    left: list[Hashable] = []
    for i, readings in enumerate(old):
        key = exact.get(readings[0], i)
        left.append(key)
        for tokens in filter(None, readings):
            if tokens not in exact:
                exact[tokens] = key
                alike.setdefault(_skeleton(tokens), []).append((tokens, key))
    right: list[Hashable] = []
    for tokens, *_ in new:
        match = exact.get(tokens)
        if match is None:
            candidates = alike.get(_skeleton(tokens), [])
            match = next((key for line, key in candidates if tokens_agree(line, tokens)), None)
        right.append(tokens if match is None else match)
    return left, right


def _skeleton(tokens: _Tokens) -> _Tokens:
    """Return the tokens without the numbers' values: things that agree have the same skeleton."""
    return tuple("0" if is_number(token) else token for token in tokens)


def _opcodes(
    left: Sequence[Hashable], right: Sequence[Hashable]
) -> Iterator[tuple[bool, int, int, int, int]]:
    """Yield whether parts are equal, and their places: left[i1:i2] and right[j1:j2]."""
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        yield tag == "equal", i1, i2, j1, j2

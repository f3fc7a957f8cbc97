"""Tells prose from printed text, for pages whose examples have no fences around them.

In such a page the text under an input is what it prints, up to the first line that can only be the
author's: a heading, an item of a list, a comment, a sentence, or words of another language than
that of the code.
"""

from collections.abc import Collection, Sequence

from th_shell.patterns import pattern

_MARK = pattern(r"^\s*(?:`{3}|~{3}|#|`[^`]+`|[-*+•] +[^\W\d]|!?\[[^\]]+\]\()|<!--")
_HEADING = pattern(r"^[A-Z]{2,}(?: [A-Z]{2,})+$")
_WORD = pattern(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_MESSAGE = pattern(r"(?:^|[\s.])\w*(?:Error|Exception|Warning|Interrupt|Exit): ")
#: Some words of which the first begins with a capital letter.
_TITLE = pattern(r"^[A-Z][a-z]+(?: [A-Za-z][a-z]*){2,}[.:]?\s*$")
_SENTENCE = 4  # words that make a sentence, at least


def words_in(code: str) -> set[str]:
    """Return the words in code, which what it prints may have, too."""
    return set(_WORD.findall(code))


def output_of(lines: Sequence[str], code_words: Collection[str], paragraphs: bool) -> int:
    """Return how many of the lines under an input are its output.

    known: the words in all inputs of the page so far. paragraphs: whether the output may have blank
    lines; where not, only an open bracket lets it go on behind one.
    """
    end, shown = 0, ""
    for at, line in enumerate(lines, 1):
        if line.strip():
            if open_brackets(shown) <= 0 and is_prose(line, code_words, shown):
                break
            if shown and _TITLE.match(line) and is_alone(at - 1, lines):
                break
            shown += line + "\n"
            end = at
        elif shown and not paragraphs and open_brackets(shown) <= 0:
            break
    return end


def is_prose(line: str, code_words: Collection[str], shown: str = "") -> bool:
    """Return whether a line is the author's.

    code_words: the words of the code. shown: the output above.
    """
    if _MARK.match(line) or _HEADING.match(line.strip()):
        return True
    words = [word for word in _WORD.findall(line) if word not in code_words]
    if any(not word.isascii() for word in words):
        return True
    is_sentence = len(words) >= _SENTENCE and words[0] == line.split()[0].rstrip(",:;")
    is_table = "  " in line.strip()
    return is_sentence and not is_table and not _MESSAGE.search(shown + line)


def is_alone(at: int, lines: Sequence[str]) -> bool:
    """Return whether a line stands between blank ones."""
    return sum(bool(text.strip()) for text in lines[max(0, at - 1) : at + 2]) == 1


def open_brackets(text: str) -> int:
    """Return how many brackets in a text are open at its end; below 0 if more are closed."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))

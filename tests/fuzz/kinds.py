"""What in an output is wrong, and which findings are probably one."""

import re

#: What no output may hold.
_BAD = re.compile(
    r"FINDING .*|.*internal error.*|Traceback \(most.*|.*\[th\] \S+ (?!in function).*"
    r"|.*Fatal Python.*|TH_GUARD: .*"
)

_VALUES = re.compile(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[+-]?\d+)?|-?\b(nan|inf)\b")
_CLASSES = re.compile(r"(Double|Float|Half|Long|Int|Short|Char|Byte)(?=Tensor|Storage)")


def bad_lines(text: str) -> list[str]:
    """The lines that are wrong, one of each kind."""
    found: dict[str, str] = {}
    for match in _BAD.finditer(text):
        found.setdefault(kind_of(match.group()), match.group()[:500])
    return list(found.values())


def kind_of(text: str) -> str:
    """A message without what differs from case to case: numbers, classes, values."""
    text = text.strip().removeprefix("FINDING ").removeprefix("message: ")
    for pattern, kind in _KINDS:
        if found := pattern.match(text):
            return found.expand(kind)
    text = _CLASSES.sub("", _VALUES.sub("#", text))
    text = re.sub(r"#([, x]*#)+", "#", text)
    text = re.sub(r"(compare|arithmetic on|index|call) .*", r"\1", text)
    text = re.sub(r"(convert|got|from shape) .*", r"\1", text)
    return text[:110]


# Messages of the fuzzers' own: what is the same for all of a kind.
_KINDS = [
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(another answer.*)", r"\1"),
        (r"(another \w+ after a collection)", r"\1"),
        (r"NaN of high word", r"NaN of high word: another type"),
        (r"(NaN arrives|an element is|apply passes|slow)", r"\1"),
        (r"a saved file of \d+ \((\w+)\) is lost: ([^:]*)", r"a saved file (\1) is lost: \2"),
        (r"'.*' (at the prompt|embedded) with \d+ MB: (exit status -?\d+|\w+)", r"\1: \2"),
        (r"a forked child that runs jobs \[.*\] (.{,40})", r"a forked child \1"),
        (r"a forked child while .* job \d+ (.{,40})", r"a forked child with an engine \1"),
        (r"died of (\w+)", r"died of \1"),
        (r"[\"'].*[\"'] raised ''", r"an input raised an error without a message"),
        (r"after [\"'].*[\"'] was stopped: (.{,60})", r"after a stop: \1"),
    )
]

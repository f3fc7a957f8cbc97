"""`%time`, `%timeit` and `%profile`: how long inputs take, and which of their lines."""

import time
from collections import Counter
from collections.abc import Callable

from th_shell.entry import source_lines
from th_shell.paragraphs import counted, cut
from th_shell.runtime.shell import Engine, LuaError, LuaSyntaxError
from th_shell.session.commands import MagicError
from th_shell.session.conversation import Conversation
from th_shell.session.session import Session
from th_shell.visible import visible

_BATCH = 0.2  # seconds that a batch of runs is to take at least
_BATCHES = 5
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def time_input(session: Conversation, text: str) -> None:
    """Run an input once, and tell the time on the clock and that of the processors."""
    wall, processor = time.perf_counter(), time.process_time()
    session.submit(text, timed=False)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    session.write(f"wall {duration(wall)}, CPU {duration(processor)}\n")


def time_many(session: Session, text: str) -> None:
    """Run an input so often that its time can be told, and tell the time of one run."""
    try:
        measure(session, _runs(session.engine, text))
    except LuaError as error:
        raise MagicError(error.message) from None


def measure(session: Conversation, run: Callable[[int], object]) -> None:
    """Tell the time of one run of what `run` runs so often as its argument says."""
    best, mean, count = _measured(session, run)
    runs = f"best of {_BATCHES} times {counted(count, 'run')}"
    session.write(f"{duration(best)} a run ({runs}; mean {duration(mean)})\n")


def _measured(session: Conversation, run: Callable[[int], object]) -> tuple[float, float, int]:
    """Return the best and the mean time of one run, and the number of runs in a batch."""

    def batch(count: int) -> float:
        start = time.perf_counter()
        run(count)
        return time.perf_counter() - start

    with session.stoppable():
        batch(1)  # the first run loads and compiles what the others have
        count, taken = 1, batch(1)
        while taken < _BATCH:
            count = max(count + 1, min(count * 10, int(1.2 * count * _BATCH / max(taken, 1e-9))))
            taken = batch(count)
        times = [taken, *(batch(count) for _ in range(_BATCHES - 1))]
    return min(times) / count, sum(times) / len(times) / count, count


def _runs(engine: Engine, text: str) -> Callable[[int], object]:
    """Return a function that runs an input so often as its argument says. Raises LuaError."""
    chunk = _loop(engine, text)
    return lambda count: engine.run(chunk, str(count).encode())


def _loop(engine: Engine, text: str) -> object:
    """Return a chunk that runs an input as often as its argument says. Raises LuaError.

    The loop itself is not compiled: otherwise LuaJIT would take the input into it, and do once
    what is the same in each run.
    """
    code = text.encode("utf-8", "surrogateescape").strip().removeprefix(b"=").rstrip(b"; \t\r\n")
    frame = b"jit.off(true) local function run() %s\nend for i = 1, tonumber((...)) do run() end"
    try:
        return engine.compile(frame % (b"local _ = " + code), b"=timeit")
    except LuaSyntaxError:
        engine.compile(code, b"=timeit")  # its error, and not that of the frame
        return engine.compile(frame % code, b"=timeit")


#: From here on, three digits make 1 of it, and of the smaller unit 1e+03.
_ROUNDED_UP = 0.9995
_THOUSAND = 1000 * _ROUNDED_UP


def duration(seconds: float) -> str:
    """Return a time in the unit that fits, with three digits."""
    for size, unit in _UNITS:
        if seconds >= _ROUNDED_UP * size or unit == "ns":
            count = seconds / size
            return f"{count:.3g} {unit}" if count < _THOUSAND else f"{count:.0f} {unit}"
    raise AssertionError


# -- `%profile`: which lines of a program take the time of an input

_LINES = 15  # that are shown
_TEXT = 60  # characters of a line's text
_UNKNOWN = "?"  # the place of what ran while no line did


def profile(session: Session, text: str) -> None:
    """Run an input, and list the lines that have taken most of its processor time."""
    session.engine.start_samples()
    try:
        session.submit(text)
    finally:
        samples = session.engine.end_samples()
    session.write("".join(f"{line}\n" for line in _report(session, samples)))


def _report(session: Session, samples: list[tuple[str, str, int]]) -> list[str]:
    places: Counter[str] = Counter()
    states: Counter[str] = Counter()
    for place, state, count in samples:
        places[place] += count
        states[state] += count
    total = sum(places.values())
    if not total:
        return ["no sample: it takes a few milliseconds at most"]
    shown = sorted(places.most_common(_LINES), key=lambda place_count: place_count[0] == _UNKNOWN)
    width = max(len(place) for place, _ in shown)
    lines = [
        visible(f"{count / total:5.0%}  {place:{width}}  {_code(session, place)}".rstrip())
        for place, count in shown
    ]
    more = len(places) - _LINES
    if more > 0:
        lines.append(f"       and {more} other lines")
    garbage = f", {states['G'] / total:.0%} of it collecting garbage" if states["G"] else ""
    return [*lines, counted(total, "sample") + garbage]


def _code(session: Session, place: str) -> str:
    """Return the text of a line: of a file, or of a numbered input."""
    chunk, _, number = place.rpartition(":")
    lines = source_lines(chunk, session.log)
    is_there = number.isdecimal() and 0 < int(number) <= len(lines)
    return cut(lines[int(number) - 1].strip(), _TEXT) if is_there else ""

"""Programs that run out of memory, under limits from 300 MB up: an error says so, no more.

Each runs as an embedder would run it, or at a prompt, whose values have to be kept.
"""

import os
import random
import subprocess
import sys
import time

from tests.data_files import data

#: Megabytes of address space.
LIMITS = (300, 350, 400, 500, 600, 800, 1000)

#: Inputs that need more than there is.
_INPUTS = tuple(data(__file__, "_INPUTS"))

#: What a message may say.
_WORDS = ("not enough memory", "Buy new RAM", "overflow", "too ", "memory", "table has more")

_PROMPT = "kept = 5\n{source}\nprint(kept + 1)\nprint(torch.ones(3):sum())\n"
_SECONDS = 300


def embedded(source: str) -> int:
    """Run by an embedder: exit status 0 where nothing but a LuaError came out, 1 otherwise."""
    from th_shell.runtime.shell import Engine, LuaError

    engine = Engine()
    try:
        engine.run(engine.compile(source.encode()))
    except LuaError as error:
        print(f"MESSAGE {error.message[:300]}", flush=True)
    try:
        engine.run(engine.compile(b"assert(torch.ones(3):sum() == 3)"))
    except LuaError as error:
        print(f"FINDING afterwards: {error.message[:300]}", flush=True)
    return 0


def work(seed: str, seconds: float) -> dict[str, int]:
    """Start programs under limits, one after another, for some seconds."""
    rng = random.Random(seed)
    runs = 0
    end = time.monotonic() + seconds
    while not runs or time.monotonic() < end:
        source, limit = rng.choice(_INPUTS), rng.choice(LIMITS)
        at_prompt = rng.random() < 0.5
        wrong = _prompt(source, limit) if at_prompt else _embedder(source, limit)
        runs += 1
        if wrong:
            where = "at the prompt" if at_prompt else "embedded"
            print(f"FINDING {source!r} {where} with {limit} MB: {wrong}", flush=True)
    return {"runs": runs}


def _run(arguments: list[str], limit: int, text: str = "") -> tuple[int, str]:
    command = f'ulimit -c 0; ulimit -v {limit << 10}; exec "$@"'
    try:
        run = subprocess.run(
            ["sh", "-c", command, "sh", sys.executable, "-m", *arguments],
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "TERM": "dumb", "HOME": os.getcwd()},
        )
    except subprocess.TimeoutExpired:
        return -14, "hang"
    return run.returncode, run.stdout


def _embedder(source: str, limit: int) -> str:
    status, output = _run(["tests.fuzz.child", "embedded", source], limit)
    wrong = _wrong(status, output)
    message = output.partition("MESSAGE ")[2]
    if not wrong and message and not any(word in message for word in _WORDS):
        return f"the message says {message!r}"
    return wrong


def _prompt(source: str, limit: int) -> str:
    status, output = _run(["th_shell", "-i"], limit, _PROMPT.format(source=source))
    wrong = _wrong(status, output)
    # LuaJIT keeps memory that it has freed: then there may be none for numpy, loaded at first use.
    answer = output.rpartition("6\t\n")[2]
    if not wrong and answer != "3\t\n" and "Buy new RAM" not in answer:
        return f"the session ended: {output[-300:]!r}"
    return wrong


def _wrong(status: int, output: str) -> str:
    if status < 0 or status > 1:
        return f"exit status {status}: {output[-300:]!r}"
    for bad in ("Traceback", "internal error", "FINDING", "[th] ", "Error:"):
        if bad in output:
            return f"prints {bad.strip()}: {output[output.index(bad) :][:30]!r} … {output[-200:]!r}"
    return ""

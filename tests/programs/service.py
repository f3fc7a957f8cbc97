# pyright: strict
"""Answer requests with a pool of engines, each of which serves one request at a time."""

import asyncio
import queue
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from th_shell import Engine, LuaError, LuaTimeout

PROGRAM = """
function answer(n)
  if n < 0 then error('n is negative', 0) end
  local sum = 0
  for i = 1, n do sum = sum + i % 7 end
  return sum
end
"""


class Pool:
    """Engines that wait for requests."""

    def __init__(self, size: int, program: str) -> None:
        self.free: queue.SimpleQueue[Engine] = queue.SimpleQueue()
        for _ in range(size):
            engine = Engine()
            engine.run(program)
            self.free.put(engine)

    @contextmanager
    def engine(self, seconds: float) -> Generator[Engine, None, None]:
        engine = self.free.get()
        try:
            with engine.timeout(seconds):
                yield engine
        finally:
            self.free.put(engine)


def answer(pool: Pool, n: float) -> tuple[int, str]:
    """Return the status of the answer, and its text."""
    try:
        with pool.engine(0.5) as engine:
            return 200, str(engine.globals.answer(n))
    except LuaTimeout:
        return 503, "too long"
    except LuaError as error:
        return 400, error.message


async def serve(pool: Pool, requests: Sequence[float]) -> list[tuple[int, str]]:
    return await asyncio.gather(*(asyncio.to_thread(answer, pool, n) for n in requests))


def main() -> int:
    for status, text in asyncio.run(serve(Pool(2, PROGRAM), [10, 1e12, -1, 100])):
        print(status, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# pyright: strict
"""Use a library of Lua from Python: its functions, its objects, its iterators."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from th_shell import Engine, LuaCoroutine, LuaError, LuaFunction, LuaTable

LIBRARY = """
local words = {}
function words.count(steps)
  local counts = {}
  for word in steps do counts[word] = (counts[word] or 0) + 1 end
  return counts
end
function words.split(line) return line:gmatch('%a+') end
function words.pairs(n)
  return coroutine.create(function()
    for i = 1, n do for j = i + 1, n do coroutine.yield(i, j) end end
  end)
end
function words.check(word) if #word > 9 then error({word = word, limit = 9}) end end
return words
"""


@dataclass
class Words:
    """The library, with types."""

    module: LuaTable

    def split(self, line: str) -> Iterator[str]:
        steps: LuaFunction = self.module.split(line)
        return iter(steps)

    def count(self, lines: Iterable[str]) -> dict[str, int]:
        found: LuaTable = self.module.count(word for line in lines for word in self.split(line))
        return {str(word): int(count) for word, count in found.items()}

    def pairs(self, n: int) -> list[tuple[int, int]]:
        steps: LuaCoroutine = self.module.pairs(n)
        return [(i, j) for i, j in steps]

    def too_long(self, word: str) -> int | None:
        try:
            self.module.check(word)
        except LuaError as error:
            return int(error.value.limit)
        return None


def main() -> int:
    Path("words.lua").write_text(LIBRARY)
    with Engine() as lua:
        words = Words(lua.require("words"))
        print(sorted(words.count(["one two", "two"]).items()), words.pairs(3))
        print(words.too_long("photosynthesis"), words.too_long("sun"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A page that went through print is cut where its fences, prompts and comments were damaged.

What its examples do is tested where it stands, in tests/docs.
"""

from pathlib import Path

from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read

PAGE = Path(__file__).parents[2] / "docs" / "converted.txt"

#: Each example: its line, its block, the lines of the input and of the text under it.
CUT = """
10 0 1 1  torch.Tensor(rows, columns)
12 0 1 0  x:narrow(...)
18 1 1 0  x = torch.Tensor(3, 2):fill(4)
19 1 1 5  x
30 1 4 4  x:apply(function(value)
47 2 1 0  y = x:t():contiguous()
48 2 1 3  y
52 2 1 1  = y:isContiguous()
54 2 1 0  n = y:nElement() y:storage():size()
55 2 1 1  print(n)
62 3 1 0  s = torch.LongStorage({3, 2})
63 3 1 3  s
69 3 1 3  torch.Tensor(s):size()
76 3 1 0  z = torch.range(1, 6):resize(s)
77 3 1 4  z:select(2, 1)
88 4 1 3  torch.rand(2, 2)
97 5 1 1  a = torch.LongStorage({1, 2})
99 5 1 0  b = torch.Tensor(a):fill(0)
100 5 1 2  b
103 5 1 2  B
106 5 1 2  b:fill(3)
109 5 1 2  b.sum()
112 5 1 2  c
115 5 1 1  b:storage()[b:storageOffset()+
117 5 1 2  b:narrow(2, 1, 1)
125 6 1 0  printf 'one\\ntwo\\n' > words.txt
126 6 1 0  th
127 6 1 1  io.open('words.txt'):read('*l')
130 6 1 2  cat words.txt
"""


def test_every_example_is_found() -> None:
    found = [
        f"{e.line} {e.block} {len(e.source.splitlines())} {len(e.expected.splitlines())}  "
        + e.source.splitlines()[0].partition(" --")[0]
        for e in read(PAGE, Compiler()).examples
    ]
    assert found == CUT.strip().splitlines()

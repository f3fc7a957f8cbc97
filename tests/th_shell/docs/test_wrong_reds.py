"""Pages that are right, each beside one that is nearly the same and wrong: what must stay red."""

import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from tests.data_files import data
from tests.th_shell.docs.test_strange_pages import COMPILER, judged, lua, python, words
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner

COMMENTS = data(__file__, "COMMENTS")
FFI = "f = require 'ffi'\n"
STRUCT = "f.cdef('struct one_of_many {int x;};')"
OWN = "m = require 'ffi'\nm.made = (m.made and error or tostring)(3)"
SHOWN = "math.max(1, 2) --> 2\n" * 5
EACH = "function f(t) print(t[1]); print(t[2]) return t end\nf({3, 4})"
TWICE = "> 1 + 1\n2\n" * 5
SCRIPTS = {
    f"{TWICE}> print('\\27[31mred\\27[0m')": "ran",
    f"{TWICE}> print('red')": "differs",
    f"{SHOWN}setmetatable({{}}, {{}})": "ran",
    f"{SHOWN}torch.ones(2)": "ran",
    f"{SHOWN}return 3": "ran",
    f"u = ''\n{SHOWN}u:upper()": "ran",
    f"{SHOWN}math.max(1, 3)": "differs",
    # A script shows no value, so nothing fails where it cannot be shown.
    "f = io.tmpfile()\nio.output(f)\nio.close(f)": "ran",
    "f = io.tmpfile()\nio.output(f)\nio.close(f)\nio.write(3)": "error",
    "> f = io.tmpfile()\n> io.output(f)\n> io.close(f)": "error",
    # An expression that is all of a script shows the form of a call.
    f"{SHOWN}```\n\nThus:\n\n```lua\nmath.max(1, 3)": "ran",
}
NAMES = {
    "x = lost.f()\nfor _, x in ipairs(x) do print(x.id) end": "fragment fragment",
    "t = lost.f()\nfor _, x in ipairs(x) do print(x.id) end": "fragment fragment",
    "x = lost.f()\nfor _, x in ipairs({3}) do print(x.id) end": "fragment error",
    # The parameters of functions are no values of the page.
    "function f(path) end\ny = path .. 'x'": "ran fragment",
    "path = nil\ny = path .. 'x'": "ran error",
    "function f(outputSize) end\nx = torch.ones(outputsize)": "ran fragment",
    "outputSize = 3\nx = torch.ones(outputsize)": "ran error",
    # Nor are the locals of loops and functions.
    "for i = 1, 2 do\n  local u = 3\nend\nu:index(3)": "ran fragment",
    "for i = 1, 2 do local u = 3 end\nu:index(3)": "ran fragment",
    "for i = 1, 2 do\n  u = nil\nend\nu:index(3)": "ran error",
    "local a = 3; local u = nil\nu:index(3)": "ran error",
    # A letter that another section gives another value, as an argument.
    "m = {}\n```\n\n# B\n\n```lua\nx = math.max(m)": "ran fragment",
    "m = {}\n```\n\n```lua\nx = math.max(m)": "ran error",
    "m = {}\n```\n\n# B\n\n```lua\nx = m.nosuch(3)": "ran error",
    "mean = {}\n```\n\n# B\n\n```lua\nx = math.max(mean)": "ran error",
    "m = {}\n```\n\n# B\n\n```lua\nm = {}\nx = math.max(m)": "ran ran error",
    # Or as an object that it is not there.
    "T = print\n```\n\n# B\n\n```lua\nT:f(3)": "ran fragment",
    "T = print\n```\n\n```lua\nT:f(3)": "ran error",
    "Test = print\n```\n\n# B\n\n```lua\nTest:f(3)": "ran error",
    # Code in a string.
    "loadstring('lost:f()')()": "fragment",
    "lost = 3\nloadstring('lost:f()')()": "ran error",
    "c = lost.f()\nprint(loadstring('return math.' .. 'max(c, 3)')())": "fragment fragment",
    "c = 'x'\nprint(loadstring('return math.' .. 'max(c, 3)')())": "ran error",
    "c = lost.f()\nprint(math.max('c, 3'))": "fragment error",
    # A name in other letters that the page uses over and over is its own.
    "outputSize = 3\n" + "x = nosuch.f(outputsize)\n" * 3: "ran fragment fragment fragment",
    "hiddenSize = 3\nerror(hiddensize, inputsize)": "ran fragment",
    "x = 3\n> X\n4\n> X\n5\n> X\n6": "ran fragment fragment fragment",
    "x = 3\n> X\n3\n> X\n5\n> X\n6": "ran healed differs differs",  # a repair tells of a slip
    # A name that an input reads and sets.
    "a, b = ...\nb = b + 1": "ran fragment",
    "b = nil\nb = b + 1": "ran error",
    "ls = table.concat(ls)": "fragment",
    "ls = {{}}\nls = table.concat(ls)": "ran error",
    # What a call makes of it.
    "f = coroutine.wrap\ng = rawequal(loss, 3)\ng.x = 3": "ran ran fragment",
    "loss = 3\ng = rawequal(loss, 3)\ng.x = 3": "ran ran error",
    "loss = 3\ng = rawequal(Loss, 3)\ng.x = 3": "ran ran error",
    "error(\"could not load package 'custom'\")": "fragment",
    "package.preload.p = function() error('could not load it') end\nrequire 'p'": "ran error",
    "module:forward(3)": "fragment",
    "module = {}\nmodule:forward(3)": "ran error",
    "error(string)": "fragment",
    "string.nosuch(3)": "error",
    "torch.ones{...}": "fragment",
    "torch.ones(...)": "fragment",
    "a = ...\na.x = 3": "ran fragment",
    "function f(...) return ... end\nf(3).x.y = 3": "ran error",
    "A, B = torch.class('dp.A', 'dp.B')": "fragment",
    "A, B = torch.class('A', 'Lost')": "fragment",
    "Lost = {}\nA, B = torch.class('A', 'Lost')": "ran error",
    "dp = {}\nA, B = torch.class('dp.A', 'dp.B')": "ran error",
    "> f = tostring\n> f(?)": "ran fragment",
    "> f = tostring\n> x = {f(2, ?), ?}": "ran fragment",
    "> f = tostring\n> f(3)?": "ran damaged",
    "t = {}\ny = nosuch()\ntable.insert(t, y)\nerror(t)": "ran fragment ran fragment",
    "t, y = {}, 3\nx = nosuch()\ntable.insert(t, y)\nerror(t)": "ran fragment ran error",
    "require '../nosuch'": "fragment",
    "error('a/b.png' .. ' could not be opened')": "fragment",
    "error('a/b.png' .. ' has been opened')": "error",
    "f = loadfile('../nosuch')\nerror('no file: /a/other.lua')": "ran error",
    # Files that nobody has.
    "f = io.open('/path/to/x')\nf:read('*a')": "ran fragment",
    "f = io.open('x.txt', 'w')\nf:nosuch()": "ran error",
    "g = ('a.b'):match('c.d')\ng.x()": "ran error",
    "> dofile 'a/x.lua'\n…": "fragment",
    "> dofile 'a/x.lua'\n...  -- and others": "fragment",
    "> error('a')\n...  -- and others": "error",
    "> dofile 'a/x.lua'\n3": "fragment",
    "x = 'b.lua'\n> dofile 'a/x.lua'\n3": "ran fragment",
    "print('b.lua')\n> dofile 'a/x.lua'\n3": "ran error",
    "x = io.open('x.txt'):read('*a')": "fragment",
    "x = io.open('x.txt', 'w'):write('y'):nosuch()": "error",
    "print('x.txt')\nx = io.open('x.txt'):read('*a')": "ran error",
    # A file of a module's own.
    "loadstring('error(\"cannot open </a/x> in mode r\")', '@/m/init.lua')()": "fragment",
    "loadstring('error(\"cannot read </a/x> in mode r\")', '@/m/init.lua')()": "error",
    # What th leaves out of a module.
    "socket = require 'socket'\nsocket.connect('a', 80)": "ran fragment",
    "socket = require 'socket'\nsocket.nosuch('a', 80)": "ran error",
    # What LuaJIT does not know of later Luas.
    "> 7 // 2\n3": "fragment",
    "> 7 / / 2\n3": "damaged",
    "> x = 7 // 2\n> x\n3": "fragment fragment",
    "> x = 3 << 1": "fragment",
    "> x = 3 < < 1": "damaged",
    "> x = 6 & 3": "fragment",
    "> x = 6 && 3": "damaged",
    "> local x <const> = 3": "fragment",
    "> local x <> = 3": "damaged",
    "local _ENV = {assert = assert}\nassert(print == nil)": "ran fragment",
    "local _EVN = {assert = assert}\nassert(print == nil)": "ran error",
    # Functions in C that the page does not declare, or no library has.
    FFI + "x = f.C.lost_one": "ran fragment",
    FFI + "f.cdef('int lost_one;')\nx = f.C.lost_two": "ran ran fragment",
    FFI + "f.cdef('int lost_one;')\nx = f.C.lost_one": "ran ran fragment",
    FFI + "x = f.nosuch.lost_one": "ran error",
    # What a command line gives.
    "c = torch.CmdLine()\no = c:parse({})\nx = ('a'):rep(o.n)": "ran ran fragment",
    "c = torch.CmdLine()\nc:option('-n', 'a')\no = c:parse({})\nx = ('a'):rep(o.n)": (
        "ran ran ran error"
    ),
    "o = {}\nx = ('a'):rep(o.n)": "ran error",
    "f = torch.DiskFile('')": "fragment",
    "f = torch.DiskFile(3, 'x')": "error",
    # The source of a class that a module has made.
    'a = loadstring(\'m, c = {}, torch.class c("m.B") c("m." .. "A", "m.B")\')()\n'
    "a = m.A\nA, B = torch.class('m.A', 'm.B')\nx = A.z": "ran ran fragment fragment",
    "m, c = {}, torch.class\nB = c('m.B')\nA = c('m.A', 'm.B')\nA = c('m.A', 'm.B')": (
        "ran ran ran error"
    ),
    # A question about a file that nobody has.
    "> exists = function() end\n> exists 'a'\ntrue": "ran fragment",
    "function exists() return nil end\n> exists 'a' or exists 'b'\n'a'": "ran fragment",
    "function exists() return nil end\nprint('b')\n> exists 'a' or exists 'b'\n'a'": (
        "ran ran differs"
    ),
    "function exists() return nil end\n> exists(3)\n'a'": "ran differs",
    "readfile = print\nx = readfile('x'):sub(1, 2)": "ran fragment",
    # A module that ends the process while it loads.
    "package.preload.m = function() os.exit(2) end\nrequire 'm'\nm.f()\nmath.max(3) --> 4": (
        "ran fragment fragment differs"
    ),
    "package.preload.m = function() os.exit(0) end\nm = require 'm'": "ran fragment",
    "m = {f = function() os.exit(2) end}\nm.f()": "ran error",
    "p = {error = function() os.exit(2) end}\np:error('x')\nmath.max(3) --> 4": "ran ran differs",
    # Where a module was looked for.
    "> require 'nosuch'\nx.lua:1: module 'nosuch' not found:\n\tno file '/a/nosuch.lua'": "pass",
    "> require 'nosuch'\nx.lua:1: module 'nosuhc' not found:\n\tno file '/a/nosuhc.lua'": "error",
    # Arrows before what is printed; the value beside it.
    f"{EACH}\n=> 3\n=> 4": "ran pass",
    f"{EACH}\n=> 3\n=> 5": "ran differs",
    f"{EACH}\n=> {{3, 4}}": "ran pass",
    f"{EACH}\n=> {{3, 5}}": "ran differs",
    # Rows of another library are no long string, and no code.
    "> x = 3\n> x\n[[[1, 2]\n  [3, 4]]\n [[5, 6]]]": "ran differs",
    # What only the reader's machine has, or the reader types.
    "f = print\nx = f('x.txt'):sub(1, 2)": "ran fragment",
    "f = print\nx = f('x'):sub(1, 2)": "ran error",
    "> ('x'):gsub('x', function() return os.getenv('HOME') end)\n/home/roberto 1": "fragment",
    "> ('x'):gsub('x', function() return 'y' end)\n/home/roberto 1": "differs",
    "> require('paths').cwd()\n/home/roberto": "fragment",
    "> io.lines()(), 3\none": "fragment",
    "x = arg[1]:lower()": "fragment",
    "arg = {x = 3}\nx = arg.y:lower()": "ran error",
    "$ ls nets/\na.t7": "fragment",
    "$ echo 3 > a.txt\n$ cat b.txt\n3": "ran differs",
    "x = torch.FloatStorage('../left.bin')": "fragment",
    # What a module that is missing would have made of strings; what one gives that is called.
    "require 'nosuch'\nx = 'a' .. {}": "fragment fragment",
    "x = 'a' .. {}": "error",
    "package.preload.p = function() return {f = print} end\nrequire 'p'.f()\nx = p.g()": (
        "ran ran fragment"
    ),
    # A global of the program that a module is written for.
    "loadstring('return host.f()', '@/m/init.lua')()": "fragment",
    "loadstring('return string.nosuch()', '@/m/init.lua')()": "error",
    # A comment right above code, behind a blank line, is about that code.
    "math.max(1, 2)\n\n-- prints 3\nprint(3)": "ran ran",
    "math.max(1, 2)\n-- prints 3\nprint(3)": "ran ran",
    "math.max(1, 2)\n-- prints 3\nprint(4)": "differs ran",
    "math.max(1, 2)\n\n-- prints 3\n": "differs",
    "error('x') -- raise error after 10 steps": "layout",
    "error('x') -- raise it after 10 steps": "error",
    # Comments on another case, and with a mark too many.
    "x = type(3) -- return nil, err on errors": "ran",
    "x = type(3) -- return nil, an error": "differs",
    "print(3) -- prints 3`": "pass",
    "print(3) -- prints 4`": "differs",
    # A block that holds as a program of its own.
    f"{OWN}\nm.x = 3\n```\n\n```lua\nm = require 'ffi'\nprint(m.x) --> nil": (
        "ran ran ran ran pass"
    ),
    # A file that a line of the shell would write, which is not run.
    "$ echo `date` > x.lua\n> dofile 'x.lua'\n3": "skipped fragment",
    "$ echo `date` > y.lua\n> dofile 'x.lua'\n3": "skipped error",
    # A program for a command line, which a page cannot give its words.
    "f = os.exit\nx = print('Usage: a FILE') or f(1)": "ran error",
    "function f() print('Usage: a FILE'); os.exit(2) end\nx = f()\nx:sum() --> 3": (
        "ran fragment fragment"
    ),
    "function f() print('No: a FILE'); os.exit(2) end\nx = f()": "ran error",
    # What another package would bring.
    "require 'image'\nx = image.lena()\nx:size(1) --> 3": "ran fragment fragment",
    "> error('the cURL library could not be loaded')\n3": "fragment",
    "> error('the cURL library could not be told')\n3": "error",
    "dir = '/path/to'\nx = torch.load(dir .. '/x.t7')\nx:sum() --> 3": "ran fragment fragment",
    "name = 'x.t7'\ntorch.save(name, 3)\nx = torch.load(name)\nx --> 4": "ran ran ran differs",
    # What was tried before says so.
    "package.preload.m = function() require 'nosuch' end\nrequire 'm'\nrequire 'm'\nm.f()": (
        "ran fragment fragment fragment"
    ),
    "package.preload.m = function() error('a') end\nrequire 'm'\nrequire 'm'": (
        "ran error fragment"
    ),
    "package.preload.m = function() require 'nosuch' end\nx = require 'm'\ny = require 'm'": (
        "ran fragment fragment"
    ),
    "package.preload.m = function() error('a') end\nx = require 'm'\ny = require 'm'": (
        "ran error fragment"
    ),
    "package.preload.m = function() require 'no.such' end\nm = require 'm'\n"
    "package.preload['m.a'] = function() require 'm' end\na = require 'm.a'\n"
    "a = require 'm.a'": "ran fragment ran fragment fragment",
    "require('ffi').load('nosuch')": "fragment",
    "require('ffi').cdef('nosuch x;')": "error",
    "package.preload['a.b'] = function() require 'nosuch' end\nX = require 'a.b'\n"
    "Y = require 'a.b'": "ran fragment fragment",
    # What a module that is missing would have added to others.
    "require 'nosuch'\nx = torch.Nosuch(3)\ny = torch.ones(3):nosuch()": (
        "fragment fragment fragment"
    ),
    "x = torch.Nosuch(3)\nrequire 'nosuch'\ny = torch.ones(2, 'a')": "error fragment error",
    "package.preload.p = function() end\nrequire 'p'\nx = torch.Nosuch(3)": "ran ran error",
    "A = torch.class('A', 'lost.B')": "fragment",
    "A = torch.class('A', 'torch.Tensr')": "error",
    # What another block has made: each may be a program of its own.
    f"{FFI}y = 3\n{STRUCT}\n```\n\n```lua\n{STRUCT}\nx = y": "ran ran ran fragment ran",
    f"{FFI}{STRUCT}\n{STRUCT}": "ran ran error",
    f"> {FFI}> {STRUCT}\n```\n\n```lua\n> {STRUCT}": "ran ran error",
    f"{FFI}x = 's'\n```\n\n```lua\n{STRUCT}\n{STRUCT}": "ran ran ran error",
    # A block that requires anew what the page has required is a program of its own.
    f"{OWN}\n```\n\n```lua\n{OWN}\nprint(m.made) --> 3": "ran ran ran ran pass",
    f"{OWN}\n```\n\n```lua\n{OWN}\nprint(m.made) --> 4": "ran ran ran error differs",
    f"{OWN}\ny = 3\n```\n\n```lua\nx = y\n{OWN}": "ran ran ran ran ran error",
    f"{OWN}\nx = 3\n```\n\n```lua\n{OWN}\ny = x + 3": "ran ran ran ran error ran",
    "dp = lost.f()\nT = torch.class('dp.T')": "fragment fragment",
    "dp = 3\nT = torch.class('dp.T')": "ran error",
    # Where Torch7's sources in C raise an error.
    "> torch.ones(3):narrow(1, 2, 5)\nbad argument #3 to 'narrow' (out of range at /x/TH.c:35)": (
        "pass"
    ),
    "> torch.ones(3):narrow(1, 2, 5)\nbad argument #2 to 'narrow' (out of range at /x/TH.c:35)": (
        "error"
    ),
    "> loadstring('error(3 .. 1)', '@/c++/x.lua')()\n/g++/y.lua:1: 31": "pass",
    "> loadstring('error(3 .. 1)', '@/c++/x.lua')()\n/g++/y.lua:1: 32": "error",
}
DEVICES = data(__file__, "DEVICES")
#: Where a row is cut into columns depends on how long the numbers of chance are.
COLUMNS = {
    f"> x = torch.Tensor(2, {size})\n> x\nColumns 1 to 2\n 1.7479e+270  7.0981e+194\n"
    "  6.9204e-72  8.8289e+199\n\nColumns 3 to 3\n  4.8548e-27\n 1.0240e-259\n"
    f"[torch.DoubleTensor of size 2x{shown}]\n": f"ran {verdict}"
    for size, shown, verdict in ((3, 3, "layout"), (4, 3, "differs"), (4, 4, "damaged"))
}
PACKAGE = "package.preload.p = function() return {table.concat{3}} end\n"
LOCALS = {
    "A = 1\n```\n\n```lua\nlocal A = 2\nA --> 2\n```\n\n```lua\nA --> 1": "ran ran pass pass",
    "local A = 1\n```\n\n```lua\nlocal A = 2\n```\n\n```lua\nA --> 2": "ran ran pass",
    "local a = 3\nfunction f() return a end\na = 4\nf() --> 4": "ran ran ran pass",
    "local a = 3\nfunction f() return a end\nf() --> 4": "ran ran differs",
    "local a = 3; local b = 4\na + b --> 7": "ran pass",
    "local a = 3; local b = 4\na + b --> 8": "ran differs",
    "local a = {'x'}; local b = 4\nb --> 4": "ran pass",
    "local a = 'x; local b'; local b = 4\na --> 'x; local b'": "ran pass",
    "local a = 3; do local a = 4 end\na --> 3": "ran pass",
    "local a = 3\nfunction f() return a end\nf() --> 3\n```\n\n```lua\nlocal a = 4\nf() --> 3": (
        "ran ran pass ran pass"
    ),
    # A name of Lua's own: its libraries go on to need it.
    f"{PACKAGE}local table = 4\nprint(table) --> 4\nrequire('p')[1] --> 3": "ran ran pass pass",
    f"{PACKAGE}table = 4\nprint(table) --> 4\nrequire('p')[1] --> 3": "ran ran pass error",
    "local type = 'a'\ntype = type .. 'b'\nprint(torch.ones(2):sum(), type) --> 2 ab": (
        "ran ran pass"
    ),
    "local type = 1\nprint(type) --> 2\n```\n\n```lua\nprint(type(3)) --> number": (
        "ran differs pass"
    ),
    "type = 'a'\ntorch.ones(2):sum('a')": "ran error",
    "local threads = require 'threads'\nlocal text = 'x'\n"
    "p = threads.Threads(1, function() x = #text end)\n"
    "p:addjob(function() return x end, function(y) z = y end)\np:synchronize()\nz --> 1": (
        "ran ran ran ran ran pass"
    ),
}
REPAIRS = data(__file__, "REPAIRS")
ORDERS = data(__file__, "ORDERS")
SESSIONS = data(__file__, "SESSIONS")
REMARKS = data(__file__, "REMARKS")
WORDS, CODE = data(__file__, "WORDS"), data(__file__, "CODE")
TABLES = (
    COMMENTS,
    NAMES,
    DEVICES,
    COLUMNS,
    LOCALS,
    REPAIRS,
    ORDERS,
    SESSIONS,
    REMARKS,
    WORDS,
    CODE,
)


@pytest.mark.sample(12)
@pytest.mark.parametrize(("page", "verdicts"), [row for table in TABLES for row in table.items()])
def test_pages_of_lua(runner: Runner, tmp_path: Path, page: str, verdicts: str) -> None:
    assert words(judged(runner, tmp_path, "page.md", lua(page))) == verdicts


def test_a_name_that_only_the_shell_has_is_not_meant(runner: Runner, tmp_path: Path) -> None:
    shell = replace(runner, preludes={"lua": "input, other = 3, 3"})
    page = lua("print(input) --> 7\nprint(other) --> 7")
    assert words(judged(shell, tmp_path, "page.md", page)) == "fragment differs"
    page = lua("-- of Penlight\nprint(input) --> 7\ninput = 3\nprint(input) --> 7")
    assert words(judged(shell, tmp_path, "page.md", page)) == "differs ran differs"


#: Pages with fences of no language, and a text without fences.
FENCES = {
    # A class of its own that a page adds to a package.
    ("page.md", "# OwnMax in Torch\n\n```lua\nnn = {}\nnn.OwnMin()\nnn.OwnMax()\n```\n"): (
        "ran error fragment"
    ),
    ("page.lua", "print(2 + 3) -- Ausgabe: 5\nprint(2 + 3) -- Ausgabe: 6\n"): "pass differs",
    # What th's torch for Python lacks.
    ("page.md", "```\n>>> torch.autograd.Variable(3)\n3\n```\n"): "fragment",
    # The prompt of Python, before what is Lua alone.
    ("page.md", "```\n>>> x = torch.ones(2)\n>>> x:sum()\n2\n```\n"): "ran pass",
    ("page.md", "```\n>>> x = [2]\n>>> x[0]\n2\n```\n"): "ran pass",
    # Scripts of Lua, and modules.
    ("page.lua", "#!/usr/bin/env th\nlocal x = {3}\nprint(#x) -- 1\nprint(x[1]) --> 4\n"): (
        "ran pass differs"
    ),
    ("page.lua", "local x = {3}\nx[1] = #x  -- 1\n"): "",
    ("page.lua", "local x = {3}\nprint(#x) -- 1\nreturn x  -- the end\n"): "",
    (
        "page.lua",
        "-- A module.\n-- @module Own\n\n---\n--     Own.x --> 3\nreturn {x = 3}\n",
    ): "pass",
    (
        "page.lua",
        "-- A module.\n-- @module Own\n\n---\n--     Own.x --> 4\nreturn {x = 3}\n",
    ): "differs",
    (
        "page.lua",
        "-- A module.\n-- @module Own\n\n---\n--     Own.x --> 4\nerror('a')\n",
    ): "fragment",
    ("page.md", "```\n#include <x.h>\nint f() {\n  return 0;\n}\n```\n"): "",
    ("page.md", "```\nimport torch\nx = torch.ones(2)\n```\n"): "",
    ("page.md", "```\nprint('a' + 'b')\nfor a in b:\n    print(a)\n```\n"): "",
    ("page.md", "```\nprint('a' + 'b')\nfor a in pairs{} do\nend\n```\n"): "error ran",
    ("page.md", "```\nimport = 3\nx = torch.ones(import)\n```\n"): "ran ran",
    ("page.md", "```\n  L = f(); // all of it\n  return 0;\n}\n```\n"): "",
    ("page.md", "```\nprint('a; // b') -- 'c'\n```\n"): "differs",
    ("page.txt", "USE:\n$ torch\n> 1 + 1\n2\n> 2 + 2\n5\n\n> 3\n4\n"): "pass differs",
    ("page.txt", "USE:\nit begins\n> 1 + 1\n3\n"): "",
    ("page.txt", "So:\n\n> print(1 + 1)\n2\n\nand\n\n> x = 3\n> x\n4\n"): "pass ran differs",
    ("page.txt", "He wrote:\n\n> print(1 + 1)\n> is 3, I think\n\nNo.\n"): "",
    ("page.txt", "```\n$ torch\n> 1 + 1\n3\n```\n"): "skipped differs",
    # Prompts without a fence, which no quotation looks like.
    ("page.txt", "So:\n\n> a = torch.ones(1)\n\n> =a[1]\n2\n\n> a:sum()\n1\n\nText.\n"): (
        "ran differs pass"
    ),
    ("page.txt", "So:\n\n> a = torch.ones(1)\n\n> =a[1]\n2\n\n> They said this.\n"): "",
    ("page.txt", "So:\n\n> a = 3\n\n> =a\n2\n"): "",
    ("page.md", "So:\n\n> a = torch.ones(1)\n\n> =a[1]\n2\n"): "",
    # A text in reStructuredText.
    ("page.txt", "Sum\n\n.. code:: pycon\n\n    >>> 1 + 1\n    2\n\nProse.\n"): "pass",
    ("page.txt", "Sum\n\n.. code:: pycon\n\n    >>> x = 1\n\nThe sum.\n"): "ran",
    ("page.txt", "Sum\n\n>>> print('a\\n  * b')\na\n  * b\n\n.. contents::\n"): "pass",
    # HTML in Markdown.
    ("page.md", "<table><tr><td><pre>\n1 < 2 --> false\n</pre></table>\n"): "differs",
    ("page.md", "A table\n\n<pre>\nx = 3\n\nx &lt; 4 --> true\n</pre>\n"): "ran pass",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("page", "verdicts"), FENCES.items())
def test_code_without_a_language(
    runner: Runner, tmp_path: Path, page: tuple[str, str], verdicts: str
) -> None:
    assert words(judged(runner, tmp_path, *page)) == verdicts


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "verdicts"), [("config", "ran fragment"), ("other", "ran error")])
def test_penlights_modules_are_not_what_a_page_means(
    runner: Runner, tmp_path: Path, name: str, verdicts: str
) -> None:
    page = f"rawset(_G, 'config', {{}}) package.loaded['pl.{name}'] = config\nn = config.net.size"
    assert words(judged(runner, tmp_path, "page.md", lua(page))) == verdicts


@pytest.mark.sample(1)
@pytest.mark.parametrize(("page", "verdict"), SCRIPTS.items())
def test_what_a_script_need_not_show(
    runner: Runner, tmp_path: Path, page: str, verdict: str
) -> None:
    assert judged(runner, tmp_path, "page.md", lua(page))[-1].verdict.value == verdict


RANDOM = "print(math.random() + 1)\nprint(3)\nprint(math.random() - 5)"
LOOP = "for i = 1, 3 do print(i); print(torch.rand(2)) end"
ROWS = " 0.5\n 0.25\n[torch.DoubleTensor of size 2]\n"
FACTOR = " 0.7000\n[torch.DoubleTensor of size 20]"
#: Tables of tensors whose sizes depend on chance.
SIZED = "print({torch.rand(1, torch.random(5, 900)), torch.rand(torch.random(5, 900), 2)})"
LISTED = "{\n  1 : DoubleTensor - size: 1x2\n  2 : %s - size: 2x2\n}"
#: Two loops, of which the second one prints shorter tensors.
LOOPS = "\n".join(f"for i = 1, 2 do print(i, torch.rand({sizes})) end" for sizes in ("1, 2", "2"))
IN_LOOPS = "\n".join(
    f"{i}\n{rows}"
    for rows in (" 0.5 0.25\n[torch.DoubleTensor of size 1x2]\n", ROWS)
    for i in (1, 2)
)
BELOW = {
    (LOOPS, IN_LOOPS): "layout",
    (LOOPS, IN_LOOPS.replace("\n2\n", "\n3\n")): "differs",
    (LOOPS, IN_LOOPS.replace("\n2\n 0.5\n", "\n3\n 0.5\n")): "differs",
    (SIZED, LISTED % "DoubleTensor"): "layout",
    (SIZED, LISTED % "FloatTensor"): "differs",
    (SIZED.replace("torch.random(5, 900)", "4"), LISTED % "DoubleTensor"): "differs",
    (RANDOM, "1.5\n3\n-4.5"): "layout",
    (RANDOM, "5\n3\n-4.5"): "differs",
    (RANDOM, "1.5\n4\n-4.5"): "differs",
    (LOOP, f"1\n{ROWS}\n...\n3\n{ROWS}"): "layout",
    (LOOP, f"1\n{ROWS}\n...\nand\n{ROWS}"): "differs",
    ("print(torch.rand(5, 1))", " 0.5\n...\n 0.25\n[torch.DoubleTensor of size 5x1]"): "layout",
    # Numbers count with the factor above them.
    ("print(torch.rand(20) / 100)", "0.01 *\n" + " 0.5000\n" * 19 + FACTOR): "layout",
    ("print(torch.rand(20) / 100)", "0.1 *\n" + " 0.5000\n" * 19 + FACTOR): "differs",
    ("print(torch.rand(5, 1))", " 7\n...\n 0.25\n[torch.DoubleTensor of size 5x1]"): "differs",
}


PACKAGES = {
    "torchx\n======\n\n{}": "fragment",
    "# torchx\n\n{}": "fragment",
    "# All of torchx\n\n{}": "error",
    "# torch\n\n{}": "error",
    "# torchx\n\n```lua\nprint('torchx')\n```\n\n{}": "ran error",
}


@pytest.mark.parametrize(("page", "verdicts"), PACKAGES.items())
def test_a_page_about_a_package_may_not_load_it(
    runner: Runner, tmp_path: Path, page: str, verdicts: str
) -> None:
    text = page.format(lua("x = torch.nosuch(3)"))
    assert words(judged(runner, tmp_path, "page.md", text)) == verdicts


@pytest.mark.thorough
@pytest.mark.parametrize(("shown", "verdict"), BELOW.items())
def test_what_a_script_prints_by_chance(
    runner: Runner, tmp_path: Path, shown: tuple[str, str], verdict: str
) -> None:
    code, output = shown
    page = f"{lua(code)}\nprints\n\n```\n{output}\n```\n"
    assert judged(runner, tmp_path, "page.md", page)[-1].verdict.value == verdict


IMPORT = ">>> from math import floor"
PARSER = ">>> import argparse\n>>> (p := argparse.ArgumentParser()).add_argument('a') and None\n"
LOG = ">>> import logging\n>>> logging.basicConfig(level=20)\n"
RAISE = ">>> def fail(error): raise error\n"
NOW = ">>> import datetime\n>>> now = datetime.datetime.now\n"
IMPORTS = "import json"
ONCE = "assert not hasattr(json, 'made')\njson.made = 3"
PATH = ">>> from pathlib import Path\n"
LOST = """>>> x = lost()
```

# A

```python
>>> x = 3
```

"""
MAKES = """
made = set()
def add(name):
    if name in made:
        raise ValueError(f"'{name}' is already there")
    made.add(name)"""
PYTHON = {
    ">>> import nosuch\n>>> nosuch.x\n3": "fragment fragment",
    ">>> import itertool": "error",
    ">>> import StringIO": "error",
    ">>> import json.nosuch": "error",
    ">>> from json import nosuch": "error",
    ">>> from nosuch import *\n>>> f(3)\n4\n>>> max(3, 4)\n5": "fragment fragment differs",
    ">>> from math import *\n>>> nosuch(3)\n4\n>>> sqrt(4)\n3.0": "ran error differs",
    ">>> 1\n1\n>>> 1 + 1  # 2": "pass pass",
    ">>> 1\n1\n>>> 1 + 1  # => 3": "pass differs",
    ">>> 1\n1\n>>> ['a#b']  # returns ['a#b']": "pass pass",
    ">>> print('a')  # 3\na": "pass",
    ">>> def f(path): pass\n>>> path + 'x'\n3": "ran fragment",
    ">>> sorted([{...}, 3])\n[3]": "fragment",
    ">>> int(...)\n3": "fragment",
    ">>> len({...})\n2": "differs",
    ">>> int([...])\n3": "error",
    # What the input above has shown.
    ">>> 3\n3\n>>> nosuch.f()\n4\n>>> _\n4": "pass fragment fragment",
    ">>> nosuch.f()\n4\n>>> 3\n3\n>>> _\n4": "fragment pass differs",
    # A remark behind an output.
    ">>> 1 + 1\n2 # the sum": "pass",
    ">>> 1 + 1\n3 # the sum": "differs",
    ">>> print('2 # the')\n2 # the sum": "differs",
    ">>> 1 + 1\n2 #the sum": "pass",
    ">>> 1 + 1\n3 #the sum": "differs",
    ">>> print('2 #a')\n2 #the": "differs",
    # A program for a command line, which a page cannot give its words.
    f"{PARSER}>>> p.parse_args()\n3": "ran ran fragment",
    f"{PARSER}>>> p.parse_args(['-x'])\n3": "ran ran error",
    # What an author has left out of a value, and what a program has cut off.
    ">>> int('x y')\nValueError: invalid literal for int() with base 10: 'x (…)'": "error",
    ">>> f = 'int(x) is'\n>>> f + ' a'\n'int(…) is a'": "ran pass",
    ">>> f = 'int(x) is'\n>>> f + ' a'\n'int(…) is b'": "ran differs",
    ">>> 'int x is'\n'int … is'": "differs",
    # A dictionary that an author has laid out.
    ">>> {'a': [3], 'b': 4}\n{ 'a': [ 3 ],\n  'b': 4 }": "pass",
    ">>> {'a': [3], 'b': 4}\n{ 'a': [ 4 ],\n  'b': 4 }": "differs",
    ">>> print('{a}')\n{ a }": "differs",
    # The value of a variable that a comment names is no output.
    ">>> a = 3\n\n# a\n3.0": "ran",
    ">>> a = 3\n\n# b\n3.0": "differs",
    ">>> 3\n\n# a\n3.0": "differs",
    # Dots in brackets stand for a traceback.
    ">>> int('x')\n<...>\nValueError: invalid literal for int() with base 10: 'x'": "pass",
    ">>> int('x')\n<...>\nValueError: invalid literal for int() with base 10: 'y'": "error",
    # Errors that comments announce, with the class and the message, if they are named.
    ">>> int('x')\n# Raises exception because it is no number": "layout",
    ">>> int('x')\n# It is no number": "error",
    ">>> int('x')\n\n# Raises exception": "error",
    ">>> int('x')  # raises ValueError": "layout",
    ">>> int('x')  # raises TypeError": "error",
    ">>> # raises ValueError: invalid literal\n>>> int('x')": "layout",
    ">>> # raises ValueError: other words\n>>> int('x')": "error",
    "x = 'x'\n# raises ValueError because it is none\nint(x)": "layout",
    "x = 'x'\n# raises ValueError because it is none\nint(x)\ny = 3": "error",
    "x = int('x')\n# raises ValueError because it is none\nint(3)": "error",
    ">>> int('x')\n# raises ValueError\n>>> a = len('b')\n1": "layout healed",
    # What a block without prompts takes, the prompts have imported; and what it does not.
    f"{IMPORT}\n```\n\n```python\nimport math as floor\n```\n\n```python\n>>> floor(2.5)\n2": (
        "ran ran pass"
    ),
    f"{IMPORT}\n```\n\n```python\nfloor = len\n```\n\n```python\nassert floor('ab') == 2": (
        "ran ran pass"
    ),
    f"{IMPORT}\n```\n\n```python\nceil = len\n```\n\n```python\n>>> ceil(2.5)\n2": (
        "ran ran error"
    ),
    f"{IMPORT}\n>>> floor = len\n>>> floor('ab')\n2\n>>> floor(2.5)\n2": "ran ran pass error",
    # Results behind `>>>`, below their code; what a call prints besides counts where it agrees.
    "x = 'a'\nx\n>>> 'a'\n# And:\nx + 'b'\n>>> 'ab'": "pass pass",
    "x = 'a'\nx\n>>> 'a'\n# And:\nx + 'b'\n>>> 'ac'": "pass differs",
    "x = 'a'\nx\n>>> 3\n3": "text pass",
    "x = 'a'\nprint(x)\n>>> 'a'\nlen(x)\n>>> 1": "ran pass",
    "x = 'a'\nlen(x)\n>>> int('x')\n1": "text error",
    # A value that an author has laid out on more lines, and what is printed so.
    ">>> [[1, 2], [3]]\n[\n  [1, 2],\n  [3],\n]": "pass",
    ">>> [[1, 2], [3]]\n[\n  [1, 2],\n  [4],\n]": "differs",
    ">>> print('[\\n1]')\n[1]": "differs",
    # Characters that doctest compares by their codes.
    ">>> '\\xa3'\n'\\xa3'\n>>> '\\xa3'\n'\\xa4'": "pass differs",
    # A traceback without its margin.
    '>>> [][1]\nTraceback (most recent call last):\nFile "a", line 1\nIndexError: list index out '
    "of range": "pass",
    # What a log writes to the standard error.
    f"{LOG}>>> logging.info('a'); 3\n3": "ran ran pass",
    f"{LOG}>>> logging.info('a'); 3\nINFO:root:b\n3": "ran ran differs",
    # What the page does not bring: the network, words of a command line, files, code.
    f"{RAISE}>>> fail(OSError('<urlopen error [Errno -2]>'))": "ran fragment",
    f"{RAISE}>>> fail(OSError('<open error [Errno -2]>'))": "ran error",
    ">>> from pathlib import Path\n>>> p = Path('no/such')\n>>> p.open()": "ran ran fragment",
    "import json\nx = json.loads('[{\"a\", ....}]')": "fragment",
    "import json\nx = json.loads('[{\"a\"}]')": "error",
    "x = []\n...  # as above\nx[3]": "fragment",
    "x = []\nx[3]": "error",
    # What prompts make that a block without prompts has made.
    f"{MAKES}\nadd('a-b')\n```\n\n```python\n>>> add('a-b')": "ran fragment",
    f"{MAKES}\nadd('a-b')\n```\n\n```python\n>>> add('c')\n>>> add('c')": "ran ran error",
    # A value of another section, in place of the one that the page has lost.
    f"{LOST}# B\n\n```python\n>>> x.y": "fragment ran fragment",
    f"{LOST}```python\n>>> x.y": "fragment ran error",
    # Truths, as doctest takes them.
    ">>> 1 == 1\n1\n>>> 1 == 1\n0": "pass differs",
    # What another package would bring.
    f"{RAISE}>>> fail(ImportError('p is required to use a.b'))": "ran fragment",
    f"{RAISE}>>> fail(ImportError('p is required'))\n3\n>>> fail(ImportError('no p'))": (
        "ran fragment error"
    ),
    # A moment that has no seconds.
    f"{NOW}>>> now()\ndatetime.datetime(2020, 1, 2, 3, 4)": "ran ran layout",
    f"{NOW}>>> now()\ndatetime.date(2020, 1, 2)": "ran ran differs",
    # What an optional part of a package would bring.
    f"{RAISE}>>> fail(RuntimeError('backend x is not available'))": "ran fragment",
    f"{RAISE}>>> fail(RuntimeError('backend x is not good'))": "ran error",
    f"{RAISE}>>> fail(OSError('it is not supported on this platform'))": "ran fragment",
    f"{RAISE}>>> fail(OSError('it is not supported on this page'))": "ran error",
    # What the reader's machine decides.
    f"{PATH}>>> Path.home()\nPosixPath('/home/roberto')": "ran fragment",
    f"{PATH}>>> Path('/home/a')\nPosixPath('/home/roberto')": "ran differs",
    f"{PATH}>>> Path.home().nosuch\n'roberto'": "ran error",
    f"{PATH}>>> home = Path.home()\n>>> home.name\n'roberto'": "ran ran fragment",
    f"{PATH}>>> home = Path.home()\n>>> home = Path('a')\n>>> home.name\n'b'": (
        "ran ran ran differs"
    ),
    ">>> from datetime import timezone as LOCALTZ\n>>> LOCALTZ.utc\n'Vienna'": "ran fragment",
    ">>> from datetime import timezone as UTC\n>>> UTC.utc\n'Vienna'": "ran differs",
    f"{PATH}>>> home = Path('~/a')\n>>> home.exists()\nTrue": "ran ran fragment",
    f"{PATH}>>> home = Path('a~/a')\n>>> home.exists()\nTrue": "ran ran differs",
    f"{PATH}>>> Path('a').absolute()\nPosixPath('/home/roberto/a')": "ran fragment",
    # A block that holds as a program of its own, with the imports of blocks above.
    f"{IMPORTS}\n{ONCE}\n```\n\n```python\n{ONCE}": "pass pass",
    f"{IMPORTS}\n{ONCE}\n```\n\n```python\n{ONCE}\nassert json.made == 4": "pass error",
    f"{IMPORTS}\n{ONCE}\nx = 3\n```\n\n```python\n{ONCE}\nassert x == 3": "pass error",
    f"{IMPORTS}\n{ONCE}\n```\n\n```python\n{ONCE}\ny = 3\n```\n\n```python\n>>> y\n3": (
        "pass pass fragment"
    ),
    # Code for a later Python.
    ">>> type X = int": "ran" if sys.version_info >= (3, 12) else "fragment",
    ">>> type X == int": "damaged",
    # All names of a module, where the page leaves out other imports, too.
    ">>> lost(3)\n>>> from math import *\n>>> nosuch(3)": "fragment ran fragment",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize(("page", "verdicts"), PYTHON.items())
def test_pages_of_python(runner: Runner, tmp_path: Path, page: str, verdicts: str) -> None:
    assert words(judged(runner, tmp_path, "page.md", python(page))) == verdicts


@pytest.mark.thorough
def test_a_setup_changes_no_display(runner: Runner, tmp_path: Path) -> None:
    text = data(__file__, "test_a_setup_changes_no_display")
    found = words(judged(runner, tmp_path, "page.rst", dedent(text)))
    assert found == "pass ran ran pass"


@pytest.mark.thorough
def test_a_setup_may_have_prompts(runner: Runner, tmp_path: Path) -> None:
    text = data(__file__, "test_a_setup_may_have_prompts")
    assert words(judged(runner, tmp_path, "page.rst", dedent(text))) == "pass differs"


def test_a_local_is_named_without_its_word(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(lua("local a = 3\nlocal function f() end\nb = 3"))
    examples = read(page, COMPILER).examples
    found = [(example.source, example.is_local) for example in examples]
    assert found == [("a = 3", True), ("function f() end", True), ("b = 3", False)]

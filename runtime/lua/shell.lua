--- The functions that Python's engine calls: compile, run and evaluate code, list names, and so on.
-- @module shell

local th = ...
local host = th.host

local type, pcall, xpcall, select = type, pcall, xpcall, select
local error, rawget, next, require = error, rawget, next, require
local ipairs, unpack = ipairs, unpack
local loadstring, loadfile, sethook = loadstring, loadfile, debug.sethook
local raw_metatable, jit_off, jit_attach = debug.getmetatable, jit.off, jit.attach
local find, gmatch, sort, concat = string.find, string.gmatch, table.sort, table.concat
local bytes = require('ffi').typeof('char[?]')
local buffer = require 'string.buffer'
local stdout = io.stdout
local write = getmetatable(stdout).__index.write

-- luacheck: globals _RESULTS _LAST arg
_RESULTS = {}
_LAST = ''

local shell = { thread_pool = th.for_python(th.thread_pool) }
th.shell = shell

local OUT_OF_MEMORY = 'not enough memory'
local HOOK_COUNT = 10000 -- instructions between two checks for Ctrl-C

local stopped = false -- whether Ctrl-C has stopped the current input
local receive -- a function that gets values before they are printed, or nil

--- Raises an error if Ctrl-C was pressed. Long loops of the runtime call it.
function th.poll()
  if th.uninterruptible or not host.poll() then return end
  stopped = true
  error(host.INTERRUPTED, 0)
end

--- Sets whether Ctrl-C stops code that runs without the JIT compiler.
function shell.set_interruptible(on)
  stopped = false
  if on then
    sethook(th.poll, '', HOOK_COUNT)
  else
    sethook()
  end
end

--- Compiles a chunk. Where it cannot, returns nil, the message, and whether only the end of the
-- chunk is missing.
function shell.compile(source, name)
  local f, message = loadstring(source, name)
  if f then return f end
  -- The message "'<eof>' expected near 'x'" is another one: nothing is missing there.
  return nil, message, find(message, "near '<eof>'", 1, true) ~= nil
end

--- Compiles a file as loadfile does, which skips a first line that begins with #.
function shell.compile_file(path)
  local f, message = loadfile(path)
  if f then return f end
  return nil, message, false
end

--- Turns the JIT compiler off for a chunk and the functions in it: hooks do not run in its code.
function shell.interpret(f)
  jit_off(f, true)
end

-- A block of memory that is freed when a program has used all the memory there is. A call of Lua by
-- Python ends the process if there is none at all; with the reserve, the prompt can go on, and the
-- program's values are still there. Both numbers are bytes.
local RESERVE, NEEDED = 4 * 2 ^ 20, 2 ^ 20
local reserve
local probe = buffer.new()

local function keep_reserve()
  local ok, memory = pcall(bytes, RESERVE)
  if ok then reserve, th.reserved = memory, RESERVE / 1024 end
end
keep_reserve()

-- Frees the reserve if there is too little memory without it, or allocates it again. The memory is
-- asked for and never written, so that the system need not provide its pages.
local function update_reserve()
  local ok = pcall(probe.reserve, probe, NEEDED)
  probe:free()
  if ok then
    if not reserve then keep_reserve() end
  elseif reserve then
    reserve, th.reserved = nil, 0
    pcall(th.collect)
  end
end

-- What the results of an xpcall with th.traceback say: nil if there was no error, otherwise the
-- message and the traceback of the program's frames.
local function outcome(ok, report)
  if ok then
    update_reserve()
    return nil
  end
  local message, frames = th.read_report(report)
  -- Ctrl-C may be pressed again while the traceback of the first one is made.
  if stopped and message == 'error in error handling' then message = host.INTERRUPTED end
  if find(message, OUT_OF_MEMORY, 1, true) then
    pcall(th.collect) -- frees userdata that nobody refers to any more
    pcall(th.collect) -- frees the Python objects that these have kept
  end
  update_reserve()
  return message, frames
end

--- Runs a function; returns nil, or the message and the traceback of its error.
function shell.run(f, ...)
  return outcome(xpcall(f, th.traceback, ...))
end

local plain_print = print

local function show(n, ...)
  if n == 0 then return end
  local shown = print or plain_print
  shown(...)
  shell.keep((...))
end

--- Adds a value to the results of the session, _RESULTS and _LAST.
function shell.keep(value)
  if type(_RESULTS) ~= 'table' then _RESULTS = {} end
  _RESULTS[#_RESULTS + 1] = value
  _LAST = value
end

--- Runs an input as the prompt does: the values of an expression are printed, and the first one is
-- kept.
-- @param expression the input compiled as `return nil, ...`, or nil
-- @param statement the input compiled as it is, where it is no expression
-- @param quiet whether the values are neither printed nor kept
-- @param before_values called before the values are printed, or nil
function shell.evaluate(expression, statement, quiet, before_values)
  local function finish(...)
    if before_values then before_values() end
    if quiet or receive and receive(...) == false then return end
    show(select('#', ...), ...)
  end
  local function evaluated(ok, ...)
    if not ok then return outcome(ok, ...) end
    if expression then return shell.run(finish, select(2, ...)) end
    return shell.run(finish, ...) -- the manual has inputs such as 'return x', which print x
  end
  -- xpcall calls the chunk itself: it then is 'main chunk' in tracebacks.
  return evaluated(xpcall(expression or statement, th.traceback))
end

-- The value that a dotted path of names leads to, found without calling any metamethod.
local function resolve(path)
  local value = _G
  for name in gmatch(path, '[^.]+') do
    local found
    local holder = value
    for _ = 1, 20 do
      if type(holder) == 'table' then found = rawget(holder, name) end
      if found ~= nil then break end
      local mt = raw_metatable(holder)
      if type(mt) ~= 'table' then break end
      found = rawget(mt, name)
      if found ~= nil then break end
      local index = rawget(mt, '__index')
      holder = type(index) == 'table' and index or mt
    end
    if found == nil then return nil end
    value = found
  end
  return value
end

-- Adds the names of a value's fields to a table, with their types: its own and those that it
-- inherits by its metatable.
local function collect(names, value)
  for _ = 1, 20 do
    if type(value) == 'table' then
      for k, v in next, value do
        if type(k) == 'string' and names[k] == nil and find(k, '^[%a_][%w_]*$') then
          names[k] = type(v)
        end
      end
    end
    local mt = raw_metatable(value)
    if type(mt) ~= 'table' then return end
    local index = rawget(mt, '__index')
    value = type(index) == 'table' and index or mt
  end
end

--- The names that may follow a path ('' for the globals), as lines of name and type.
function shell.names(path)
  local names, lines = {}, {}
  local value = resolve(path)
  if value == nil then return '' end
  collect(names, value)
  for name, kind in next, names do lines[#lines + 1] = name .. ' ' .. kind end
  sort(lines)
  return concat(lines, '\n')
end

function shell.write(text)
  write(stdout, text)
end

--- Ends the Lua state. Values that nothing refers to are finalized now. The others are finalized
-- when the state is closed: Python objects must not be called any more then, and errors of
-- finalizers cannot be reported.
function shell.close()
  th.collect()
  th.collect()
  jit_attach(function() end, 'errfin')
  th.leave_python()
end

-- The Lua functions that operations in Python call, by name.
local called = { collect = th.collect, leave_block = th.leave_block, run = th.thread_pool.run,
  parameters = th.thread_pool.parameters }
for name, kernel in pairs(th.kernels) do called[name] = kernel end
called = th.for_python(called)

--- Gives Python the functions that its operations call, in a new coroutine: see th.hand_over.
function shell.hand_over(register)
  th.hand_over(register, called)
end

--- Sets the global `arg`.
-- @param program the element 0
-- @param before how many of the words are before it, at negative indices
-- @param ... the words
function shell.set_arguments(program, before, ...)
  arg = { [0] = program, select(before + 1, ...) }
  for i = 1, before do arg[i - before - 1] = (select(i, ...)) end
end

--- Loads a library as `th -l` does.
function shell.require(name)
  return shell.run(require, name)
end

--- Runs a chunk with functions that call Python, and returns the table that the chunk returns.
function shell.module(chunk, ...)
  local functions = { ... }
  for i, f in ipairs(functions) do
    functions[i] = function(...) return th.ask(f, ...) end
  end
  return chunk(unpack(functions))
end

--- Calls a function of such a table.
function shell.call(f, ...)
  return f(...)
end

--- Sets a function that gets values before they are printed; false from it keeps them from that.
function shell.set_receiver(f)
  receive = f
end

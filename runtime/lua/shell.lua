--- What Python's engine calls: compile, run, evaluate as the prompt does, list names.
-- @module shell

local th = ...
local host = th.host

local type, pcall, xpcall, select = type, pcall, xpcall, select
local error, rawget, next, require = error, rawget, next, require
local loadstring, loadfile, sethook = loadstring, loadfile, debug.sethook
local raw_metatable, jit_off, jit_attach = debug.getmetatable, jit.off, jit.attach
local find, gmatch, sort, concat = string.find, string.gmatch, table.sort, table.concat
local buffer = require('ffi').typeof('char[?]')
local stdout = io.stdout
local write = getmetatable(stdout).__index.write

-- luacheck: globals _RESULTS _LAST arg
_RESULTS = {}
_LAST = ''

local shell = { thread_pool = th.thread_pool }
th.shell = shell

local OUT_OF_MEMORY = 'not enough memory'
local HOOK_COUNT = 10000 -- instructions between two looks at Ctrl-C

local stopped = false -- whether Ctrl-C has, since the input began

--- Raises an error if Ctrl-C was pressed; loops of ours call it now and then.
function th.poll()
  if th.uninterruptible or not host.poll() then return end
  stopped = true
  error(host.INTERRUPTED, 0)
end

--- Makes code that runs without the JIT compiler stoppable by Ctrl-C (or not any more).
function shell.set_interruptible(on)
  stopped = false
  if on then
    sethook(th.poll, '', HOOK_COUNT)
  else
    sethook()
  end
end

--- Compiles a chunk; returns nil, the message and whether only the end is missing.
function shell.compile(source, name)
  local f, message = loadstring(source, name)
  if f then return f end
  -- Not "'<eof>' expected near 'x'": there something is too much, nothing is missing.
  return nil, message, find(message, "near '<eof>'", 1, true) ~= nil
end

--- Compiles a file as loadfile does (a first line that starts with # is skipped).
function shell.compile_file(path)
  local f, message = loadfile(path)
  if f then return f end
  return nil, message, false
end

--- Keeps a chunk and what is defined in it out of the JIT compiler, which hooks cannot stop.
function shell.interpret(f)
  jit_off(f, true)
end

-- Memory that is given up when there is no other: Python's calls of Lua end the process where
-- they find none at all, and the session is to go on with what the program has filled it with.
local RESERVE, NEEDED = 4 * 2 ^ 20, 2 ^ 20
local reserve

local function keep_reserve()
  local ok, memory = pcall(buffer, RESERVE)
  if ok then reserve, th.reserved = memory, RESERVE / 1024 end
end
keep_reserve()

local function settle_memory()
  if pcall(buffer, NEEDED) then
    if not reserve then keep_reserve() end
  elseif reserve then
    reserve, th.reserved = nil, 0
    pcall(th.collect)
  end
end

-- Returns nil where all went well, else the message and the traceback of the user's frames.
local function outcome(ok, report)
  if ok then
    settle_memory()
    return nil
  end
  local message, frames = th.read_report(report)
  -- The second of two Ctrl-C may come while the traceback of the first one is written.
  if stopped and message == 'error in error handling' then message = host.INTERRUPTED end
  if find(message, OUT_OF_MEMORY, 1, true) then -- it is garbage by now, and so is what it kept
    pcall(th.collect)
    pcall(th.collect)
  end
  settle_memory()
  return message, frames
end

--- Runs a function; nil, or the error's message and traceback.
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

--- Keeps a value among the results of the session.
function shell.keep(value)
  if type(_RESULTS) ~= 'table' then _RESULTS = {} end
  _RESULTS[#_RESULTS + 1] = value
  _LAST = value
end

--- Runs an input as the prompt does: an expression's values are printed and kept.
-- @param expression the input compiled as `return nil, ...`, or nil
-- @param statement the input compiled as it is, where it is no expression
-- @param quiet whether the values are neither printed nor kept
-- @param before_values called before the values are printed, or nil
function shell.evaluate(expression, statement, quiet, before_values)
  local function finish(...)
    if before_values then before_values() end
    if not quiet then show(select('#', ...), ...) end
  end
  local function evaluated(ok, ...)
    if not ok then return outcome(ok, ...) end
    if expression then return shell.run(finish, select(2, ...)) end
    return shell.run(finish, ...) -- the manual types 'return x' to see x
  end
  -- Called by xpcall, not by name: tracebacks then say 'in main chunk'.
  return evaluated(xpcall(expression or statement, th.traceback))
end

-- The object that a dotted path of names leads to, without running any metamethod.
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

--- The names one can write after a path ('' for the globals): lines 'name type'.
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

--- Ends the state: finalizes what nobody uses. What is still used is finalized when the state
-- goes; by then Python's objects must not be called, and there is nobody to hear of errors.
function shell.close()
  th.collect()
  th.collect()
  jit_attach(function() end, 'errfin')
  th.leave_python()
end

-- What operations of Python's call in Lua.
local called = { collect = th.collect, leave_block = th.leave_block, run = th.thread_pool.run }
for name, kernel in pairs(th.kernels) do called[name] = kernel end

--- Hands Python the functions that its operations call, once more: see th.hand_over.
function shell.hand_over(register)
  th.hand_over(register, called)
end

--- Sets the global `arg`: the program at 0, `before` words in front of it, the others behind.
function shell.set_arguments(program, before, ...)
  arg = { [0] = program, select(before + 1, ...) }
  for i = 1, before do arg[i - before - 1] = (select(i, ...)) end
end

--- Loads a library as `th -l` does.
function shell.require(name)
  return shell.run(require, name)
end

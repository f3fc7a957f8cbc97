--- The functions that Python's engine calls: run code, keep results, and so on.
-- @module shell

local ffi, host, torch, collector = import('ffi', 'host', 'torch', 'core.collector')
local memory_reserve, python_lock = import('core.memory_reserve', 'core.python_lock')
local references, calls = import('core.references', 'engine.calls')
local output, printing = import('packages.output', 'packages.print')
local thread_pool, interrupts = import('parallel.thread_pool', 'stopping.interrupts')
local loading, blocks, small = import('stopping.loading', 'tensor.blocks', 'tensor.small')

local loadstring, loadfile = loadstring, loadfile
local jit_off, jit_attach = jit.off, jit.attach
local pressed = ffi.cast('int32_t *', host.pressed) -- by Ctrl-C: see stopping/interrupts.lua
local stdout, io_type = io.stdout, io.type
local write = getmetatable(stdout).__index.write

-- luacheck: globals arg _RESULTS _LAST

local shell = { thread_pool = python_lock.for_python(thread_pool) }

local receive -- a function that gets values before they are printed, or nil

--- Sets whether Ctrl-C stops what runs.
shell.set_interruptible = interrupts.set_interruptible

--- Lets Ctrl-C stop the loops of all that is loaded from now on.
shell.count_loops = loading.count_loops

--- Compiles a source; bytecode, which could do anything, is refused. Where it cannot, returns nil,
-- the message, and whether only the end of the chunk is missing; '' where that cannot be told,
-- since there is no memory.
function shell.compile(source, name)
  local f, message = loadstring(source, name, 't')
  local function out_of_memory() return not f and memory_reserve.is_out_of_memory(message) end
  if out_of_memory() then
    memory_reserve.make_room(true)
    f, message = loadstring(source, name, 't')
  end
  if out_of_memory() then -- it needs more than what is room for most inputs
    memory_reserve.release_reserve()
    f, message = loadstring(source, name, 't')
  end
  if f then return f end
  if out_of_memory() then return nil, message, '' end
  -- The message "'<eof>' expected near 'x'" is another one: nothing is missing there.
  return nil, message, string.find(message, "near '<eof>'", 1, true) ~= nil
end

--- Compiles a file as loadfile does, which skips a first line that begins with #.
function shell.compile_file(path)
  local f, message = loadfile(path)
  if f then return f end
  return nil, message, false
end

--- A chunk as the prompt runs it: with counters in its loops, or where that cannot be, without the
-- JIT compiler, in whose code hooks do not run.
function shell.prepare_input(f)
  local complete
  f, complete = loading.prepare(f)
  if not complete then jit_off(f, true) end
  return f
end

--- Runs a program's chunk; returns nil, or the message and the traceback of its error. One of
-- several processes of a program (see packages/mpi) ends all of them by an error.
function shell.run(f, ...)
  local message, frames = calls.run(loading.prepare(f), ...)
  if not message then return nil end
  output.end_all(1, message, frames)
  return message, frames
end

-- ------------------------------------------------------------------- results

-- _RESULTS and _LAST are as in the reference. Only _RESULTS keeps values alive: `_RESULTS = {}`
-- releases them all.
_RESULTS = {}
_LAST = ''

local most_results = 1000
local number_of_input -- the number of the input that runs; nil for one without a number
local list -- the table _RESULTS to which the indices of `places` belong
local places = {} -- the index of the first value of an input, by the input's number

-- The globals with which a person's inputs use the last value, and the one before, unless the
-- program has globals of these names.
local LAST_VALUES = { _ = 0, __ = 1 }
local are_offered = false

-- A program that has given its globals another way to be looked up keeps that.
local function offer_last_values()
  local mt = debug.getmetatable(_G)
  local index = mt and rawget(mt, '__index')
  if type(index) ~= 'function' then return end
  function mt.__index(globals, name)
    local back = LAST_VALUES[name]
    if back then return type(_RESULTS) == 'table' and _RESULTS[#_RESULTS - back] or nil end
    return index(globals, name)
  end
  are_offered = true
end

--- Sets how many results are kept, and offers the last ones as `_` and `__`.
function shell.keep_results(count)
  most_results = count
  if not are_offered then offer_last_values() end
end

--- Sets by which number the next value is known that is kept; nil for none.
function shell.number_results(number)
  number_of_input = number
end

--- Adds a value to the results of the session, _RESULTS and _LAST.
function shell.keep(value)
  if type(_RESULTS) ~= 'table' then _RESULTS = {} end
  local count = #_RESULTS + 1
  _RESULTS[count] = value
  -- False and not nil, which would change the number of results.
  if count > most_results then _RESULTS[count - most_results] = false end
  if value ~= nil then _LAST = value end -- as in the reference
  if list ~= _RESULTS then list, places = _RESULTS, {} end
  if number_of_input and value ~= nil then places[number_of_input] = count end
end

--- The first value of the input of a number, or nil.
function shell.result(number)
  local place = places[number]
  if list ~= _RESULTS or not place or #list - place >= most_results then return nil end
  return list[place]
end

-- -------------------------------------------------------------------- inputs

local plain_print = print
local most -- the elements above which the prompt shows only a part of a value; 0: shows all

--- Sets above how many elements a value is shown in part (see printing.print_elided); nil: values
-- are shown as print does.
function shell.set_elision(limit)
  most = limit
  printing.print_for_people(limit ~= nil)
end

--- Shows values as the prompt does, and keeps the first one.
function shell.show(n, ...)
  if n == 0 then return end
  local print = print or plain_print -- the name is that in the error where it is no function
  if most and print == printing.print_whole then
    printing.print_elided(most, ...)
  else
    print(...)
  end
  shell.keep((...))
end

--- Runs an input as the prompt does: the values of an expression are printed, and the first one is
-- kept.
-- @param f the input, from shell.prepare_input
-- @param is_expression whether it was compiled as `return nil, ...`
-- @param quiet whether the values are neither printed nor kept; 'writes': where they are a file,
--   and people are shown values
-- @param before_values called before the values are printed, or nil
-- @param handler the input's message handler
function shell.run_input(f, is_expression, quiet, before_values, handler)
  local function finish(...)
    if before_values then before_values() end
    if quiet == true then return end
    -- A file from io.write, for calls in a chain, is not worth showing.
    if quiet == 'writes' and most and select('#', ...) == 1 and io_type((...)) then return end
    if receive and receive(...) == false then return end
    shell.show(select('#', ...), ...)
  end
  local function evaluated(ok, ...)
    if not ok then return calls.outcome(ok, ...) end
    -- A pcall has caught the interrupt, or a function that Ctrl-C has ended has returned.
    if pressed[0] ~= 0 then return calls.outcome(false, host.INTERRUPTED) end
    if is_expression then return calls.run(finish, select(2, ...)) end
    return calls.run(finish, ...) -- the manual has inputs such as 'return x', which print x
  end
  interrupts.over = false
  -- xpcall calls the chunk itself: it then is 'main chunk' in tracebacks.
  return evaluated(xpcall(f, handler))
end

--- Loads what Python otherwise loads when a program needs it first.
function shell.load()
  local _ = host.entry -- any of the functions that come with numpy
end

--- Sets the byte that new memory of tensors and storages is filled with; nil: it is undetermined.
shell.set_fill_pattern = blocks.set_fill_pattern

--- Makes room for what follows where memory has run out.
function shell.make_room() memory_reserve.make_room(true) end

function shell.write(text)
  write(stdout, text)
end

--- Ends the Lua state. Values that nothing refers to are finalized now. The others are finalized
-- when the state is closed: Python objects must not be called any more then, and errors of
-- finalizers cannot be reported.
function shell.close()
  collector.collect()
  collector.collect()
  jit_attach(function() end, 'errfin')
  memory_reserve.release_reserve()
  small.close()
  references.leave_python()
end

--- Sets the global `arg`.
-- @param program the element 0
-- @param before how many of the words are before it, at negative indices
-- @param ... the words
function shell.set_arguments(program, before, ...)
  arg = { [0] = program, select(before + 1, ...) }
  for i = 1, before do arg[i - before - 1] = (select(i, ...)) end
end

local default_type, set_default_type = torch.getdefaulttensortype, torch.setdefaulttensortype

--- Sets the default type of tensors; returns the name of the former one.
function shell.set_default_type(name)
  local before = default_type()
  if name ~= before then set_default_type(name) end
  return before
end

--- Loads a library as `th -l` does.
function shell.require(name)
  return calls.run(require, name)
end

--- Sets a function that gets values before they are printed; false from it keeps them from that.
function shell.set_receiver(f)
  receive = f
end

return shell

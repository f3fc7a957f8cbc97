--- The functions that Python's engine calls: compile, run and evaluate code, and so on.
-- @module shell

local th = ...
local host, loading = th.host, th.loading

local loadstring, loadfile = loadstring, loadfile
local sethook, getinfo = th.sethook, debug.getinfo
local jit_off, jit_attach = jit.off, jit.attach
local tobit = bit.tobit
local ffi = require 'ffi'
local pressed = ffi.cast('int32_t *', host.pressed) -- whether Ctrl-C was: see stopping/turns.lua
local stdout, io_type = io.stdout, io.type
local write = getmetatable(stdout).__index.write

-- luacheck: globals arg

local shell = { thread_pool = th.for_python(th.thread_pool) }
th.shell = shell

-- Instructions between two checks for Ctrl-C: few where they take long.
local MIN_HOOK_COUNT, MAX_HOOK_COUNT = 10, 10000
local pace = th.turns.new_pace(MIN_HOOK_COUNT, MAX_HOOK_COUNT)
local hook_count -- the present number; nil without the hook

local STOP, ATTENTION = 1, 2 -- what is pressed: Ctrl-C, or the debugger wants to be asked

-- Python handles signals when it is called, which takes its lock: so this is done now and then.
local LOOK = 0.05 -- seconds
local looked = 0

local stopped = false -- whether Ctrl-C has stopped the current input
local receive -- a function that gets values before they are printed, or nil
local over = false -- whether no input runs: what a prompt itself does is short

-- Makes the next instruction of the program raise the interrupt again, if a pcall has caught it: it
-- is there until the prompt has it.
local function interrupt()
  stopped = true
  th.turns.hurry()
  if not loading.own_hook then th.set_hook(1) end
end

-- Whether what runs is to stop: also where Python handles a signal by an exception.
local function must_stop()
  local now = th.turns.now()
  if pressed[0] == 0 and now - looked < LOOK then return false end
  looked = now
  local ok, result = pcall(host.poll)
  if ok then return result end
  host.stop_by(result)
  return true
end

--- Raises an error if Ctrl-C was pressed. Long loops of the runtime call it.
function th.poll()
  if pressed[0] == ATTENTION then
    pressed[0] = 0
    return th.attend()
  end
  if over or th.uninterruptible or not must_stop() then return end
  interrupt()
  error(host.INTERRUPTED, 0)
end

local OWN = getinfo(1, 'S').source -- what is here ends soon, and what it has begun

--- Called every so many instructions, and at each one when Ctrl-C was pressed.
function th.hook()
  local source = getinfo(2, 'S').source
  if not stopped then
    th.set_hook(pace())
    if source == OWN then return end
  elseif th.is_ours(source) then
    -- The runtime's own functions may run to their ends after the first error: they may be about
    -- to write its traceback.
    return
  end
  th.poll()
end

--- Lets the hook run after so many instructions, and then again and again.
function th.set_hook(count)
  if count == hook_count then return end
  hook_count = count
  sethook(th.line_hook or th.hook, th.line_hook and 'l' or '', count)
end

-- Makes the interrupt the prompt's: it is not raised any more.
local function finish_interrupt()
  over = true
  if stopped and not loading.own_hook then th.set_hook(pace(true)) end
  pressed[0] = 0
  if th.end_steps then th.end_steps() end
end

--- Forgets an interrupt that the debugger has seen; the program goes on.
function th.drop_interrupt()
  if pressed[0] ~= 1 then return end
  finish_interrupt()
  stopped, over = false, false
end

th.note_interrupts_by(interrupt)

local active = false -- whether Ctrl-C stops what runs

-- Sets the hook anew.
local function begin_hook()
  hook_count = nil
  if active then
    th.set_hook(pace(true))
  elseif th.line_hook then
    sethook(th.line_hook, 'l')
  else
    sethook()
  end
end

--- Calls a function at each line, besides the hook of the program or the one for Ctrl-C; nil: none.
function th.watch_lines(f)
  th.line_hook = f
  if loading.own_hook then loading.set_own_hook() else begin_hook() end
end

--- Puts the hook back that the program has replaced by its own.
loading.program_left_hook = begin_hook

--- Lets Ctrl-C stop the program where only a command that it waits for has got the signal.
function th.command_was_interrupted()
  if active then pressed[0] = 1 end
end

--- Sets whether Ctrl-C stops what runs.
function shell.set_interruptible(on)
  stopped, over = false, true
  pressed[0] = 0
  active = on
  th.turns.restart()
  if not loading.own_hook then begin_hook() end
end

--- Lets Ctrl-C stop the loops of all that is loaded from now on.
shell.count_loops = loading.count_loops

--- Compiles a source; bytecode, which could do anything, is refused. Where it cannot, returns nil,
-- the message, and whether only the end of the chunk is missing; '' where that cannot be told,
-- since there is no memory.
function shell.compile(source, name)
  local f, message = loadstring(source, name, 't')
  local function out_of_memory() return not f and th.is_out_of_memory(message) end
  if out_of_memory() then
    th.make_room(true)
    f, message = loadstring(source, name, 't')
  end
  if out_of_memory() then -- it needs more than what is room for most inputs
    th.release_reserve()
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

-- What the results of an xpcall with th.traceback say: nil if there was no error, otherwise the
-- message and the traceback of the program's frames.
local function outcome(ok, report)
  finish_interrupt()
  if ok then
    th.make_room(false)
    return nil
  end
  local message, frames = th.read_report(report)
  -- Ctrl-C may be pressed again while the traceback of the first one is made.
  if stopped and message == 'error in error handling' then message = host.INTERRUPTED end
  th.make_room(th.is_out_of_memory(message))
  return message, frames
end

--- The message handler of what people run: th.traceback, besides what the debugger does. That fails
-- where the stack is full.
function th.handle_error(object)
  if th.note_error then th.has_frames = pcall(th.note_error, object) end
  return th.traceback(object) -- a tail call: it counts levels
end

-- Calls a function; returns nil, or the message and the traceback of its error.
local function protected(f, ...)
  over = false
  return outcome(xpcall(f, th.handle_error, ...))
end

--- Calls a function of a front end, which runs code of the program; returns what it lists.
function th.between_inputs(f, ...)
  over = false
  local ok, list = pcall(f, ...)
  th.drop_interrupt()
  over = true
  if not ok then error(list, 0) end
  return unpack(list)
end

local values -- the functions of values.lua, once a Python program needs them
local depth = 0 -- of calls by `th.protected` that are open: a Python function may make another
local guest = false -- whether a Python program has called, which `os.exit` must not end

-- Looking for room takes longer than a short call.
local CALLS = 2000
local calls = 0

local guarded = th.for_python{
  make_room = th.make_room,

  -- What an error is told by, or that Lua was stopped though a pcall has caught that; and the pair
  -- of values.lua for what was raised, with the mark 'message' where that was a text.
  failed = function(stop, ok, report)
    local message, frames
    if depth > 0 then
      if ok then return host.INTERRUPTED, '' end
      message, frames = th.read_report(report)
    else
      message, frames = outcome(false, stop and host.INTERRUPTED or report)
      stopped, guest = false, false
    end
    local has_object = not stop and type(report) == 'table' and type(report.object) ~= 'string'
    if has_object and values then return message, frames, values.encode(report.object) end
    return message, frames, nil, 'message'
  end,
}
local failed, free_lock = guarded.failed, th.free_lock

-- LuaJIT compiles this: what is compiled reads `pressed` in no time.
local function is_stopped()
  free_lock()
  return pressed[0] == STOP
end

-- Returns nothing, or what `failed` does.
local function leave(ok, value)
  depth = depth - 1
  local stop = is_stopped()
  if stop or not ok then return failed(stop, ok, value) end
  if depth > 0 then return end
  over, guest = true, false
  calls = calls + 1
  if calls == CALLS then
    calls = 0
    guarded.make_room(false)
  end
end

local function end_call(ok, ...)
  local message, frames, value, mark = leave(ok, (...))
  if message then return message, frames, value, mark end
  return ...
end

-- Python's exceptions are raised in Lua where Python handles a signal before its function begins.
local function handle_error(object)
  if type(object) == 'userdata' and host.stop_by(object) then object = host.INTERRUPTED end
  return th.traceback(object) -- a tail call: it counts levels
end

--- Calls a function for Python: returns its results, or the message and the traceback of its error.
function th.protected(f, ...)
  depth = depth + 1
  over = false
  return end_call(xpcall(f, handle_error, ...))
end

--- The same for a Python program.
function th.for_guest(f, ...)
  guest, over = true, false
  depth = depth + 1
  return end_call(xpcall(f, handle_error, ...))
end

local function end_quick_call(ok, value, list)
  local message, frames, object, mark = leave(ok, value)
  if message then return message, frames, object, mark end
  if list then return nil, unpack(list, 1, list.n) end
  return value
end

local function begin_quick_call()
  guest, over = true, false
  depth = depth + 1
end

local QUICK = [[
  local f, begin, finish, handle_error, xpcall = ...
  return function(a, b, c, d, e)
    begin()
    return finish(xpcall(f, handle_error, a, b, c, d, e))
  end
]]

--- A function that calls one of up to five parameters for a Python program, which may call it at
-- once. LuaJIT compiles it by itself: it has a text of its own, and no '...', which could not be
-- returned out of a pcall.
-- @param f returns a value, or nil and a table of the results behind a nil
function th.quick_for_guest(f)
  local call = th.load(QUICK, 'quick call')
  return call(f, begin_quick_call, end_quick_call, handle_error, xpcall)
end

local function end_call_without_results(ok, ...)
  if ok then return end_call(ok) end
  return end_call(ok, ...)
end

--- Runs a chunk for a Python program; returns nothing, or its error's message and traceback.
function th.run_for_guest(f, ...)
  guest, over = true, false
  depth = depth + 1
  return end_call_without_results(xpcall(f, handle_error, ...))
end

--- Ends what a Python program has called, where that is so, by an error that no pcall catches.
-- @param status that of os.exit
function th.leave_guest(status)
  if status == nil or status == true then status = 0 end
  status = status == false and 1 or tonumber(status)
  if not guest or not status then return end
  host.leave(tobit(status))
  interrupt()
  error(host.INTERRUPTED, 0)
end

local function ended(message, ...)
  if message and th.end_all then
    shell.flush()
    th.end_all(1, message, ...)
  end
  return message, ...
end

--- Runs a program's chunk; returns nil, or the message and the traceback of its error. One of
-- several processes of a program (see packages/mpi) ends all of them by an error.
function shell.run(f, ...)
  return ended(protected(loading.prepare(f), ...))
end

local plain_print = print
local most -- the elements above which the prompt shows only a part of a value; 0: shows all

--- Sets above how many elements a value is shown in part (see th.print_elided); nil: values are
-- shown as print does.
function shell.set_elision(limit)
  most = limit
  th.print_for_people(limit ~= nil)
end

--- Shows values as the prompt does, and keeps the first one.
function shell.show(n, ...)
  if n == 0 then return end
  local print = print or plain_print -- the name is that in the error where it is no function
  if most and print == th.print_whole then
    th.print_elided(most, ...)
  else
    print(...)
  end
  shell.keep((...))
end

-- Whether values are what io.write returns, for calls in a chain: people do not want to see it.
local function is_of_write(...)
  return most and select('#', ...) == 1 and io_type((...))
end

--- Runs an input as the prompt does: the values of an expression are printed, and the first one is
-- kept.
-- @param f the input, from shell.prepare_input
-- @param is_expression whether it was compiled as `return nil, ...`
-- @param quiet whether the values are neither printed nor kept; 'writes': where they are a file,
--   and people are shown values
-- @param before_values called before the values are printed, or nil
-- @param handler the input's message handler, by default th.handle_error
function shell.run_input(f, is_expression, quiet, before_values, handler)
  local function finish(...)
    if before_values then before_values() end
    if quiet == true or quiet == 'writes' and is_of_write(...) then return end
    if receive and receive(...) == false then return end
    shell.show(select('#', ...), ...)
  end
  local function evaluated(ok, ...)
    if not ok then return outcome(ok, ...) end
    -- A pcall has caught the interrupt, or a function that Ctrl-C has ended has returned.
    if pressed[0] ~= 0 then return outcome(false, host.INTERRUPTED) end
    if is_expression then return protected(finish, select(2, ...)) end
    return protected(finish, ...) -- the manual has inputs such as 'return x', which print x
  end
  over = false
  -- xpcall calls the chunk itself: it then is 'main chunk' in tracebacks.
  return evaluated(xpcall(f, handler or th.handle_error))
end

--- Prepares an input and runs it.
-- @param expression the input compiled as `return nil, ...`, or nil
-- @param statement the input compiled as it is, where it is no expression
-- @param ... quiet and before_values, for shell.run_input
function shell.evaluate(expression, statement, ...)
  local f = shell.prepare_input(expression or statement)
  return shell.run_input(f, expression ~= nil, ...)
end

--- Loads what Python otherwise loads when a program needs it first.
function shell.load()
  local _ = host.entry -- any of the functions that come with numpy
end

--- Sets the byte that new memory of tensors and storages is filled with; nil: it is undetermined.
shell.set_fill_pattern = th.blocks.set_fill_pattern

--- Makes room for what follows where memory has run out.
function shell.make_room() th.make_room(true) end

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
  th.release_reserve()
  th.small.close()
  th.leave_python()
end

--- Calls a function of values.lua, which programs in Python need.
function shell.values(name, ...)
  values = values or th.chunk('values')(th)
  return values[name](...)
end

-- The Lua functions that operations in Python call, by name.
local called = { collect = th.collect, leave_block = th.leave_block, run = th.thread_pool.run,
  parameters = th.thread_pool.parameters, values = shell.values }
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

local default_type, set_default_type = th.torch.getdefaulttensortype, th.torch.setdefaulttensortype

--- Sets the default type of tensors; returns the name of the former one.
function shell.set_default_type(name)
  local before = default_type()
  if name ~= before then set_default_type(name) end
  return before
end

--- Loads a library as `th -l` does.
function shell.require(name)
  return protected(require, name)
end

--- Sets a function that gets values before they are printed; false from it keeps them from that.
function shell.set_receiver(f)
  receive = f
end

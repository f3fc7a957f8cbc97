--- Ctrl-C: what stops the program, and what keeps it from being stopped.
-- @module interrupts

local ffi, host, errors, finalizers = import('ffi', 'host', 'core.errors', 'core.finalizers')
local thread_pool, counted_loops = import('parallel.thread_pool', 'stopping.counted_loops')

local sethook, getinfo, pcall, error = finalizers.sethook, debug.getinfo, pcall, error
local pressed = ffi.cast('int32_t *', host.pressed) -- whether Ctrl-C was: see counted_loops.lua

-- Instructions between two checks for Ctrl-C: few where they take long.
local MIN_HOOK_COUNT, MAX_HOOK_COUNT = 10, 10000
local pace = counted_loops.new_pace(MIN_HOOK_COUNT, MAX_HOOK_COUNT)
local hook_count -- the present number; nil without the hook

local ATTENTION = 2 -- what is pressed where the debugger wants to be asked; by Ctrl-C, 1

-- Python handles signals when it is called, which takes its lock: so this is done now and then.
local LOOK = 0.05 -- seconds
local looked = 0
local long_at -- when the debugger wants to be asked; nil: not

local interrupts = {
  stopped = false,   -- whether Ctrl-C has stopped the current input
  over = false,      -- whether no input runs: what a prompt itself does is short
  own_hook = false,  -- whether the program has a hook of its own
  line_hook = false, -- the debugger's hook for lines
}

local set_own_hook, attend, end_steps, pause -- see below

--- Makes the next instruction of the program raise the interrupt again, if a pcall has caught it:
-- it is there until the prompt has it.
function interrupts.interrupt()
  interrupts.stopped = true
  counted_loops.hurry()
  if not interrupts.own_hook then interrupts.set_hook(1) end
end

-- Tells whether the program must stop: also where Python handles a signal by an exception.
local function must_stop()
  local now = counted_loops.now()
  if pressed[0] == 0 and now - looked < LOOK then return false end
  looked = now
  local ok, result = pcall(host.poll)
  if ok then return result end
  host.stop_by(result)
  return true
end

--- Sets the function that sets the program's own hook, beside which the debugger's is called.
function interrupts.set_own_hook_by(f) set_own_hook = f end

--- Sets the function that asks the debugger while the program runs.
function interrupts.attend_by(f) attend = f end

--- Sets the function that ends the debugger's steps with an input.
function interrupts.end_steps_by(f) end_steps = f end

--- Sets the function by which Ctrl-C stops a program in the debugger; it returns whether it has.
function interrupts.pause_by(f) pause = f end

--- Has the debugger asked once, after so many seconds; nil: not.
function interrupts.long_after(seconds)
  long_at = seconds and counted_loops.now() + seconds
end

--- Raises an error if Ctrl-C was pressed. Long loops of the runtime call it.
function interrupts.poll()
  if pressed[0] == ATTENTION then
    pressed[0] = 0
    return attend('attention')
  elseif long_at and counted_loops.now() > long_at then
    long_at = nil
    return attend('long')
  end
  if interrupts.over or thread_pool.is_sharing() or not must_stop() then return end
  if pause and pause() then return end
  interrupts.interrupt()
  error(host.INTERRUPTED, 0)
end

-- The modules of th whose functions end soon, and so does the work that they have begun.
local ENDS_SOON = { ['=[th] engine/shell.lua'] = true, ['=[th] engine/calls.lua'] = true,
  ['=[th] stopping/interrupts.lua'] = true }

--- Called every so many instructions, and at each one when Ctrl-C was pressed.
function interrupts.hook()
  local source = getinfo(2, 'S').source
  if not interrupts.stopped then
    interrupts.set_hook(pace())
    if ENDS_SOON[source] then return end
  elseif errors.is_ours(source) then
    -- The runtime's own functions may run to their ends after the first error: they may be about
    -- to write its traceback.
    return
  end
  interrupts.poll()
end

--- Lets the hook run after so many instructions, and then again and again.
function interrupts.set_hook(count)
  if count == hook_count then return end
  hook_count = count
  sethook(interrupts.line_hook or interrupts.hook, interrupts.line_hook and 'l' or '', count)
end

--- Makes the interrupt the prompt's: it is not raised any more.
function interrupts.finish()
  interrupts.over = true
  if interrupts.stopped and not interrupts.own_hook then interrupts.set_hook(pace(true)) end
  pressed[0], long_at = 0, nil
  if end_steps then end_steps() end
end

--- Forgets an interrupt that the debugger has seen; the program goes on.
function interrupts.drop()
  if pressed[0] ~= 1 then return end
  interrupts.finish()
  interrupts.stopped, interrupts.over = false, false
end

errors.note_interrupts_by(interrupts.interrupt)

local active = false -- whether Ctrl-C stops what runs

--- Puts the hook back that the program has replaced by its own.
function interrupts.begin_hook()
  hook_count = nil
  if active then
    interrupts.set_hook(pace(true))
  elseif interrupts.line_hook then
    sethook(interrupts.line_hook, 'l')
  else
    sethook()
  end
end

--- Calls a function at each line, besides the hook of the program or the one for Ctrl-C; nil: none.
function interrupts.watch_lines(f)
  interrupts.line_hook = f
  if interrupts.own_hook then set_own_hook() else interrupts.begin_hook() end
end

--- Lets Ctrl-C stop the program where only a command that it waits for has got the signal.
function interrupts.command_was_interrupted()
  if active then pressed[0] = 1 end
end

--- Sets whether Ctrl-C stops what runs.
function interrupts.set_interruptible(on)
  interrupts.stopped, interrupts.over = false, true
  pressed[0] = 0
  active = on
  counted_loops.restart()
  if not interrupts.own_hook then interrupts.begin_hook() end
end

counted_loops.look_by(interrupts.poll)

return interrupts

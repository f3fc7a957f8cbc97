--- The debugger's half in Lua, loaded when it is first needed.
-- It stops the program at lines: at breakpoints, after steps, where a watched value has changed.
-- Files in which a program may stop are compiled with calls at their lines (line_calls.lua). Where
-- it may stop in others, there is a hook, and LuaJIT interprets all code: its compiled code calls
-- no hooks. The hook is one for all coroutines; how deep calls are is counted in each for itself.
-- At each stop, the debugger in Python is asked again and again for what is to be done, until it
-- lets the program go on.
-- @module stepper

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')
local answers, frames = import('debugging.answers', 'debugging.frames')
local breakpoints = import 'debugging.breakpoints'
local session_locals, who = import('engine.session_locals', 'engine.who')
local interrupts, line_calls = import('stopping.interrupts', 'debugging.line_calls')

local getinfo, running, status = errors.getinfo, coroutine.running, coroutine.status
local sub = string.sub
local is_ours = errors.is_ours
local is_of, is_plain, at_lines = breakpoints.is_of, breakpoints.is_plain, breakpoints.at_lines
local stdout = io.stdout
local flush = getmetatable(stdout).__index.flush

local ENDED = errors.ENDED

-- The reasons for which the debugger is asked while the program goes on.
local WHILE_RUNNING = { attention = true, found = true, long = true }
local LONG = { step = 1, next = 1, finish = 1 } -- seconds after which what runs is told

local stepper = {}

local watches = {}
local mode -- 'step', 'next', 'finish', 'entry', 'pause', 'quit'; nil: the program goes on
local step_thread, step_depth -- where a step has begun: the coroutine, and its levels from there on
local place -- where the hook has stopped the program last, while it has not left this line
local entry -- the file at whose first line the program stops
local is_step_in_calls = false -- whether a step ends in a file with calls at its lines
local is_debugged = false -- whether the program that runs has stopped before
local serving = false -- whether the debugger works: what it evaluates does not stop
local watching, was_compiling = false, false -- whether there is the hook
local is_called, was_called = false, false -- whether a line calls now, and did at the last stop

-- ------------------------------------------------------------------ deciding

-- The innermost frame of the program.
local function frame_here()
  return frames.take(true, 1)[1]
end

-- The text of a change, of the first watched value that has changed.
local function changed_value(f)
  for _, watch in ipairs(watches) do
    if not watch.func or watch.func == f then
      local ok, value = frames.evaluate(frame_here(), watch.code)
      if ok and not rawequal(value, watch.value) then
        local change = who.in_short(watch.value) .. ' -> ' .. who.in_short(value)
        watch.value = value
        return watch.text .. ': ' .. change
      end
    end
  end
end

-- Tells whether a step ends here. level: that of the line's function for the caller.
local function is_step_over(level, source)
  if mode == 'step' or mode == 'pause' then return true end
  if mode == 'entry' then return is_of(source, entry) end
  if running() ~= step_thread then -- if that does not run at all, it cannot end the step
    return step_thread and status(step_thread) ~= 'normal'
  end
  local most = mode == 'next' and step_depth or step_depth - 1
  return getinfo(level + 1 + most, 'f') == nil
end

-- Tells whether the program is where it has stopped last: LuaJIT calls the hook again where a call
-- in the line has returned. level: that of the line's function for the caller.
local function is_same_place(level, f, line)
  if running() ~= place.thread or getinfo(level + 1 + place.depth, 'f') then return false end
  local same = f == place.func and line == place.line and getinfo(level + place.depth, 'f')
  if not same then place = nil end
  return same
end

local function place_text(frame)
  return frame and sub(frame.source, 2) .. ':' .. frame.line or '?'
end

-- The place of the innermost frame.
local function place_of(here)
  return { thread = running(), depth = here.below + 1, func = here.func, line = here.line }
end

local stop

-- The hook. beside: the levels between it and the line's function, besides its own.
local function at_line(event, line, beside)
  if event ~= 'line' then return interrupts.hook() end -- a tail call: it looks at levels
  if serving or not mode and not at_lines[line] and #watches == 0 and not place then return end
  local level = 2 + (beside or 0)
  local info = getinfo(level, 'Sf')
  local source = info.source
  if is_ours(source) or line < 1 then return end
  if mode == 'quit' then error(ENDED, 0) end
  local called = is_called
  is_called = false
  if not called and line_calls.has_calls(source) then return end
  if place and is_same_place(level, info.func, line) then return end
  local change = #watches > 0 and changed_value(info.func)
  if change then return stop('watch', change, called) end
  local breakpoint, message = breakpoints.met(line, source)
  if mode and is_step_over(level, source) then return stop(mode, message, called) end
  if breakpoint then
    return stop(breakpoint.name and 'function breakpoint' or 'breakpoint', message, called)
  end
  place = breakpoint == false and not called and place_of(frame_here()) or place
end

-- What lines with calls call: see line_calls.lua.
local function called_at_line(line)
  if serving or not (mode or at_lines[line] or watches[1] or place) then return end
  is_called = true
  return at_line('line', line) -- a tail call: it looks at levels
end

-- Tells whether the program may stop in code without calls at its lines.
local function needs_hook()
  if #watches > 0 or mode == 'entry' and is_plain(entry) then return true end
  if mode and mode ~= 'entry' and not is_step_in_calls then return true end
  return breakpoints.any(is_plain)
end

-- Has lines looked at, or no longer.
local function update()
  local wanted = needs_hook()
  if wanted == watching then return end
  watching = wanted
  if wanted then
    was_compiling = jit.status()
    jit.off()
    jit.flush()
  elseif was_compiling then
    jit.on()
  end
  interrupts.watch_lines(wanted and at_line or nil)
end

-- ------------------------------------------------------------------ stopping

-- Tells whether `next` or `finish` ends in a file with calls at its lines: in that of a frame, or
-- of its caller. Where a main chunk ends, so does the step.
local function steps_in_calls(frame, caller)
  local is_main = frame.name == 'main chunk'
  local has_caller = is_main or caller and line_calls.has_calls(caller.source)
  return has_caller and line_calls.has_calls(frame.source)
end

-- Lets the program go on: 'on' as it did before. Returns whether it is to stop where it is: a loop
-- on one line may never come to another one.
local function go(how, number)
  if how == 'on' then return false end
  local list = frames.take(true)
  local frame, here = list[tonumber(number)], list[1]
  if how == 'pause' and here then return true end
  mode = how ~= 'continue' and how or nil
  if frame then
    step_thread, step_depth = running(), frame.below + 1
    is_step_in_calls = (mode == 'next' or mode == 'finish')
      and steps_in_calls(frame, list[tonumber(number) + 1])
  end
  update()
  interrupts.long_after(LONG[mode])
  place = here and not was_called and place_of(here) or nil
  if mode == 'quit' then error(ENDED, 0) end
end

local function ask(...)
  flush(stdout)
  return answers.read(python_calls.ask(host.debugger, ...))
end

-- Answers the debugger's requests, until one of them lets the program go on.
local function serve(...)
  local function answered(verb, ...)
    if verb == 'go' then return true, ... end
    local list = verb ~= 'write' and frames.take(true)
    local answer = answers.give(list, verb, ...)
    interrupts.drop()
    return false, unpack(answer)
  end
  local function go_on(is_over, ...)
    if is_over then return go(...) end
    return go_on(answered(ask(false, ...)))
  end
  return go_on(answered(ask(true, ...)))
end

--- Stops the program here.
-- @param reason why: 'breakpoint', 'step', 'next', 'finish', 'entry', 'watch', 'call', 'error',
--   'function breakpoint', 'attention', 'long' where a step takes long, 'found' where a function
--   with a breakpoint is loaded
-- @param detail more about it, or nil; of 'long' it is what runs
-- @param called whether a line with a call has stopped it
function stop(reason, detail, called)
  if serving then return end
  if reason == 'long' then detail = place_text(frame_here()) end
  serving, is_debugged, was_called = true, is_debugged or not WHILE_RUNNING[reason], called
  local ok, result = pcall(serve, reason, detail)
  serving = false
  answers.forget()
  if not ok then error(result, 0) end
  if result then return stop('pause') end
end
stepper.stop = stop

-- Ends steps that are pending, and watches nothing: where the program has ended. It has not where
-- only what the debugger evaluates was interrupted.
interrupts.end_steps_by(function()
  if serving then return end
  mode, place, watches, is_debugged = nil, nil, {}, false
  update()
end)

-- Of a program that has stopped before, Ctrl-C is a stop, too.
interrupts.pause_by(function()
  if serving or not is_debugged then return false end
  interrupts.drop()
  stop('pause')
  return true
end)

-- ------------------------------------------------------------------ errors, and the prompt

local last = {} -- the frames of the last error that was noted

--- Keeps the frames of an error: to be called where it is handled.
function stepper.keep_frames()
  answers.forget()
  last = frames.take(false)
end

--- Lets go of them.
function stepper.forget_frames()
  answers.forget()
  last = {}
end

--- Answers a request about them, or about breakpoints.
function stepper.answer(request)
  return answers.give(errors.was_noted() and last or {}, answers.read(request))
end

--- Opens the prompt where the program calls this: its inputs use the variables there.
function stepper.open_prompt()
  local frame = frame_here()
  local give_back = session_locals.lend_locals(frame, function(variable, value)
    frames.assign(frame, variable, value)
  end)
  errors.finally(give_back, python_calls.ask, host.prompt, place_text(frame))
end

line_calls.serve(function(name, source)
  return breakpoints.wants(name, source, function(number) stop('found', number) end)
    or mode == 'entry' and is_of(name, entry)
end, called_at_line)

answers.add{
  --- Sets all breakpoints: see breakpoints.lua.
  breakpoints = function(_, ...)
    local answer = breakpoints.set(...)
    update()
    return answer
  end,

  --- Stops the program where the value of code in a frame changes: true and the value's text, or
  -- false and the message.
  watch = function(list, number, text)
    local code, message = frames.compile(text)
    if not code then return { false, message } end
    local frame, used = list[tonumber(number)], {}
    local ok, value = frames.evaluate(frame, code, used)
    if not ok then return { false, errors.error_text(value) } end
    watches[#watches + 1] = { text = text, code = code, value = value,
      func = used.any and frame.func or nil }
    update()
    return { true, who.in_short(value) }
  end,

  --- Has the debugger asked about errors that nothing has caught, while they are there; '': not.
  errors = function(_, which)
    errors.note_errors_by(which ~= ''
      and function(object) stop('error', errors.error_text(object)) end or nil)
    return {}
  end,

  --- Watches nothing any more.
  unwatch = function()
    watches = {}
    update()
    return {}
  end,

  --- Lets the program stop at the first line of a file.
  enter = function(_, path)
    mode, entry = 'entry', path
    update()
    return {}
  end,
}

return stepper

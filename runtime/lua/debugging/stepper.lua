--- The debugger's half in Lua, loaded when it is first needed.
-- It stops the program at lines: at breakpoints, after steps, where a watched value has changed.
-- Files in which a program may stop are compiled with calls at their lines (line_calls.lua). Where
-- it may stop in others, there is a hook, and LuaJIT interprets all code: its compiled code calls
-- no hooks. The hook is one for all coroutines; how deep calls are is counted in each for itself.
-- At each stop,
-- the debugger in Python is asked again and again for what is to be done, until it lets the program
-- go on.
-- @module stepper

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')
local answers, frames = import('debugging.answers', 'debugging.frames')
local session_locals, who = import('engine.session_locals', 'engine.who')
local interrupts, line_calls = import('stopping.interrupts', 'debugging.line_calls')

local getinfo, running, status = errors.getinfo, coroutine.running, coroutine.status
local byte, sub, match = string.byte, string.sub, string.match
local funcinfo, funck = require('jit.util').funcinfo, require('jit.util').funck
local is_ours = errors.is_ours
local stdout = io.stdout
local flush = getmetatable(stdout).__index.flush

local ENDED = errors.ENDED
local FARTHEST = 100 -- lines behind one without code, in which the next one with code is looked for

local stepper = {}

local breakpoints = {} -- line -> those at it
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

-- ------------------------------------------------------------------ places

local names = {} -- the source of a chunk -> the name by which breakpoints find it

local function name_of(source)
  local name = names[source]
  if name == nil then
    name = byte(source) == 64 and paths.concat(sub(source, 2)) -- an '@'
      or byte(source) == 61 and sub(source, 2) or ''
    names[source] = name
  end
  return name
end

-- Tells whether a chunk's name is the file that somebody has named, perhaps without its folders.
local function is_named(name, wanted)
  return name == wanted or byte(wanted) ~= 47 and sub(name, -#wanted - 1) == '/' .. wanted
end

-- Adds the lines of a function, and of those in it, that have code.
local function add_lines(lines, f)
  local info = funcinfo(f)
  for i = 1, info.bytecodes - 1 do lines[funcinfo(f, i).currentline] = true end
  local n = -1
  local constant = info.children and funck(f, n)
  while constant do
    if type(constant) == 'proto' then add_lines(lines, constant) end
    n = n - 1
    constant = funck(f, n)
  end
end

-- Tells whether a file that somebody has named was compiled without calls at its lines; inputs are.
local function is_plain(wanted)
  if byte(wanted) == 91 then return true end -- a '['
  for name in pairs(line_calls.plain_files()) do
    if is_named(name_of(name), wanted) then return true end
  end
  return false
end

-- The lines of a file at which a program may stop, as keys of a table; nil where there is no such
-- file.
local function lines_of(path)
  local file = io.open(path, 'rb')
  local source = file and string.gsub(file:read('*a') or '', '^#[^\n]*', '')
  if file then file:close() end
  local f = source and loadstring(source, path)
  if not f then return nil end
  if not is_plain(path) then return line_calls.lines(source) end
  local lines = {}
  add_lines(lines, f)
  return lines
end

-- The first line with code from one on, in a file; 0 where there is no such file.
local function line_with_code(path, line)
  local lines = lines_of(path)
  if not lines then return 0 end
  for i = 0, FARTHEST do -- a line may be too large a number to be counted on from
    if lines[line + i] then return line + i end
  end
  return 0
end

-- ------------------------------------------------------------------ deciding

-- The innermost frame of the program.
local function frame_here()
  return frames.take(true, 1)[1]
end

-- Tells whether a breakpoint's condition holds. One that fails stops the program, too, and the
-- message is returned besides.
local function holds(breakpoint)
  if not breakpoint.condition then return true end
  local ok, value = frames.evaluate(frame_here(), breakpoint.condition)
  if ok then return value end
  return true, 'the condition fails: ' .. errors.error_text(value)
end

local function broken_at(line, source)
  for _, breakpoint in ipairs(breakpoints[line] or {}) do
    if is_named(name_of(source), breakpoint.path) then
      local is_met, message = holds(breakpoint)
      if is_met then return true, message end
    end
  end
  return false
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
  if mode == 'entry' then return is_named(name_of(source), entry) end
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

local stop

-- The hook. beside: the levels between it and the line's function, besides its own.
local function at_line(event, line, beside)
  if event ~= 'line' then return interrupts.hook() end -- a tail call: it looks at levels
  if serving or not mode and not breakpoints[line] and #watches == 0 and not place then return end
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
  if mode and is_step_over(level, source) then return stop(mode, nil, called) end
  local is_met, message = broken_at(line, source)
  if is_met then return stop('breakpoint', message, called) end
end

-- What lines with calls call: see line_calls.lua.
local function called_at_line(line)
  if serving or not (mode or breakpoints[line] or watches[1] or place) then return end
  is_called = true
  return at_line('line', line) -- a tail call: it looks at levels
end

-- Tells whether the program may stop in code without calls at its lines.
local function needs_hook()
  if #watches > 0 or mode == 'entry' and is_plain(entry) then return true end
  if mode and mode ~= 'entry' and not is_step_in_calls then return true end
  for _, here in pairs(breakpoints) do
    for _, breakpoint in ipairs(here) do
      if is_plain(breakpoint.path) then return true end
    end
  end
  return false
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

-- Lets the program go on: 'on' as it did before.
local function go(how, number)
  if how == 'on' then return end
  mode = how ~= 'continue' and how or nil
  local list = frames.take(true)
  local frame, here = list[tonumber(number)], list[1]
  if frame then
    step_thread, step_depth = running(), frame.below + 1
    is_step_in_calls = (mode == 'next' or mode == 'finish')
      and steps_in_calls(frame, list[tonumber(number) + 1])
  end
  update()
  place = here and not was_called
    and { thread = running(), depth = here.below + 1, func = here.func, line = here.line } or nil
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
--   'attention'
-- @param detail more about it, or nil
-- @param called whether a line with a call has stopped it
function stop(reason, detail, called)
  if serving then return end
  serving, is_debugged, was_called = true, reason ~= 'attention', called
  local ok, message = pcall(serve, reason, detail)
  serving = false
  answers.forget()
  if not ok then error(message, 0) end
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
  local where = sub(frame.source, 2) .. ':' .. frame.line
  errors.finally(give_back, python_calls.ask, host.prompt, where)
end

line_calls.serve(function(name)
  if mode == 'entry' and is_named(name_of(name), entry) then return true end
  for _, here in pairs(breakpoints) do
    for _, breakpoint in ipairs(here) do
      if is_named(name_of(name), breakpoint.path) then return true end
    end
  end
  return false
end, called_at_line)

answers.add{
  --- Sets all breakpoints, each by file, line and condition ('': none); the answer is a list of
  -- their lines, which have code, or 0 where that is not known, or the message of a condition that
  -- does not compile.
  breakpoints = function(_, ...)
    local answer = {}
    breakpoints = {}
    for i = 1, select('#', ...) - 2, 3 do
      local path, line, text = select(i, ...)
      local condition, message
      if match(text, '%S') then condition, message = frames.compile(text) end
      local actual = message and 0 or line_with_code(path, tonumber(line))
      answer[#answer + 1] = message or actual
      line = actual > 0 and actual or tonumber(line)
      local here = breakpoints[line] or {}
      here[#here + 1] = { path = path, condition = condition }
      if not message then breakpoints[line] = here end
    end
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

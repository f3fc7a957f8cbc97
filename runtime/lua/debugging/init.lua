--- The debugger's half in Lua, loaded when it is first needed.
-- @module debugging

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')
local answers, frames = import('debugging.answers', 'debugging.frames')
local stepper, session_locals = import('debugging.stepper', 'engine.session_locals')
local interrupts = import 'stopping.interrupts'

local sub = string.sub

local debugging = { stop = stepper.stop }

local last = {} -- the frames of the last error that was noted

interrupts.end_steps_by(stepper.finish)

--- Keeps the frames of an error: to be called where it is handled.
function debugging.keep_frames()
  answers.forget()
  last = frames.take(false)
end

--- Lets go of them.
function debugging.forget_frames()
  answers.forget()
  last = {}
end

--- Answers a request about them, or about breakpoints.
function debugging.answer(request)
  return answers.give(errors.was_noted() and last or {}, answers.read(request))
end

--- Opens the prompt where the program calls this: its inputs use the variables there.
function debugging.open_prompt()
  local frame = frames.take(true, 1)[1]
  local give_back = session_locals.lend_locals(frame, function(variable, value)
    frames.assign(frame, variable, value)
  end)
  local place = sub(frame.source, 2) .. ':' .. frame.line
  errors.finally(give_back, python_calls.ask, host.prompt, place)
end

return debugging

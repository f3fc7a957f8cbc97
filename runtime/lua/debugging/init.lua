--- The debugger's half in Lua, loaded when it is first needed.
-- @module debugging

local th = ...

local sub = string.sub

local frames = th.chunk('debugging/frames')(th)
local answers = th.chunk('debugging/answers')(th, frames)
local stepper = th.chunk('debugging/stepper')(th, frames, answers)

local debugging = { stop = stepper.stop }

local last = {} -- the frames of the last error that was noted

th.end_steps = stepper.finish

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
  return answers.give(th.has_frames and last or {}, answers.read(request))
end

--- Opens the prompt where the program calls this: its inputs use the variables there.
function debugging.open_prompt()
  local frame = frames.take(true, 1)[1]
  local give_back = th.lend_locals(frame, function(variable, value)
    frames.assign(frame, variable, value)
  end)
  local place = sub(frame.source, 2) .. ':' .. frame.line
  th.finally(give_back, th.ask, th.host.prompt, place)
end

return debugging

--- The package fb.debugger: `require('fb.debugger').enter()` stops the program, and asks at the
-- terminal what is to be done. It stands for mobdebug, too, whose functions are these.
-- @module debugger

local front_end = import 'core.front_end'

local function nothing() end

local debugger = {
  enter = front_end.enter_debugger,
  -- mobdebug's: what connects to its server, or says when the program stops, stops it here.
  start = front_end.enter_debugger, pause = front_end.enter_debugger, on = nothing, off = nothing,
  coro = nothing, done = nothing,
}

return setmetatable(debugger, { __call = function() front_end.enter_debugger() end })

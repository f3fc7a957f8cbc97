--- Functions of the prompt and the debugger that packages call: engine/front_ends.lua sets them.
-- @module front_end

return {
  enter_debugger = false, -- stops the program where it calls this, and asks what is to be done
  open_prompt = false,    -- opens the prompt in a script
  show_picture = false,   -- shows a picture; false where packages write files
}

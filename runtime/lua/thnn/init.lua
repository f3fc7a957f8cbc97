--- Loads nn's backend when a program asks for the module nn.THNN.
-- @module thnn

local th = ...

local THNN

--- The module nn.THNN.
function th.load_thnn()
  if not THNN then
    for _, name in ipairs(th.nn_jobs) do th.chunk(name)(th) end
    th.chunk('thnn/repeats')(th)
    THNN = th.chunk('thnn/door')(th)
  end
  return THNN
end

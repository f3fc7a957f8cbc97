--- What the values of a cell's inputs become, and the end of the kernel by os.exit.
-- @module cells

-- collect() lets what is printed from now on be a result, and no output. leave() ends the kernel
-- when the front end has got what the cell has printed.
local collect, leave = ...

local error, select = error, select

-- luacheck: globals os
local wanted = '' -- what becomes of values: 'result', 'nothing', or '' to print them

function os.exit()
  leave()
  error('the kernel ends', 0)
end

return {
  --- Says what becomes of the values of inputs from now on.
  expect = function(what) wanted = what end,

  --- Takes the values of an input; returns whether they are printed.
  receive = function(...)
    if wanted == 'result' and select('#', ...) > 0 then collect() end
    return wanted ~= 'nothing'
  end,
}

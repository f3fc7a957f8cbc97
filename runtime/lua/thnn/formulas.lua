--- Functions of nn's backend that are formulas, for few contiguous elements: Python writes them
-- (runtime/thnn/_formula_code.py). They return nil for calls that they do not handle.
-- @module thnn_formulas

local th = ...
local host, formulas = th.host, th.formulas

--- The function for a row and an element type; nil where the row has no formula.
function th.thnn_formula(row, dtype)
  local source = row.has_formula and th.ask(host.thnn_source, row.name, dtype.index)
  if not source then return nil end
  return formulas.load('local fit, share = select(9, ...)\n' .. source,
    'thnn/' .. row.name .. '.lua', dtype, th.thnn_fit, th.thnn_share)
end

--- Functions of nn's backend that LuaJIT computes element by element for few contiguous elements.
-- A row's formula (runtime/thnn/table.py) names the parameters: "output = input > 0 and 1 or 0".
-- Here it becomes a Lua function, once for each element type, which returns nil for calls that it
-- does not handle: other layouts, other sizes of the result, tensors that overlap.
-- @module thnn_formulas

local th = ...
local formulas = th.formulas

local MAX_ELEMENTS = 8192  -- up to which a loop of Lua is quicker than a call of Python
local MAX_CALLS = 512      -- the same for formulas that call a function

-- The locals of the functions that are written here.
local HEAD = [[
local load, dense, same_sizes, math = ...
local exp, log, sqrt, abs, tanh = math.exp, math.log, math.sqrt, math.abs, math.tanh
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
]]

local WORDS = {}
for word in ('and or not if exp log sqrt abs tanh floor ceil max min'):gmatch('%w+') do
  WORDS[word] = true
end

-- The tensors of a formula: a list of their positions, the result's first; and the formula with the
-- elements x1, x2 … and numbers a3, a4 … for the names.
local function translate(row)
  local result, text = row.each:match('^(%w+) = (.*)$')
  local places, found = {}, {}
  for i, name in ipairs(row.names) do places[name] = i end
  local tensors = { places[result] }
  text = text:gsub('[%a_][%w_]*', function(name)
    if WORDS[name] then return nil end
    local at = places[name] or error(row.name .. ': no parameter ' .. name)
    if row.kinds[at] ~= 'T' then return 'a' .. at end
    if not found[at] and at ~= tensors[1] then tensors[#tensors + 1] = at end
    found[at] = true
    return 'x' .. at
  end)
  return tensors, text, found
end

--- The source of the function for a row with a formula.
function th.thnn_source(row)
  local tensors, text, found = translate(row)
  local limit = text:find('%a%(') and MAX_CALLS or MAX_ELEMENTS
  local result, first = tensors[1], tensors[2]
  local lines, arguments = {}, {}
  for i = 1, #row.names do arguments[i] = 'a' .. i end
  local function add(line, ...) lines[#lines + 1] = line:format(...) end
  add('return function(%s)', table.concat(arguments, ', '))
  add('local n = dense(a%d)', first)
  add('if n == 0 or n > %d then return nil end', limit)
  for _, k in ipairs(tensors) do
    if k ~= first then
      add('if not same_sizes(a%d, a%d) or dense(a%d) ~= n then return nil end', k, first, k)
    end
  end
  for _, k in ipairs(tensors) do add('local p%d = a%d.storage.data + a%d.storageOffset', k, k, k) end
  for _, k in ipairs(tensors) do
    if k ~= result then
      add('if p%d ~= p%d and p%d < p%d + n and p%d < p%d + n then return nil end',
        k, result, k, result, result, k)
    end
  end
  for i, name in ipairs(row.names) do
    if name == 'inplace' then
      -- The result becomes the tensor that it is computed from: here it is that already.
      local from = row.kinds[2] == 'T' and row.names[2]:find('^grad') and 2 or 1
      add('if a%d and p%d ~= a%d.storage.data + a%d.storageOffset then return nil end',
        i, result, from, from)
    end
  end
  add('for i = 0, n - 1 do')
  for k in pairs(found) do add('local x%d = load(p%d, i)', k, k) end
  add('p%d[i] = %s end return true end', result, text)
  return table.concat(lines, '\n')
end

--- The function for a row and an element type; nil where the row has no formula.
function th.thnn_formula(row, dtype)
  if not row.each then return nil end
  local chunk = th.load(HEAD .. th.thnn_source(row), 'thnn/' .. row.name .. '.lua')
  return chunk(dtype.load, formulas.dense, formulas.same_sizes, math)
end

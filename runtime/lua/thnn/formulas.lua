--- Functions of nn's backend that LuaJIT computes by a formula for few contiguous elements, some of
-- them for more doubles, too, unless threads share these.
-- A row's formula (runtime/thnn/table.py) names the parameters: "output = input > 0 and 1 or 0"
-- gives a result element by element, "TOTAL = abs(input - target)" the terms of a loss. Here it
-- becomes a Lua function, once for each element type, which returns nil for calls that it does not
-- handle: other layouts, other sizes of the result, tensors that overlap.
-- @module thnn_formulas

local th = ...
local ffi = require 'ffi'
local host, formulas = th.host, th.formulas

local MAX_ELEMENTS = 8192  -- up to which a loop of Lua is quicker than a call of Python
local MAX_JUMPS = 1024     -- the same for formulas with jumps that the processor cannot foresee
local MAX_CALLS = 2048     -- the same for formulas that call a function of C
local MAX_MANY = 4194304   -- elements of doubles that a loop computes in little time
th.MAX_OF_FORMULAS = MAX_ELEMENTS

-- The locals of the functions that are written here.
local HEAD = [[
local dtype, load, dense, same_sizes, fit, share, math, log1p, real, pair, many = ...
local exp, log, sqrt, abs, tanh = math.exp, math.log, math.sqrt, math.abs, math.tanh
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local HUGE = 2 ^ 1000
]]

local WORDS = {}
for word in ('and or not if exp log log1p sqrt abs floor ceil max min real'):gmatch('%w+') do
  WORDS[word] = true
end

--- log(1 + x), also where 1 + x is 1, or nearly.
function th.log1p(x)
  local y = 1 + x
  if y == 1 or y - 1 == y then return y == 1 and x or y end
  return math.log(y) * (x / (y - 1))
end

-- A number in the precision of elements of an element type.
local function precision_of(dtype)
  if dtype.name ~= 'Float' then return function(x) return x end end
  local memory = ffi.new('float[1]')
  return function(x)
    memory[0] = x
    return memory[0]
  end
end

-- What a formula has: `result`, the position of the result's tensor; `tensors`, the positions of
-- all, the result's last; `text` and `condition`, with the elements x1, x2 … and arguments a3, a4 …
-- for the names; `numbers`, the positions of numbers; `total`, whether it is for a loss.
local function translate(row)
  local places = {}
  for i, name in ipairs(row.names) do places[name] = i end
  local name_of_result, text = row.each:match('^(%w+) = (.*)$')
  local total = name_of_result == 'TOTAL'
  local result = places[total and 'output' or name_of_result]
  local tensors, numbers, found = {}, {}, {}
  local element = 'x'
  local function replace(name)
    if WORDS[name] or name:find('^[%d.]') then return nil end
    if name == 'NORM' then return 'norm' end
    local tensor = name:match('^(%w+)%.nDimension$')
    if tensor then return ('a%d.nDimension'):format(places[tensor]) end
    local at = places[name] or error(row.name .. ': no parameter ' .. name)
    if row.kinds[at] == 'T' then
      if element == 'x' and not found[at] then
        found[at] = true
        if at ~= result then tensors[#tensors + 1] = at end
      end
      return element .. at
    end
    if row.kinds[at] == 'r' and not found[at] then
      found[at] = true
      numbers[#numbers + 1] = at
    end
    return 'a' .. at
  end
  local condition
  text, condition = text:match('^(.*) if (.*)$')
  if not text then text = row.each:match('= (.*)$') end
  text = text:gsub('[%w_.]+', replace)
  element = 'a'
  condition = condition and condition:gsub('[%w_.]+', replace)
  return { result = result, text = text, condition = condition, tensors = tensors,
    numbers = numbers, found = found, total = total, average = places.sizeAverage }
end

-- The parts of a formula "a > b and x or y", also with "(a > b or inplace and ...)": a - b and the
-- values where it is positive and elsewhere. nil for other formulas.
local function parts_of(text)
  local comparison, values = '(.-) ([<>]=?) (.-)', ' and (.-) or (.*)$'
  local a, sign, b, x, y = text:match('^%(' .. comparison .. ' or a%d+ and [^()]*%)' .. values)
  if not a then a, sign, b, x, y = text:match('^' .. comparison .. values) end
  local all = a and a .. b .. x .. y
  if not a or all:find('[<>~=]') or all:find(' and ') then return nil end
  if sign == '>' then return ('(%s) - (%s)'):format(a, b), x, y end
  if sign == '<' then return ('(%s) - (%s)'):format(b, a), x, y end
  if sign == '<=' then return ('(%s) - (%s)'):format(a, b), y, x end
  return ('(%s) - (%s)'):format(b, a), y, x
end

-- The line that sets `value` to the formula's value. Where elements are compared, the processor
-- would guess wrong half of the time which way to go: so both values go to memory, from where the
-- one is taken whose number the comparison gives, 1 or 0.
local function value_of(text)
  local difference, x, y = parts_of(text)
  if not difference then return 'local value = ' .. text end
  return table.concat({
    'local value',
    'local difference = ' .. difference,
    'if difference ~= difference then value = ' .. text .. ' else',
    ('pair[0], pair[1] = %s, %s'):format(y, x),
    'value = pair[min(max(difference * HUGE * HUGE, 0), 1)] end',
  }, '\n')
end

local function limit(text)
  if text:find('[<>]') and not parts_of(text) then return MAX_JUMPS end
  return (text:find('exp%(') or text:find('log')) and MAX_CALLS or MAX_ELEMENTS
end

-- Whether a loop of Lua computes more doubles, too, as quickly as Python, and with the same bits: a
-- formula that goes element by element, without calls and jumps.
local function is_plain(f)
  return not f.total and limit(f.text) == MAX_ELEMENTS
    and (not f.text:find(' and ') or parts_of(f.text) ~= nil)
end

-- Whether threads would not share n elements out.
local function stay_together(n)
  return n < host.LARGE or n <= MAX_MANY and th.ask(host.get_threads) == 1
end

local function never() return false end

-- The lines that every function has: its conditions, and its numbers.
local function write_head(add, row, f)
  local arguments, first = {}, f.tensors[1]
  for i = 1, #row.names do arguments[i] = 'a' .. i end
  add('return function(%s)', table.concat(arguments, ', '))
  if f.condition then add('if not (%s) then return nil end', f.condition) end
  add('local n = dense(a%d)', first)
  add('if n == 0 or n > %d and not many(n) then return nil end', limit(f.text))
  for i = 2, #f.tensors do
    local k = f.tensors[i]
    add('if not same_sizes(a%d, a%d) or dense(a%d) ~= n then return nil end', k, first, k)
  end
  for k, kind in ipairs(row.kinds) do -- other tensors matter by their sizes
    if kind == 'T' and not row.optional[k] and k ~= f.result and not f.found[k] then
      add('if not same_sizes(a%d, a%d) then return nil end', k, first)
    end
  end
  for _, k in ipairs(f.numbers) do add('a%d = real(a%d)', k, k) end
  if f.average then add('local norm = a%d and 1 / n or 1', f.average) end
end

local function write_pointers(add, f)
  for _, k in ipairs(f.tensors) do
    add('local p%d = a%d.storage.data + a%d.storageOffset', k, k, k)
  end
end

-- The result gets its sizes; in place, it becomes what it is computed from.
local function write_result(add, row, f)
  local result, inplace, from = f.result, nil, nil
  for i, name in ipairs(row.names) do
    if name == 'inplace' then
      inplace, from = i, row.kinds[2] == 'T' and row.names[2]:find('^grad') and 2 or 1
    end
  end
  if inplace then
    add('if a%d then if not share(dtype, a%d, a%d, n) then return nil end', inplace, result, from)
    add('elseif not fit(dtype, a%d, a%d, n) then return nil end', result, f.tensors[1])
  else
    add('if not fit(dtype, a%d, a%d, n) then return nil end', result, f.tensors[1])
  end
  for i = 2, #f.tensors do add('if dense(a%d) ~= n then return nil end', f.tensors[i]) end
  add('local r = a%d.storage.data + a%d.storageOffset', result, result)
end

local function write_each(add, row, f)
  write_result(add, row, f)
  write_pointers(add, f)
  for _, k in ipairs(f.tensors) do
    add('if p%d ~= r and p%d < r + n and r < p%d + n then return nil end', k, k, k)
  end
  add('for i = 0, n - 1 do')
  for _, k in ipairs(f.tensors) do add('local x%d = load(p%d, i)', k, k) end
  add('%s', value_of(f.text))
  add('r[i] = value end return true end')
end

-- A sum that is no number is left to Python, which raises the error, if there is one.
local function write_total(add, _, f)
  local result = f.result
  add('if a%d.nDimension ~= 1 or dense(a%d) ~= 1 then return nil end', result, result)
  write_pointers(add, f)
  add('local sum = 0 for i = 0, n - 1 do')
  for _, k in ipairs(f.tensors) do add('local x%d = load(p%d, i)', k, k) end
  add('%s', value_of(f.text))
  add('sum = sum + value end')
  add('if sum ~= sum then return nil end')
  if f.average then add('if a%d then sum = sum / n end', f.average) end
  add('a%d.storage.data[a%d.storageOffset] = sum return true end', result, result)
end

--- The source of the function for a row with a formula.
function th.thnn_source(row)
  local f, lines = translate(row), {}
  local function add(line, ...) lines[#lines + 1] = line:format(...) end
  write_head(add, row, f)
  local write = f.total and write_total or write_each
  write(add, row, f)
  return table.concat(lines, '\n')
end

--- The function for a row and an element type; nil where the row has no formula.
function th.thnn_formula(row, dtype)
  if not row.each then return nil end
  local chunk = th.load(HEAD .. th.thnn_source(row), 'thnn/' .. row.name .. '.lua')
  local many = dtype.name == 'Double' and is_plain(translate(row)) and stay_together or never
  return chunk(dtype, dtype.load, formulas.dense, formulas.same_sizes, th.thnn_fit, th.thnn_share,
    math, th.log1p, precision_of(dtype), ffi.new('double[2]'), many)
end

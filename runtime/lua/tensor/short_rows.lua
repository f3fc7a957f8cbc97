--- Sums and the like of many short rows, by loops of Lua: numpy's inner loops take longer to begin
-- than to add up ten elements. A loop is written for each length, with all elements of a row in one
-- turn. It adds up in double precision, in numpy's order: the elements of a row in pairs, those of
-- a column one after the other.
--
-- Elements are copied before, one after the other, and must be finite: Lua takes some nans for
-- other values. All functions return false for what they do not compute.
-- @module short_rows

local th = ...
local ffi = require 'ffi'

local concat = table.concat
local reductions = th.reductions

local MAX_LENGTH = 16 -- elements of a row
local MANY = 8        -- rows: LuaJIT compiles no loop that ends at its first turn

-- ------------------------------------------------------------------------ texts

-- A text for each i from first to last, with i for `#` and i - 1 for `@`.
local function each(first, last, text)
  local parts = {}
  for i = first, last do parts[#parts + 1] = text:gsub('#', i):gsub('@', i - 1) end
  return concat(parts, ' ')
end

-- The sum of name1, name2 … as numpy adds up: up to 7 in order, otherwise each of the first 8 and
-- every eighth one behind it, then these sums in pairs, then those that are left.
local function sum_text(name, n)
  local text, whole = name .. 1, 1
  if n >= 8 then
    local sums = {}
    whole = n - n % 8
    for i = 1, 8 do
      sums[i] = name .. i
      for k = i + 8, whole, 8 do sums[i] = ('(%s + %s%d)'):format(sums[i], name, k) end
    end
    for _ = 1, 3 do
      for i = 1, #sums / 2 do sums[i] = ('(%s + %s)'):format(sums[2 * i - 1], sums[2 * i]) end
      for i = #sums, #sums / 2 + 1, -1 do sums[i] = nil end
    end
    text = sums[1]
  end
  for i = whole + 1, n do text = ('(%s + %s%d)'):format(text, name, i) end
  return '0 + ' .. text
end

-- The loops, by what they compute: texts for n elements of a row, and an operator. x: elements, r:
-- results; rows: their number.
local texts = {}

local READ = 'local m = N * k EACH local x# = x[m + @] END '

function texts.sums(n, operator)
  local sum = operator == '+' and sum_text('x', n) or '1 ' .. each(1, n, '* x#')
  return ('for k = 0, rows - 1 do %s r[k] = %s end'):format(READ, sum)
end

function texts.running_sums(n, operator)
  local steps = each(2, n, 'local s# = s@ OP x# r[m + @] = s#'):gsub('OP', operator)
  return ('for k = 0, rows - 1 do %s local s1 = x1 r[m] = s1 %s end'):format(READ, steps)
end

-- The sums of the squares of how far elements are from their row's mean.
function texts.squares(n)
  return ('for k = 0, rows - 1 do %s local mean = (%s) / N %s r[k] = %s end'):format(READ,
    sum_text('x', n), each(1, n, 'local d# = x# - mean local q# = d# * d#'), sum_text('q', n))
end

-- The same two of columns.
function texts.running_columns(_, operator)
  return ([[
    EACH local s# = x[@] r[@] = s# END
    for k = 1, rows - 1 do local m = N * k EACH s# = s# OP x[m + @] r[m + @] = s# END end
  ]]):gsub('OP', operator)
end

function texts.column_squares()
  return [[
    EACH local s#, q# = 0, 0 END
    for k = 0, rows - 1 do local m = N * k EACH s# = s# + x[m + @] END end
    EACH s# = s# / rows END
    for k = 0, rows - 1 do
      local m = N * k
      EACH local d# = x[m + @] - s# q# = q# + d# * d# END
    end
    EACH r[@] = q# END
  ]]
end

-- A loop as a function of the number of rows.
local function make(what, n, operator, x, r)
  local text = texts[what](n, operator):gsub('EACH(.-)END', function(part)
    return each(1, n, part)
  end)
  text = 'local x, r = ... return function(rows) ' .. text:gsub('%f[%w]N%f[%W]', n) .. ' end'
  return th.load(text, 'tensor/short_rows.lua')(x, r)
end

-- ------------------------------------------------------------------------ calls

local OPERATORS = { add = '+', multiply = '*' }

--- A function of sections (see `reductions.sections`) that computes results, if all is well.
-- @param what 'sums' or 'running_sums' of rows, or 'squares': of the differences from the mean
-- @param of_columns the same for columns; nil for none
-- @param fold 'add' or 'multiply'
-- @param x, r pointers to the elements of a type, Float or Double, and to the results
return function(dtype, what, of_columns, fold, x, r)
  local operator, are_finite = OPERATORS[fold], nil
  local of_rows, columns = {}, {}
  local at = tonumber(ffi.cast('intptr_t', x))
  return function(outer, count, inner, ...) -- luacheck: ignore 212
    local loops, n, rows, name = of_rows, count, outer, what
    if inner > 1 then loops, n, rows, name = columns, inner, count, of_columns end
    if n < 2 or n > MAX_LENGTH or rows < MANY or not name or (inner > 1 and outer > 1) then
      return false
    end
    if are_finite == nil then are_finite = reductions.finite_check(dtype) or false end
    if not are_finite or not are_finite(at, n * rows) then return false end
    local loop = loops[n]
    if not loop then
      loop = make(name, n, operator, x, r)
      loops[n] = loop
    end
    loop(rows)
    return true
  end
end

--- print as in the reference's th: with the contents of tables and the sizes of tensors in them.
-- @module print

local th = ...

local type, tostring, select, next, pairs = type, tostring, select, next, pairs
local pcall, error, getmetatable = pcall, error, getmetatable
local find, match, rep, sub = string.find, string.match, string.rep, string.sub
local concat = table.concat
local floor = math.floor
local stdout, write_file = io.stdout, getmetatable(io.stdout).__index.write

local function write(...)
  return write_file(stdout, ...)
end

-- luacheck: globals print print_old print_new setprintlevel

print_old = print

local INDENT, DEFAULT_LEVEL = 4, 5
local level = DEFAULT_LEVEL

--- The text for a tensor or storage in a table: 'DoubleTensor - size: 2x3'.
local function size_string(x)
  local short = match(th.typename(x), 'torch%.(.+)')
  if find(th.typename(x), 'torch.*Storage') then return short .. ' - size: ' .. x:size() end
  if x:nDimension() == 0 then return short .. ' - empty' end
  return short .. ' - size: ' .. concat(x:size():totable(), 'x')
end
th.size_string = size_string

local function describe(value, nested)
  local kind = type(value)
  if kind == 'string' and nested then return '"' .. value .. '"' end
  if kind == 'userdata' or kind == 'cdata' then
    local name = th.typename(value) or ''
    if find(name, 'torch.*Tensor') or find(name, 'torch.*Storage') then
      return size_string(value)
    end
  end
  return tostring(value)
end

local function print_table(value, depth, put)
  local margin = rep(' ', depth * INDENT)
  if next(value) == nil then
    put(margin, '{}\n')
    return
  end
  put(margin, '{\n')
  for k, v in pairs(value) do
    th.poll()
    put(margin, '  ', tostring(k), ' : ')
    if type(v) ~= 'table' then
      put(describe(v, true), '\n')
    elseif depth >= level - 1 or next(v) == nil then
      put('{...}\n')
    else
      put('\n')
      print_table(v, depth + 1, put)
    end
  end
  put(margin, '}\n')
end

local MAX_LENGTH = 10000 -- characters of a table in an error

-- The text that print writes for a table, cut off at MAX_LENGTH.
local function table_text(value)
  local parts, length, ENOUGH = {}, 0, {}
  local ok, message = pcall(print_table, value, 0, function(...)
    for i = 1, select('#', ...) do
      local part = tostring((select(i, ...)))
      parts[#parts + 1] = sub(part, 1, MAX_LENGTH - length)
      length = length + #part
      if length >= MAX_LENGTH then error(ENOUGH) end
    end
  end)
  if not ok and message ~= ENOUGH then error(message, 0) end
  return match(concat(parts), '^(.-)\n*$') .. (ok and '' or '...')
end
th.show_tables_by(table_text)

local function has_tostring(value)
  local mt = getmetatable(value)
  return type(mt) == 'table' and mt.__tostring
end

--- The reference's print: numbers and strings with a tab behind them, other values on lines of
-- their own, tables with their contents.
function print_new(...)
  local n = select('#', ...)
  for i = 1, n do
    local value = select(i, ...)
    local kind = type(value)
    if kind == 'table' and not has_tostring(value) then
      print_table(value, 0, write)
    elseif kind == 'table' or kind == 'userdata' or kind == 'cdata' then
      write(tostring(value), '\n')
    else
      write(describe(value), '\t')
      if i == n then write('\n') end
    end
  end
end

--- Sets how many levels of nested tables print shows; 0 restores Lua's own print.
function setprintlevel(n)
  if type(n) ~= 'number' or not (n >= 0) then th.fail('expected number [0,+)') end
  level = floor(n)
  print = level == 0 and print_old or print_new
end
setprintlevel(DEFAULT_LEVEL)


--- print and its friends as the reference's th prints: nested tables, sizes of tensors.
-- @module print

local th = ...

local type, tostring, select, next = type, tostring, select, next
local write = function(...) return io.stdout:write(...) end

-- luacheck: globals print print_old print_new setprintlevel

print_old = print

local INDENT, DEFAULT_LEVEL = 4, 5
local level = DEFAULT_LEVEL

--- 'DoubleTensor - size: 2x3': what a table's line says of a tensor or storage.
local function size_string(x)
  local short = th.typename(x):match('torch%.(.+)')
  if th.typename(x):find('torch.*Storage') then return short .. ' - size: ' .. x:size() end
  if x:nDimension() == 0 then return short .. ' - empty' end
  return short .. ' - size: ' .. table.concat(x:size():totable(), 'x')
end
th.size_string = size_string

local function describe(value, nested)
  local kind = type(value)
  if kind == 'string' and nested then return '"' .. value .. '"' end
  if kind == 'userdata' or kind == 'cdata' then
    local name = th.typename(value) or ''
    if name:find('torch.*Tensor') or name:find('torch.*Storage') then return size_string(value) end
  end
  return tostring(value)
end

local function print_table(value, depth)
  local margin = (' '):rep(depth * INDENT)
  if next(value) == nil then
    write(margin, '{}\n')
    return
  end
  write(margin, '{\n')
  for k, v in pairs(value) do
    th.poll()
    write(margin, '  ', tostring(k), ' : ')
    if type(v) ~= 'table' then
      write(describe(v, true), '\n')
    elseif depth >= level - 1 or next(v) == nil then
      write('{...}\n')
    else
      write('\n')
      print_table(v, depth + 1)
    end
  end
  write(margin, '}\n')
end

local function has_tostring(value)
  local mt = getmetatable(value)
  return type(mt) == 'table' and mt.__tostring
end

--- The reference's print: each value in its own way, tables with their contents.
function print_new(...)
  local n = select('#', ...)
  for i = 1, n do
    local value = select(i, ...)
    local kind = type(value)
    if kind == 'table' and not has_tostring(value) then
      print_table(value, 0)
    elseif kind == 'table' or kind == 'userdata' or kind == 'cdata' then
      write(tostring(value), '\n')
    else
      write(describe(value), '\t')
      if i == n then write('\n') end
    end
  end
end

--- How deep print goes into tables; 0 brings Lua's own print back.
function setprintlevel(n)
  if n == nil or n < 0 then th.fail('expected number [0,+)') end
  level = math.floor(n)
  print = level == 0 and print_old or print_new
end
setprintlevel(DEFAULT_LEVEL)


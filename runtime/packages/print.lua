--- print as in the reference's th: with the contents of tables and the sizes of tensors in them.
-- @module print

local host, torch, bridge, errors = import('host', 'torch', 'core.bridge', 'core.errors')
local escapes, python_calls = import('core.escapes', 'core.python_calls')
local type_names, interrupts = import('core.type_names', 'stopping.interrupts')
local output = import 'packages.output'

local printing = {}

local find, gsub, match, rep, sub = string.find, string.gsub, string.match, string.rep, string.sub
local visible = escapes.visible
local stdout, write_file = io.stdout, getmetatable(io.stdout).__index.write
local io = io

-- Writes where the program's io.write does, which it may have replaced.
local function write(...)
  return io.write(...)
end

-- Writes texts for people at a prompt: text that comes from a file must not control their terminal.
local function write_visible(...)
  for i = 1, select('#', ...) do write_file(stdout, visible((select(i, ...)))) end
end

-- Makes control codes visible, but keeps colours: a class may write its objects in some.
local function visible_but_colours(text)
  return (gsub(visible(text), '\\027(%[[%d;]*m)', '\27%1'))
end

local put_table = write -- how print writes tables

-- luacheck: globals print print_old print_new setprintlevel

print_old = print

local INDENT, DEFAULT_LEVEL = 4, 5
local level = DEFAULT_LEVEL

--- The text for a tensor or storage in a table: 'DoubleTensor - size: 2x3'; nil for other values.
local function size_string(x)
  local name = type_names.typename(x) or ''
  local short, is_storage = match(name, 'torch%.(.+)'), find(name, 'torch.*Storage')
  if not is_storage and not find(name, 'torch.*Tensor') then return nil end
  if is_storage then return short .. ' - size: ' .. x:size() end
  if x:nDimension() == 0 then return short .. ' - empty' end
  return short .. ' - size: ' .. table.concat(x:size():totable(), 'x')
end
printing.size_string = size_string

local function describe(value, nested)
  local kind = type(value)
  if kind == 'string' and nested then return '"' .. value .. '"' end
  return (kind == 'userdata' or kind == 'cdata') and size_string(value) or tostring(value)
end

local CHARACTERS = 10 -- of a string, that count as one element
local MANY, FIRST = 40, 20 -- a table of more entries than MANY shows the first ones
local ROOM = 200 -- lines for all tables of a value of which a part is shown
local POLLED = 1024 -- entries that are counted between two looks for Ctrl-C
local LINE = 200 -- characters of a string in a table that is not shown whole

local function with_commas(n)
  local text = ('%d'):format(n):reverse():gsub('(%d%d%d)', '%1,')
  return (text:reverse():gsub('^,', ''))
end

-- The beginning of a string, without a part of a character of several bytes at its end.
local function beginning(text, length)
  local part = sub(text, 1, length)
  if not find(text, '^[\128-\191]', length + 1) then return part end
  return (part:gsub('[\192-\255][\128-\191]*$', ''))
end

local function short(text)
  if #text <= LINE then return text end
  return beginning(text, LINE / 2) .. '… (' .. with_commas(#text) .. ' characters)'
end

local function whole(text) return text end

-- Returns the number of entries of a table.
local function count(value)
  local n = 0
  for _ in pairs(value) do
    n = n + 1
    if n % POLLED == 0 then interrupts.poll() end
  end
  return n
end

-- Writes a table by `put`. left: where a part is enough, the number of lines there is still room
-- for, in a table; nil to write all.
local function print_table(value, depth, put, left)
  local margin, cut = rep(' ', depth * INDENT), left and short or whole
  if next(value) == nil then
    put(margin, '{}\n')
    return
  end
  local n = left and count(value)
  local most, shown = left and (n > MANY and FIRST or MANY), 0
  put(margin, '{\n')
  for k, v in pairs(value) do
    interrupts.poll()
    if left then
      if shown == most or left[1] <= 0 then break end
      shown, left[1] = shown + 1, left[1] - 1
    end
    put(margin, '  ', cut(tostring(k)), ' : ')
    if type(v) ~= 'table' then
      put(cut(describe(v, true)), '\n')
    elseif depth >= level - 1 or next(v) == nil then
      put('{...}\n')
    else
      put('\n')
      print_table(v, depth + 1, put, left)
    end
  end
  if left and shown < n then put(margin, '  … ', with_commas(n - shown), ' more\n') end
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
  return match(table.concat(parts), '^(.-)\n*$') .. (ok and '' or '...')
end
errors.show_tables_by(table_text)

local function has_tostring(value)
  local mt = getmetatable(value)
  return type(mt) == 'table' and mt.__tostring
end

local function print_value(value, is_last, put)
  local kind = type(value)
  if kind == 'table' and not has_tostring(value) then
    print_table(value, 0, put_table)
  elseif kind == 'table' or kind == 'userdata' or kind == 'cdata' then
    local text = tostring(value)
    write(put == write and text or visible_but_colours(text), '\n')
  else
    put(describe(value), '\t')
    if is_last then put('\n') end
  end
end

--- The reference's print: numbers and strings with a tab behind them, other values on lines of
-- their own, tables with their contents. What it writes is in a file or pipe at once.
function print_new(...)
  local n = select('#', ...)
  for i = 1, n do print_value((select(i, ...)), i == n, write) end
  if n == 0 then return end
  if io.output() == stdout then output.flush() else io.flush() end
end

--- Sets how many levels of nested tables print shows; 0 restores Lua's own print.
function setprintlevel(n)
  if type(n) ~= 'number' or not (n >= 0) then errors.fail('expected number [0,+)') end
  level = math.floor(n)
  print = level == 0 and print_old or print_new
end
setprintlevel(DEFAULT_LEVEL)

-- ------------------------------------------------- large values at the prompt

-- Returns the number of elements of a table for print: entries, those of tables in it, and parts of
-- strings. Counting ends above the limit.
local function amount(value, depth, limit)
  local n = 0
  for k, v in pairs(value) do
    n = n + 1
    if n % POLLED == 0 then interrupts.poll() end
    if type(k) == 'string' then n = n + math.floor(#k / CHARACTERS) end
    if type(v) == 'string' then n = n + math.floor(#v / CHARACTERS) end
    if type(v) == 'table' and depth < level - 1 and n <= limit then
      n = n + amount(v, depth + 1, limit - n)
    end
    if n > limit then break end
  end
  return n
end

-- The functions that make the text of tensors and storages, unless a program has replaced them.
local original_tostring = {}
for name in ('Byte Char Short Int Long Float Double Half'):gmatch('%a+') do
  for _, kind in ipairs{ 'Tensor', 'Storage' } do
    local mt = torch.getmetatable('torch.' .. name .. kind)
    original_tostring[mt.__tostring], original_tostring[mt.__tostring__] = true, true
  end
end

function printing.elided_tensor(value, limit, command)
  local mt = getmetatable(value)
  if type(mt) ~= 'table' or not original_tostring[mt.__tostring]
    or not original_tostring[mt.__tostring__] then
    return nil
  end
  return (python_calls.ask(host.elided, bridge.to_python(value), limit, command))
end

local SCREEN, MOST_NAMES = 78, 5000 -- columns of names, and how many names of one table

-- The names in a table whose values are functions for the most part, in order; nil for another one.
local function function_names(value)
  local names, functions = {}, 0
  for name, v in pairs(value) do
    if type(name) ~= 'string' or #names == MOST_NAMES then return nil end
    names[#names + 1] = name
    if type(v) == 'function' then functions = functions + 1 end
  end
  table.sort(names)
  return #names > MANY and functions > #names / 2 and names or nil
end

-- Prints the names in columns, which are read from top to bottom.
local function print_names(names, command)
  local width = 0
  for _, name in ipairs(names) do width = math.max(width, #name + 2) end
  local rows = math.ceil(#names / math.max(math.floor(SCREEN / width), 1))
  for row = 1, rows do
    for i = row, #names, rows do
      write_visible(i + rows > #names and names[i] or escapes.padded(names[i], width))
    end
    write('\n')
  end
  write('(', with_commas(#names), ' names; ', command, ' shows what they are)\n')
end

-- Prints a value if it is large, with how to see all of it, and returns whether it was.
local function print_if_large(value, limit, command)
  local kind = type(value)
  if kind == 'table' and not has_tostring(value) then
    local names = function_names(value)
    if names then
      print_names(names, command)
      return true
    end
    if amount(value, 0, limit) <= limit then return false end
    print_table(value, 0, write_visible, { ROOM })
    write('(a part; ', command, ' shows all)\n')
    return true
  end
  local name = kind == 'userdata' and type_names.typename(value) or ''
  if find(name, '^torch%.%a+Tensor$') or find(name, '^torch%.%a+Storage$') then
    local text = printing.elided_tensor(value, limit, command)
    if text then write(text, '\n') end
    return text ~= nil
  elseif kind == 'string' and #value > limit * CHARACTERS then
    write_visible(beginning(value, limit), '…\n(', with_commas(#value), ' characters, ',
      with_commas(limit), ' of them shown; ', command, ' shows all)\n')
    return true
  end
  return false
end

--- Sets whether people read what print writes: the control codes in tables are digits then.
function printing.print_for_people(on)
  put_table = on and write_visible or write
end

--- print for the prompt: of values with more elements than the limit it shows a part, and then says
-- how to see all. Control codes are digits.
-- @param limit a number of elements: of tensors, or entries of tables; ten characters of a string
--   count as one; 0: all is shown
function printing.print_elided(limit, ...)
  local n = select('#', ...)
  local command = n == 1 and 'print(_LAST)' or 'print'
  for i = 1, n do
    local value = select(i, ...)
    if limit == 0 or not print_if_large(value, limit, command) then
      print_value(value, i == n, write_visible)
    end
  end
end
printing.print_whole = print_new

return printing

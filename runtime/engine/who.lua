--- The function who of the prompt: the variables of the session with their sizes, and how they
-- share memory. Scripts and pages have the one of the reference (packages/trepl.lua).
-- @module who

local escapes, inspect = import('core.escapes', 'engine.inspect')
local session_locals, shell = import('engine.session_locals', 'engine.shell')

local who = {}

local format, gsub, sub = string.format, string.gsub, string.sub

local MAX_SHARERS = 4 -- names of variables that share a storage
local MAX_WIDTH = 32  -- bytes of a name or size that widen its column

local UNITS = { 'bytes', 'kB', 'MB', 'GB', 'TB' }

local function bytes_text(count)
  local unit = 1
  while count >= 1000 and unit < #UNITS do count, unit = count / 1000, unit + 1 end
  return format(unit == 1 and '%d %s' or '%.3g %s', count, UNITS[unit])
end

-- The facts about all variables, by name; the names in order; the names of those that share a
-- storage, by its address.
local function collect()
  local facts, names, sharing = {}, {}, {}
  session_locals.each_variable(function(name, value, is_local)
    local fact = inspect.describe(value, false)
    fact.is_local = is_local
    names[#names + 1], facts[name] = name, fact
    if fact.storage then
      sharing[fact.storage] = sharing[fact.storage] or {}
      table.insert(sharing[fact.storage], name)
    end
  end)
  table.sort(names)
  for _, group in pairs(sharing) do table.sort(group) end
  return facts, names, sharing
end

local function size_of(fact)
  local category = fact.category
  if category == 'tensor' then return fact.sizes == '' and 'empty' or fact.sizes end
  if category == 'storage' then return tostring(fact.elements) end
  if category == 'table' then return tostring(fact.entries) end
  if category == 'string' then return tostring(fact.length) end
  return ''
end

local function bytes_of(fact)
  if fact.elements then return bytes_text(fact.elements * fact.element_size) end
  return fact.category == 'string' and bytes_text(fact.length) or ''
end

local function others(name, group)
  local list = {}
  for _, other in ipairs(group) do
    if other ~= name and #list <= MAX_SHARERS then list[#list + 1] = escapes.visible_name(other) end
  end
  if #list > MAX_SHARERS then list[#list] = '…' end
  return table.concat(list, ', ')
end

-- Returns remarks about a variable: its number or short text, views, what shares its memory.
local function remarks(name, fact, group)
  local list = {}
  if fact.is_local then list[#list + 1] = 'local' end
  if fact.category == 'tensor' and fact.storage then
    if fact.elements < fact.storage_size then
      list[#list + 1] = format('view of %d of %d', fact.elements, fact.storage_size)
    end
    if not fact.contiguous then list[#list + 1] = 'not contiguous' end
  elseif fact.text and fact.category ~= 'userdata' then
    local text = gsub(fact.text, '[%c]', ' ')
    if #text > MAX_WIDTH then text = sub(text, 1, MAX_WIDTH) .. '…' end
    list[#list + 1] = fact.category == 'string' and '"' .. text .. '"' or text
  end
  if group and #group > 1 then list[#list + 1] = 'shares with ' .. others(name, group) end
  return table.concat(list, ', ')
end

local function kind_of(fact)
  return fact.class and (gsub(fact.class, '^torch%.', '')) or fact.kind
end

--- A value in a few words: 'DoubleTensor 2x3', '"text"', '5'.
function who.in_short(value)
  if value == nil then return 'nil' end
  local fact = inspect.describe(value, false)
  if fact.text and fact.category ~= 'userdata' then return remarks('', fact) end
  local size = size_of(fact)
  if fact.category == 'table' then size = format('(%s)', size) end
  return size == '' and kind_of(fact) or kind_of(fact) .. ' ' .. size
end

local function width_of(rows, column)
  local width = 0
  for _, row in ipairs(rows) do
    if #row[column] <= MAX_WIDTH then width = math.max(width, #row[column]) end
  end
  return width
end

local function totals(count, facts, sharing)
  local storages, bytes = 0, 0
  for _, group in pairs(sharing) do
    local fact = facts[group[1]]
    storages, bytes = storages + 1, bytes + fact.storage_size * fact.element_size
  end
  local text = format('%d variable%s', count, count == 1 and '' or 's')
  if storages > 0 then
    text = text .. format('; %d storage%s with %s', storages, storages == 1 and '' or 's',
      bytes_text(bytes))
  end
  return text
end

local function list_variables()
  local facts, names, sharing = collect()
  local rows = { { 'name', 'type', 'size', 'bytes', '' } }
  for _, name in ipairs(names) do
    local fact = facts[name]
    rows[#rows + 1] = { escapes.visible_name(name), kind_of(fact), size_of(fact), bytes_of(fact),
      remarks(name, fact, fact.storage and sharing[fact.storage]) }
  end
  local widths = {}
  for column = 1, 4 do widths[column] = width_of(rows, column) end
  for _, row in ipairs(#names > 0 and rows or {}) do
    for column = 1, 4 do row[column] = escapes.padded(row[column], widths[column]) end
    shell.write((gsub(table.concat(row, '  '), '%s+$', '')) .. '\n')
  end
  shell.write(totals(#names, facts, sharing) .. '\n')
end

local of_reference = rawget(_G, 'who')

--- Replaces the global function who, unless the program has replaced it: a front end that people
-- type at calls this.
function who.use_prompt_who()
  if rawget(_G, 'who') ~= of_reference then return end
  rawset(_G, 'who', function(system, ...)
    if system then return of_reference(system, ...) end
    list_variables()
  end)
end

return who

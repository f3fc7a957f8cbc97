--- The package csvigo: files of values with separators between them, read and written as tables.
-- @module csvigo

local host, errors = import('host', 'core.errors')
local python_calls = import 'core.python_calls'

local find, gsub, sub = string.find, string.gsub, string.sub
local open, getenv = io.open, os.getenv
local fail, print = errors.fail, print

-- luacheck: globals dok
require 'dok'

local csvigo = {}
_G.csvigo = csvigo

-- ------------------------------------------------------------------------ lines

-- The strings of a line. If the separator is a space, any blank separates.
local function values_of(line, separator)
  local values, at, blank = {}, 1, separator == ' '
  line = line .. separator
  local function next_separator(from)
    return find(line, blank and '%s' or separator, from, not blank)
  end
  while at <= #line do
    if sub(line, at, at) == '"' then
      local stop = at
      repeat -- of two quotation marks, the value has one
        stop = find(line, '"', stop + 1, true)
        local is_double = stop and sub(line, stop + 1, stop + 1) == '"'
        if is_double then stop = stop + 1 end
      until not is_double
      if not stop then fail('unmatched "') end
      values[#values + 1] = gsub(sub(line, at + 1, stop - 1), '""', '"')
      at = next_separator(stop) + 1
    else
      local stop = next_separator(at)
      values[#values + 1] = sub(line, at, stop - 1)
      at = stop + 1
    end
  end
  return values
end

local function value_text(value, separator)
  if type(value) ~= 'string' and type(value) ~= 'number' then
    errors.argument_error(1, 'string expected, got ' .. type(value), 'find')
  end
  value = tostring(value)
  if not find(value, '"', 1, true) and not find(value, separator, 1, true) then return value end
  return '"' .. gsub(value, '"', '""') .. '"'
end

local function line_of(values, separator, nan_as_missing)
  local texts = {}
  for i, value in ipairs(values) do
    texts[i] = nan_as_missing and value ~= value and '' or value_text(value, separator)
  end
  return table.concat(texts, separator)
end

-- ------------------------------------------------------------------------ files

local File = torch.class('csvigo.File', csvigo)

function File:__init(path, mode, separator, nan_as_missing)
  local file, message = open(path, mode)
  if not file then fail(message) end
  self.filepath, self.file, self.separator = path, file, separator or ','
  self.nan_as_missing = nan_as_missing or false
end

function File:close()
  local ok, message = self.file:close()
  if not ok then fail(message) end
end

--- Goes through the remaining lines as they are.
function File:lines() return self.file:lines() end

--- The values of the next line; nil at the end.
function File:read()
  local line = self.file:read('*l')
  return line and values_of((gsub(line, '\r', '')), self.separator) or nil
end

-- The lines that a file has: none where all of it is blanks in one line.
local function filled(lines)
  return #lines == 1 and find(lines[1], '^[ \t]+$') and {} or lines
end

--- The values of all remaining lines; in the mode 'large', a table that reads them when they are
-- asked for.
function File:readall(mode)
  if mode == 'large' then return self:largereadall() end
  local lines = {}
  for line in self.file:lines() do lines[#lines + 1] = gsub(line, '\r', '') end
  lines = filled(lines)
  for i, line in ipairs(lines) do lines[i] = values_of(line, self.separator) end
  return lines
end

function File:write(values)
  local ok, message = self.file:write(line_of(values, self.separator, self.nan_as_missing), '\n')
  if not ok then fail(message) end
end

function File:writeall(lines)
  for _, values in ipairs(lines) do self:write(values) end
  return true
end

local SHOWN = 10 -- lines at each end of a file that tostring shows

-- Returns the text that tostring shows of lines: all of them, or the first and the last ones.
local function excerpt(lines)
  local n, out = #lines, {}
  for i = 1, n < 3 * SHOWN and n or SHOWN do out[#out + 1] = lines[i] .. '\n' end
  if n >= 3 * SHOWN then
    out[#out + 1] = (('.. '):rep(9) .. '\n'):rep(SHOWN)
    for i = n - SHOWN, n do out[#out + 1] = lines[i] .. '\n' end
  end
  return table.concat(out)
end

-- The lines of a text: each ends at \n, at \r and the byte behind it, or where the text does.
local function split(text)
  local lines, at = {}, 1
  while at <= #text do
    local stop = find(text, '[\r\n]', at) or #text + 1
    lines[#lines + 1] = sub(text, at, stop - 1)
    at = stop + (sub(text, stop, stop) == '\r' and 2 or 1)
  end
  return lines
end

--- All lines of the file as a table that cannot be written: it makes the table of the values of a
-- line when it is asked for.
function File:largereadall()
  local file = open(self.filepath, 'rb')
  local lines, separator = filled(split(file:read('*a'))), self.separator
  file:close()
  local mt = {}

  local function iterate()
    local at = 0
    return function()
      at = at + 1
      if lines[at] then return at, values_of(lines[at], separator) end
    end
  end

  function mt.__index(_, i)
    if not i then fail('index has to be given') end
    local line = type(i) == 'number' and lines[math.floor(i)]
    return values_of(line or fail('index out of bounds: ' .. tostring(i)), separator)
  end
  function mt.__newindex() fail('attempt to update a read-only table') end
  function mt.__len() return #lines end
  function mt.__tostring() return excerpt(lines) end
  mt.__pairs, mt.__ipairs = iterate, iterate
  return setmetatable({}, mt)
end

-- ---------------------------------------------------------------------- queries

local function names_of(columns)
  local names = {}
  for name in pairs(columns) do table.insert(names, name) end
  return names
end

-- Counts in each row the variables that have one of the wanted values: row -> number.
local function count_matches(columns, wanted, is_union)
  local counts = {}
  for name, values in pairs(wanted) do
    local column = columns[name] or fail('attempt to index a nil value')
    for _, value in ipairs(values) do
      local text, is_there = tostring(value), false
      for row, found in ipairs(column) do
        if found == text then counts[row], is_there = (counts[row] or 0) + 1, true end
      end
      if not is_there and not is_union then
        fail("bad argument #1 to 'ipairs' (table expected, got nil)")
      end
    end
  end
  return counts
end

local function selected(columns, counts, least)
  local rows, result = {}, {}
  for row, count in pairs(counts) do
    if count == least or least == nil then rows[#rows + 1] = row end
  end
  table.sort(rows)
  for name, values in pairs(columns) do
    result[name] = {}
    for i, row in ipairs(rows) do result[name][i] = values[row] end
  end
  return result
end

local QUERY = "Selects rows: query('union', {var1 = 1, var2 = {2, 3}}) those in which a variable "
  .. "has one of the values,\nquery('inter', …) those in which each has; query('vars') lists the "
  .. "variables,\nquery('all') or query() returns all rows."

-- The function that selects rows of columns.
local function query_of(columns)
  return errors.public(function(...)
    local args, query, wanted = dok.unpack({ ... }, 'query', QUERY,
      { arg = 'query', type = 'string', help = 'query: all | help | vars | inter | union',
        default = 'all' },
      { arg = 'vars', type = 'table', help = 'list of vars/vals' })
    if query == 'help' then return print(args.usage) end
    if query == 'all' then return columns end
    if query == 'vars' then return names_of(columns) end
    local lists, count = {}, 0
    for name, values in pairs(wanted) do
      lists[name], count = type(values) == 'table' and values or { values }, count + 1
    end
    local is_union = query == 'union'
    return selected(columns, count_matches(columns, lists, is_union), not is_union and count or nil)
  end)
end

-- ------------------------------------------------------------- loading and saving

local function expanded(path)
  return (gsub(path, '^~', getenv('HOME') or '~'))
end

local function reporter(verbose)
  return function(...)
    if verbose then print('<csv>', ...) end
  end
end

-- The values of each column by its name, and the names in their order.
local function columns_of(lines, header, first)
  local columns, names = {}, {}
  if header == 'auto' then header = tonumber(lines[first][1]) == nil end
  -- csvigo: any other text means that there is no header.
  if header and type(header) ~= 'string' then
    names, first = lines[first], first + 1
  else
    for i = 1, #lines[first] do names[i] = 'var_' .. i end
  end
  for _, name in ipairs(names) do columns[name] = {} end
  for row = first, #lines do
    for i, value in ipairs(lines[row]) do table.insert(columns[names[i]], value) end
  end
  return columns, names
end

local MODES = 'raw: a list of lists; tidy: a table of a list for each variable; '
  .. 'query: a function that selects rows'

local LOADING = {
  { arg = 'path', type = 'string', help = 'path to file', req = true },
  { arg = 'separator', type = 'string', help = 'separator (one character)', default = ',' },
  { arg = 'mode', type = 'string', help = 'load mode: raw | tidy | query | large',
    default = 'tidy' },
  { arg = 'header', type = 'string', help = 'the first line has names: true | false | auto',
    default = 'auto' },
  { arg = 'verbose', type = 'boolean', help = 'tells what it does', default = true },
  { arg = 'skip', type = 'number', help = 'lines to skip at the start', default = 0 },
  { arg = 'column_order', type = 'boolean', help = 'returns the names of the columns first (tidy)',
    default = false },
}

--- Loads a file: as a table of columns, or what `mode` names.
function csvigo.load(...)
  local args, path, separator, mode, header, verbose, skip =
    dok.unpack({ ... }, 'csvigo.load', 'Loads a CSV file (' .. MODES .. ')', unpack(LOADING))
  local report = reporter(verbose)
  path = expanded(path)
  report('parsing file: ' .. path)
  local file = csvigo.File(path, 'r', separator)
  local lines = file:readall(mode)
  file:close()
  if mode == 'raw' or mode == 'large' then
    report('parsing done')
    return lines
  elseif mode ~= 'tidy' and mode ~= 'query' then
    print(args.usage)
    fail('unknown mode')
  end
  report('tidying up entries')
  local columns, names = columns_of(lines, header, 1 + skip)
  if mode == 'tidy' then
    report('returning tidy table')
    if args.column_order then return names, columns end
    return columns
  end
  report('generating reversed index for fast queries')
  local query = query_of(columns)
  report("returning query closure, type query('help') to get help")
  return query
end

local function mode_of(data)
  if type(data) == 'function' then return 'query' end
  if type(data) ~= 'table' then fail('cannot autodetect mode, incorrect data type') end
  return #data == 0 and 'tidy' or 'raw'
end

-- The lines of columns, and the line of their names.
local function lines_of(columns, order)
  local names, lines = {}, {}
  for _, name in pairs(order or names_of(columns)) do table.insert(names, name) end
  for _, name in ipairs(names) do
    for i, value in ipairs(columns[name]) do
      lines[i] = lines[i] or {}
      table.insert(lines[i], value)
    end
  end
  return lines, names
end

local SAVING = {
  { arg = 'path', type = 'string', help = 'path to file', req = true },
  { arg = 'data', type = 'table', help = 'table to save as a CSV file', req = true },
  { arg = 'separator', type = 'string', help = 'separator (one character)', default = ',' },
  { arg = 'mode', type = 'string', help = 'what the table is: raw | tidy | query',
    default = 'autodetect' },
  { arg = 'header', type = 'boolean', help = 'writes the names of variables', default = true },
  { arg = 'verbose', type = 'boolean', help = 'tells what it does', default = true },
  { arg = 'column_order', type = 'table', help = 'the names of columns in their order' },
  { arg = 'nan_as_missing', type = 'boolean', help = 'writes nothing for nan', default = false },
}

--- Saves a table of columns, a list of lists, or what a query has.
function csvigo.save(...)
  local args, path, data, separator, mode, header, verbose =
    dok.unpack({ ... }, 'csvigo.save', 'Saves a CSV file (' .. MODES .. ')', unpack(SAVING))
  local report = reporter(verbose)
  path = expanded(path)
  report('writing to file: ' .. path)
  if mode == 'autodetect' then mode = mode_of(data) end
  if mode == 'query' then
    report('generating tidy table')
    data = data('all')
  elseif mode ~= 'raw' and mode ~= 'tidy' then
    print(args.usage)
    fail('unknown mode')
  end
  local names
  if mode ~= 'raw' then
    report('exporting tidy table to raw CSV')
    data, names = lines_of(data, args.column_order)
  end
  local lines = {}
  if header and names then lines[1] = line_of(names, separator, args.nan_as_missing) end
  for _, values in ipairs(data) do
    lines[#lines + 1] = line_of(values, separator, args.nan_as_missing)
  end
  lines[#lines + 1] = ''
  python_calls.ask(host.file_replace, path, table.concat(lines, '\n'))
  report('writing done')
end

errors.make_public(csvigo, 'load save')
errors.make_public(File, '__init read readall largereadall lines write writeall close')

return csvigo

--- Values as HTML: tables for tensors of up to three dimensions, and for Lua's tables.
-- Large ones are shown in part. No metamethod of a program is called for a table.
-- @module values

local type, tostring, select, next, rawget = type, tostring, select, next, rawget
local getmetatable, pcall = debug.getmetatable, pcall
local floor, huge, min, max, abs = math.floor, math.huge, math.min, math.max, math.abs
local find, format, gsub, match, sub = string.find, string.format, string.gsub, string.match,
  string.sub
local concat = table.concat
local typename = require('torch').typename

local ROWS, ROW_ENDS = 20, 10  -- more than so many rows are shown by those at each end
local COLUMNS, COLUMN_ENDS = 10, 4
local SLICES, SLICE_ENDS = 4, 2
local ENTRIES, FIRST = 40, 20  -- a table of more than ENTRIES shows the first ones
local ROOM = 200               -- rows for all tables of a value
local DEPTH = 4                -- levels of tables
local TEXT = 200               -- bytes of a string that are shown

local SHOWS_ALL = 'print(_LAST) shows all'

local TABLE = '<table style="margin: 0">' -- front ends would leave room below each one

local ESCAPED = { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }

local function escaped(text)
  return (gsub(text, '[&<>"]', ESCAPED))
end

-- ------------------------------------------------------------------ tensors

-- The positions to show of n; false stands for those that are left out.
local function positions(n, most, ends)
  local shown = {}
  for i = 1, n > most and ends or n do shown[#shown + 1] = i end
  if n > most then
    shown[#shown + 1] = false
    for i = n - ends + 1, n do shown[#shown + 1] = i end
  end
  return shown
end

-- The format that suits all numbers of a list of rows.
local function number_format(rows)
  local whole, low, high = true, huge, 0
  for _, row in ipairs(rows) do
    for _, x in ipairs(row) do
      local size = abs(x)
      if size < huge then -- neither infinite nor nan
        whole = whole and x == floor(x)
        high = max(high, size)
        if size > 0 then low = min(low, size) end
      end
    end
  end
  if whole and high < 1e9 then return '%d' end
  if high >= 1e5 or high < 1e-2 and low < huge then return '%.4e' end
  return '%.4f'
end

local function number_text(x, how)
  if x ~= x then return 'nan' end
  if abs(x) == huge then return x > 0 and 'inf' or '-inf' end
  return format(how, x)
end

-- A table of HTML for the elements element(i, j), with their indices at its edges.
-- @param columns the positions to show of the second dimension; nil for a vector
local function grid(element, lines, columns)
  local rows = {}
  for _, i in ipairs(lines) do
    local row = {}
    for at, j in ipairs(columns or { 1 }) do row[at] = i and j and element(i, j) or 0 end
    rows[#rows + 1] = row
  end
  local layout = number_format(rows)
  local out = { TABLE }
  if columns then
    out[#out + 1] = '<thead><tr><th></th>'
    for _, j in ipairs(columns) do out[#out + 1] = '<th>' .. (j or '⋯') .. '</th>' end
    out[#out + 1] = '</tr></thead>'
  end
  out[#out + 1] = '<tbody>'
  for at, i in ipairs(lines) do
    out[#out + 1] = '<tr><th>' .. (i or '⋮') .. '</th>'
    for k, j in ipairs(columns or { 1 }) do
      local text = i and j and number_text(rows[at][k], layout) or i and '⋯' or j and '⋮' or '⋱'
      out[#out + 1] = '<td>' .. text .. '</td>'
    end
    out[#out + 1] = '</tr>'
  end
  out[#out + 1] = '</tbody></table>'
  return concat(out)
end

local function matrix(x)
  local function element(i, j) return x[i][j] end
  return grid(element, positions(x:size(1), ROWS, ROW_ENDS),
    positions(x:size(2), COLUMNS, COLUMN_ENDS))
end

local function slices(x)
  local out = {}
  for _, k in ipairs(positions(x:size(1), SLICES, SLICE_ENDS)) do
    out[#out + 1] = k and '<div>(' .. k .. ',.,.) =</div>' .. matrix(x[k]) or '<div>⋮</div>'
  end
  return concat(out)
end

-- A tensor of one to three dimensions; nil for others.
local function tensor_html(x, name)
  local dimensions = x:nDimension()
  local body
  if dimensions == 1 then
    body = grid(function(i) return x[i] end, positions(x:size(1), ROWS, ROW_ENDS))
  elseif dimensions == 2 then
    body = matrix(x)
  elseif dimensions == 3 then
    body = slices(x)
  else
    return nil
  end
  local sizes = concat(x:size():totable(), 'x')
  local is_part = find(body, '⋮', 1, true) or find(body, '⋯', 1, true)
  return body .. '<div>[' .. name .. ' of dimension ' .. sizes .. ']'
    .. (is_part and '; ' .. SHOWS_ALL or '') .. '</div>'
end

-- ------------------------------------------------------------------- tables

local function is_plain(value)
  local mt = getmetatable(value)
  return type(value) == 'table' and not (type(mt) == 'table' and rawget(mt, '__tostring'))
end

-- Returns the text that print shows for a value in a table, cut short.
local function described(value)
  local name = type(value) == 'userdata' and typename(value)
  local short = name and match(name, '^torch%.(%a+Tensor)$')
  if short then
    if value:nDimension() == 0 then return short .. ' - empty' end
    return short .. ' - size: ' .. concat(value:size():totable(), 'x')
  end
  local text = tostring(value)
  if #text > TEXT then text = gsub(sub(text, 1, TEXT), '[\192-\255][\128-\191]*$', '') .. '…' end
  return type(value) == 'string' and '"' .. text .. '"' or text
end

-- The rows of a table: its entries in Lua's order.
-- @param room a table with the number of rows there is still room for
local function table_html(value, depth, room)
  local count = 0
  for _ in next, value do count = count + 1 end
  local most = count > ENTRIES and FIRST or ENTRIES
  local out, shown = { TABLE .. '<tbody>' }, 0
  for k, v in next, value do
    if shown == most or room.rows <= 0 then break end
    shown, room.rows = shown + 1, room.rows - 1
    local cell
    if is_plain(v) and depth < DEPTH and next(v) ~= nil then
      cell = table_html(v, depth + 1, room)
    else
      cell = escaped(is_plain(v) and (next(v) == nil and '{}' or '{...}') or described(v))
    end
    out[#out + 1] = '<tr><th>' .. escaped(described(k):gsub('^"(.*)"$', '%1')) .. '</th>'
      .. '<td style="text-align: left">' .. cell .. '</td></tr>'
  end
  if shown < count then
    out[#out + 1] = '<tr><th>⋮</th><td style="text-align: left">' .. count - shown
      .. ' more' .. (depth == 1 and '; ' .. SHOWS_ALL or '') .. '</td></tr>'
  end
  out[#out + 1] = '</tbody></table>'
  return concat(out)
end

-- ------------------------------------------------------------------ results

local collect = ... -- lets what is printed from now on be a result, and no output

local wanted = ''          -- what becomes of values: 'result', 'nothing', or '' to print them
local count, value = 0, nil -- of the values that are a result, their number and the first one

local functions = {}

--- Says what becomes of the values of inputs from now on.
function functions.expect(what)
  wanted, count, value = what, 0, nil
end

-- Tells whether a value is what a call of image.display has returned just now.
local function is_shown()
  local mt = type(value) == 'table' and getmetatable(value)
  local last = type(mt) == 'table' and rawget(mt, 'last')
  if last then mt.last = nil end
  return last and last == value
end

--- Takes the values of an input; returns whether they are printed.
function functions.receive(...)
  if wanted == 'result' then
    count, value = select('#', ...), (...)
    if is_shown() then return false end
    if count > 0 then collect() end
  end
  return wanted ~= 'nothing'
end

local function as_html()
  local name = type(value) == 'userdata' and typename(value)
  if name and find(name, '^torch%.%a+Tensor$') then return tensor_html(value, name) end
  if is_plain(value) and next(value) ~= nil then return table_html(value, 1, { rows = ROOM }) end
  return nil
end

--- The HTML for the values, or nil where their text says all.
function functions.html()
  local ok, html = pcall(as_html)
  return ok and count == 1 and html or nil
end

return functions

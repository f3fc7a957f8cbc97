--- cjson.encode: a Lua value as the text of JSON.
-- @module cjson_encode

local errors = import 'core.errors'

local type, next, tostring, concat, format = type, next, tostring, table.concat, string.format
local byte, find, gsub, huge = string.byte, string.find, string.gsub, math.huge

local ESCAPES = { ['"'] = '\\"', ['\\'] = '\\\\', ['/'] = '\\/', ['\b'] = '\\b', ['\f'] = '\\f',
  ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t' }
local FORMATS = {} -- of numbers, by their digits
for digits = 1, 14 do FORMATS[digits] = '%.' .. digits .. 'g' end
local SPECIAL = '[%z\1-\31"\\/\127]'

local function escape(c)
  return ESCAPES[c] or format('\\u%04x', byte(c))
end

local function text_of(s)
  if find(s, SPECIAL) then s = gsub(s, SPECIAL, escape) end
  return '"' .. s .. '"'
end

-- The largest index of a table that has only indices, from 1; nil for another table.
local function length(t, settings)
  local largest, count = 0, 0
  for key in next, t do
    if type(key) ~= 'number' or key < 1 or key % 1 ~= 0 then return nil end
    largest, count = key > largest and key or largest, count + 1
  end
  if settings.sparse_ratio > 0 and largest > count * settings.sparse_ratio
    and largest > settings.sparse_safe then
    if not settings.sparse_convert then
      errors.fail('Cannot serialise table: excessively sparse array')
    end
    return nil
  end
  return largest
end

local function number_text(value, settings)
  if value ~= value or value == huge or value == -huge then
    if settings.invalid == 'null' then return 'null' end
    if not settings.invalid then
      errors.fail('Cannot serialise number: must not be NaN or Infinity')
    end
    return value ~= value and 'NaN' or value > 0 and 'Infinity' or '-Infinity'
  end
  return format(FORMATS[settings.precision], value)
end

local function key_text(key, settings)
  local kind = type(key)
  if kind == 'string' then return text_of(key) end
  if kind == 'number' then return '"' .. number_text(key, settings) .. '"' end
  errors.fail(format('Cannot serialise %s: table key must be a number or string', kind))
end

local append

local function append_table(out, t, depth, settings)
  if depth > settings.encode_depth then
    errors.fail(format('Cannot serialise, excessive nesting (%d)', depth))
  end
  local n = length(t, settings)
  if n and n > 0 then
    out[#out + 1] = '['
    for i = 1, n do
      if i > 1 then out[#out + 1] = ',' end
      append(out, t[i], depth, settings)
    end
    out[#out + 1] = ']'
    return
  end
  out[#out + 1] = '{'
  local is_first = true
  for key, value in next, t do
    if not is_first then out[#out + 1] = ',' end
    is_first = false
    out[#out + 1] = key_text(key, settings) .. ':'
    append(out, value, depth, settings)
  end
  out[#out + 1] = '}'
end

function append(out, value, depth, settings)
  local kind = type(value)
  if kind == 'string' then
    out[#out + 1] = text_of(value)
  elseif kind == 'number' then
    out[#out + 1] = number_text(value, settings)
  elseif kind == 'table' then
    append_table(out, value, depth + 1, settings)
  elseif kind == 'boolean' then
    out[#out + 1] = tostring(value)
  elseif value == nil or value == settings.null then
    out[#out + 1] = 'null'
  else
    errors.fail(format('Cannot serialise %s: type not supported', kind))
  end
end

--- The function encode with some settings (see init.lua).
return function(settings)
  return function(...)
    if select('#', ...) ~= 1 then errors.argument_error(1, 'expected 1 argument') end
    local out = {}
    append(out, (...), 0, settings)
    return concat(out)
  end
end

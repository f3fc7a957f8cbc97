--- The package cjson: JSON, with the functions and settings of Lua CJSON; and cjson.safe, whose
-- functions return nil and a message in the place of errors.
-- @module cjson

local required = ... -- the name of the module

local errors, finalizers = import('core.errors', 'core.finalizers')

local byte, char, find, gsub, match, sub = string.byte, string.char, string.find, string.gsub,
  string.match, string.sub
local concat, floor, format, huge = table.concat, math.floor, string.format, math.huge

-- --------------------------------------------------------------------------------------- encoding

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

-- The function encode with some settings.
local function encoder(settings)
  return function(...)
    if select('#', ...) ~= 1 then errors.argument_error(1, 'expected 1 argument') end
    local out = {}
    append(out, (...), 0, settings)
    return concat(out)
  end
end

-- --------------------------------------------------------------------------------------- decoding

local PUNCTUATION = { ['{'] = 'T_OBJ_BEGIN', ['}'] = 'T_OBJ_END', ['['] = 'T_ARR_BEGIN',
  [']'] = 'T_ARR_END', [':'] = 'T_COLON', [','] = 'T_COMMA' }
local ESCAPED = { ['"'] = '"', ['\\'] = '\\', ['/'] = '/', b = '\b', f = '\f', n = '\n', r = '\r',
  t = '\t' }

local function fail(expected, found, at)
  errors.fail(format('Expected %s but found %s at character %d', expected, found, at))
end

-- The bytes of a code point in UTF-8.
local function utf8(code)
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xc0 + floor(code / 0x40), 0x80 + code % 0x40) end
  if code < 0x10000 then
    return char(0xe0 + floor(code / 0x1000), 0x80 + floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
  end
  return char(0xf0 + floor(code / 0x40000), 0x80 + floor(code / 0x1000) % 0x40,
    0x80 + floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
end

-- The character of an escape \u at a position, of which two may make one, and the position behind.
local function unicode(text, at)
  local code = tonumber(match(text, '^u(%x%x%x%x)', at) or '', 16)
  if not code or code >= 0xdc00 and code < 0xe000 then return nil end
  if code < 0xd800 or code >= 0xe000 then return utf8(code), at + 5 end
  local low = tonumber(match(text, '^\\u(%x%x%x%x)', at + 5) or '', 16)
  if not low or low < 0xdc00 or low >= 0xe000 then return nil end
  return utf8(0x10000 + (code - 0xd800) * 0x400 + low - 0xdc00), at + 11
end

-- The string whose text begins behind a quotation mark, and the position behind its end; or nil,
-- what is wrong, and where.
local function string_at(text, at)
  local stop = find(text, '["\\]', at)
  if stop and byte(text, stop) == 34 then return sub(text, at, stop - 1), stop + 1 end
  local parts = {}
  while stop do
    parts[#parts + 1] = sub(text, at, stop - 1)
    if byte(text, stop) == 34 then return concat(parts), stop + 1 end
    local c = sub(text, stop + 1, stop + 1)
    if c == 'u' then
      local letter, behind = unicode(text, stop + 1)
      if not letter then return nil, 'invalid unicode escape code', stop end
      parts[#parts + 1], at = letter, behind
    elseif ESCAPED[c] then
      parts[#parts + 1], at = ESCAPED[c], stop + 2
    else
      return nil, 'invalid escape code', stop
    end
    stop = find(text, '["\\]', at)
  end
  return nil, 'unexpected end of string', #text + 1
end

-- The text of a number at a position, as C's strtod reads it, or nil.
local function number_at(text, at)
  local hexadecimal = match(text, '^[+-]?0[xX]%x+', at)
  if hexadecimal then return hexadecimal end
  local number = match(text, '^[+-]?%d+%.?%d*', at)
  if not number then return nil end
  return number .. (match(text, '^[eE][+-]?%d+', at + #number) or '')
end

local WORDS = { { 'true', true }, { 'false', false }, { 'null', nil } }
local SPECIAL_NUMBERS = {
  { '^[+-]?[iI][nN][fF][iI][nN][iI][tT][yY]', 1 / 0 }, { '^[+-]?[iI][nN][fF]', 1 / 0 },
  { '^[+-]?[nN][aA][nN]', 0 / 0 },
}

-- The token at a position, behind blanks: its kind, its value, where it begins, and where the next
-- one may begin. For a wrong token the kind is nil, and the value says what is wrong.
local function token(text, at, settings)
  at = find(text, '[^ \t\n\r]', at)
  if not at then return 'T_END', nil, #text + 1 end
  local c = sub(text, at, at)
  if PUNCTUATION[c] then return PUNCTUATION[c], nil, at, at + 1 end
  if c == '"' then
    local value, behind, where = string_at(text, at + 1)
    if value then return 'T_STRING', value, at, behind end
    return nil, behind, where
  end
  for _, word in ipairs(WORDS) do
    if sub(text, at, at + #word[1] - 1) == word[1] then
      return c == 'n' and 'T_NULL' or 'T_BOOLEAN', word[2], at, at + #word[1]
    end
  end
  for _, special in ipairs(settings.decode_invalid and SPECIAL_NUMBERS or {}) do
    local word = match(text, special[1], at)
    if word then
      return 'T_NUMBER', byte(word) == 45 and -special[2] or special[2], at, at + #word
    end
  end
  if not find(c, '[-+%d]') then return nil, 'invalid token', at end
  local number = number_at(text, at)
  local is_plain = number and not find(number, '^%+') and not find(number, '^-?0[%dxX]')
  if not number or not (settings.decode_invalid or is_plain) then
    return nil, 'invalid number', at
  end
  return 'T_NUMBER', tonumber(number), at, at + #number
end

local value_of

local function check_depth(depth, at, settings)
  if depth > settings.decode_depth then
    errors.fail(format('Found too many nested data structures (%d) at character %d', depth, at))
  end
end

-- The table of an object or array whose text begins behind its bracket, and the position behind it.
local function members_at(text, at, depth, settings, is_object)
  local close = is_object and 'T_OBJ_END' or 'T_ARR_END'
  local made, n = {}, 0
  local wrong, start
  local kind, _, _, behind = token(text, at, settings)
  if kind == close then return made, behind end
  behind = at
  while true do
    n = n + 1
    local key = n
    if is_object then
      kind, key, start, behind = token(text, behind, settings)
      if kind ~= 'T_STRING' then fail('object key string', kind or key, start) end
      kind, wrong, start, behind = token(text, behind, settings)
      if kind ~= 'T_COLON' then fail('colon', kind or wrong, start) end
    end
    made[key], behind = value_of(text, behind, depth, settings)
    kind, wrong, start, behind = token(text, behind, settings)
    if kind == close then return made, behind end
    if kind ~= 'T_COMMA' then
      fail(is_object and 'comma or object end' or 'comma or array end', kind or wrong, start)
    end
  end
end

function value_of(text, at, depth, settings)
  local kind, value, start, behind = token(text, at, settings)
  if kind == 'T_NULL' then return settings.null, behind end
  if kind == 'T_STRING' or kind == 'T_NUMBER' or kind == 'T_BOOLEAN' then return value, behind end
  if kind == 'T_OBJ_BEGIN' or kind == 'T_ARR_BEGIN' then
    check_depth(depth + 1, start, settings)
    return members_at(text, behind, depth + 1, settings, kind == 'T_OBJ_BEGIN')
  end
  fail('value', kind or value, start)
end

-- The function decode with some settings.
local function decoder(settings)
  return function(...)
    local text = ...
    if select('#', ...) ~= 1 then errors.argument_error(1, 'expected 1 argument') end
    if type(text) == 'number' then text = tostring(text) end
    if type(text) ~= 'string' then errors.type_error(1, 'string', text) end
    if #text >= 2 and (byte(text, 1) == 0 or byte(text, 2) == 0) then
      errors.fail('JSON parser does not support UTF-16 or UTF-32')
    end
    local value, behind = value_of(text, 1, 0, settings)
    local kind, wrong, start = token(text, behind, settings)
    if kind ~= 'T_END' then fail('the end', kind or wrong, start) end
    return value
  end
end

-- --------------------------------------------------------------------------------------- settings

local NULL = finalizers.newproxy(true) -- stands for null, which cannot be a value in a table
getmetatable(NULL).__tostring = function() return 'userdata: NULL' end

-- Checks of settings' values, which return what is set; arg: the argument's position.

-- A whole number; high: by default the greatest one that C's int has.
local function integer(low, high)
  high = high or 2 ^ 31 - 1
  return function(arg, value)
    if type(value) ~= 'number' then errors.type_error(arg, 'number', value) end
    if value < low or value > high then
      errors.argument_error(arg, ('expected integer between %d and %d'):format(low, high))
    end
    return math.floor(value)
  end
end

-- True or false; if there is a word, this too, and 'on' and 'off'.
local function choice(word)
  return function(arg, value)
    if word and (value == 'on' or value == 'off') then return value == 'on' end
    if type(value) ~= 'boolean' and value ~= word then
      errors.argument_error(arg, ("invalid option '%s'"):format(tostring(value)))
    end
    return value
  end
end

-- A function that sets those of some settings for which it gets a value, and returns them all.
-- @param names the names of the settings, in the order of the function's arguments
-- @param checks their checks
local function setter(settings, names, checks)
  return function(...)
    if select('#', ...) > #names then
      errors.argument_error(#names + 1, 'found too many arguments')
    end
    local current = {}
    for i, name in ipairs(names) do
      local value = select(i, ...)
      if value ~= nil then settings[name] = checks[i](i, value) end
      current[i] = settings[name]
    end
    return unpack(current)
  end
end

local function new()
  local settings = {
    sparse_convert = false, sparse_ratio = 2, sparse_safe = 10, encode_depth = 1000,
    decode_depth = 1000, precision = 14, keep = true, invalid = false, decode_invalid = true,
    null = NULL,
  }
  local function set(name, check) return setter(settings, { name }, { check }) end
  return {
    _NAME = 'cjson', _VERSION = '2.1devel', null = NULL, new = new,
    encode = encoder(settings), decode = decoder(settings),
    encode_max_depth = set('encode_depth', integer(1)),
    decode_max_depth = set('decode_depth', integer(1)),
    encode_number_precision = set('precision', integer(1, 14)),
    encode_keep_buffer = set('keep', choice()),
    encode_invalid_numbers = set('invalid', choice 'null'),
    decode_invalid_numbers = set('decode_invalid', choice()),
    encode_sparse_array = setter(settings, { 'sparse_convert', 'sparse_ratio', 'sparse_safe' },
      { choice(), integer(0), integer(0) }),
  }
end

local function safely(f)
  local function finish(ok, ...)
    if ok then return ... end
    return nil, ((...):gsub('^[^:]*:%d+: ', ''))
  end
  return function(...) return finish(pcall(f, ...)) end
end

local function make_safe(cjson)
  local safe = {}
  for key, value in pairs(cjson) do safe[key] = value end
  safe.encode, safe.decode = safely(cjson.encode), safely(cjson.decode)
  function safe.new() return make_safe(cjson.new()) end
  return safe
end

return required == 'cjson.safe' and make_safe(new()) or new()

--- cjson.decode: the Lua value of a text of JSON.
-- @module cjson_decode

local errors = import 'core.errors'

local byte, sub, find, match, char = string.byte, string.sub, string.find, string.match, string.char
local tonumber, format, concat, floor = tonumber, string.format, table.concat, math.floor

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
local SPECIAL = {
  { '^[+-]?[iI][nN][fF][iI][nN][iI][tT][yY]', 1 / 0 }, { '^[+-]?[iI][nN][fF]', 1 / 0 },
  { '^[+-]?[nN][aA][nN]', 0 / 0 },
}

-- The token at a position, behind blanks: its kind, its value, where it begins, and where the next
-- one may. Of a token that is wrong, the kind is nil and the value says what is wrong.
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
  for _, special in ipairs(settings.decode_invalid and SPECIAL or {}) do
    local found = match(text, special[1], at)
    if found then
      return 'T_NUMBER', byte(found) == 45 and -special[2] or special[2], at, at + #found
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

--- The function decode with some settings (see init.lua).
return function(settings)
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

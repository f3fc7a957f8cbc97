--- The package cjson: JSON, with the functions and settings of Lua CJSON.
-- @module cjson

local th = ...

local encoder = th.chunk('packages/cjson/encode')(th)
local decoder = th.chunk('packages/cjson/decode')(th)

local NULL = th.newproxy(true) -- stands for null, which cannot be a value in a table
getmetatable(NULL).__tostring = function() return 'userdata: NULL' end

local function integer(arg, value, low, high)
  if type(value) ~= 'number' then th.type_error(arg, 'number', value) end
  if value < low or value > high then
    th.argument_error(arg, ('expected integer between %d and %d'):format(low, high))
  end
  return math.floor(value)
end

-- A function that sets a number among the settings, if it gets one, and returns the current one.
local function number_setting(settings, name, low, high)
  return function(...)
    if select('#', ...) > 1 then th.argument_error(2, 'found too many arguments') end
    local value = ...
    if value ~= nil then settings[name] = integer(1, value, low, high) end
    settings.format = ('%%.%dg'):format(settings.precision)
    return settings[name]
  end
end

-- The same for one of true and false, or a word.
local function choice_setting(settings, name, word)
  return function(...)
    if select('#', ...) > 1 then th.argument_error(2, 'found too many arguments') end
    local value = ...
    if value ~= nil then
      local is_switch = word and (value == 'on' or value == 'off')
      if type(value) ~= 'boolean' and value ~= word and not is_switch then
        th.argument_error(1, ("invalid option '%s'"):format(tostring(value)))
      end
      if value == 'on' then value = true elseif value == 'off' then value = false end
      settings[name] = value
    end
    return settings[name]
  end
end

local function new()
  local settings = {
    sparse_convert = false, sparse_ratio = 2, sparse_safe = 10, encode_depth = 1000,
    decode_depth = 1000, precision = 14, format = '%.14g', keep = true, invalid = false,
    decode_invalid = true, null = NULL,
  }
  local cjson = {
    _NAME = 'cjson', _VERSION = '2.1devel', null = NULL, new = new,
    encode = encoder(settings), decode = decoder(settings),
    encode_max_depth = number_setting(settings, 'encode_depth', 1, 2 ^ 31 - 1),
    decode_max_depth = number_setting(settings, 'decode_depth', 1, 2 ^ 31 - 1),
    encode_number_precision = number_setting(settings, 'precision', 1, 14),
    encode_keep_buffer = choice_setting(settings, 'keep'),
    encode_invalid_numbers = choice_setting(settings, 'invalid', 'null'),
    decode_invalid_numbers = choice_setting(settings, 'decode_invalid'),
  }
  function cjson.encode_sparse_array(...)
    local convert, ratio, safe = ...
    if select('#', ...) > 3 then th.argument_error(4, 'found too many arguments') end
    if convert ~= nil then
      if type(convert) ~= 'boolean' then
        th.argument_error(1, ("invalid option '%s'"):format(tostring(convert)))
      end
      settings.sparse_convert = convert
    end
    if ratio ~= nil then settings.sparse_ratio = integer(2, ratio, 0, 2 ^ 31 - 1) end
    if safe ~= nil then settings.sparse_safe = integer(3, safe, 0, 2 ^ 31 - 1) end
    return settings.sparse_convert, settings.sparse_ratio, settings.sparse_safe
  end
  return cjson
end

return new()

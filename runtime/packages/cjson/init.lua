--- The package cjson: JSON, with the functions and settings of Lua CJSON.
-- @module cjson

local errors, finalizers = import('core.errors', 'core.finalizers')
local decoder, encoder = import('packages.cjson.decode', 'packages.cjson.encode')

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

return new()

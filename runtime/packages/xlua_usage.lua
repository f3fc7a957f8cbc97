--- xlua, continued (see packages/xlua.lua): functions that read named arguments with defaults, and
-- make the usage text of functions and packages.
-- @module xlua_usage

local escapes, type_names = import('core.escapes', 'core.type_names')

-- luacheck: globals xlua sys

-- ------------------------------------------------------------ tables as text

local function quoted(text)
  text = text:gsub('\n', '\\n')
  if text:gsub('[^\'"]', ''):match('^"+$') then return "'" .. text .. "'" end
  return '"' .. text:gsub('"', '\\"') .. '"'
end

local function value_text(value)
  if type(value) == 'string' then return quoted(value) end
  return type(value) == 'table' and xlua.table2string(value) or tostring(value)
end

local function key_text(key)
  if type(key) == 'string' and key:match('^[_%a][_%w]*$') then return key end
  return '[' .. value_text(key) .. ']'
end

--- The text of a table as a Lua expression.
-- @param newline whether each entry has a line of its own, with ' : ' between key and value
function xlua.table2string(tbl, newline)
  local parts, listed = {}, {}
  for i, value in ipairs(tbl) do
    parts[i], listed[i] = value_text(value), true
  end
  for key, value in pairs(tbl) do
    if not listed[key] then
      parts[#parts + 1] = key_text(key) .. (newline and ' : ' or '=') .. value_text(value)
    end
  end
  if newline then return '{\n   ' .. table.concat(parts, '\n   ') .. '\n}' end
  return '{' .. table.concat(parts, ',') .. '}'
end

-- -------------------------------------------------------------------- usage

local BANNER = ('+'):rep(69)
local COMMENT_COLUMN = 40 -- where the comments behind parameters begin

local function aligned(text) return escapes.padded('    ' .. text, COMMENT_COLUMN) end

local function default_text(param)
  if type(param.default) == 'table' then
    return '  [default = ' .. xlua.table2string(param.default) .. ']'
  elseif param.default ~= nil then
    return '  [default = ' .. tostring(param.default) .. ']'
  elseif param.defaulta then
    return '  [default == ' .. param.defaulta .. ']'
  end
  return ''
end

-- The usage of a function that takes one table: a line for each named argument.
local function usage_by_name(name, params)
  local text = name .. '{\n'
  for _, param in ipairs(params) do
    local key = param.arg .. ' = ' .. param.type
    text = text .. aligned(param.req and key or '[' .. key .. ']') .. '-- '
      .. param.help .. default_text(param) .. '\n'
  end
  return text .. '}\n'
end

-- The usage of a function that takes arguments in order. An empty string among the parameters
-- begins another form of the call.
local function usage_in_order(name, params)
  local text, at = '', 1
  repeat
    text = text .. name .. '(\n'
    while params[at] and params[at] ~= '' do
      local param = params[at]
      text = text .. aligned(param.req and param.type or '[' .. param.type .. ']')
        .. '-- ' .. param.help .. '\n'
      at = at + 1
    end
    text, at = text .. ')\n', at + 1
  until not params[at - 1]
  return text
end

--- The help text of a function: its name, description, an example and its parameters.
function xlua.usage(name, description, example, ...)
  local colours, params = sys.COLORS, { ... }
  params = params[1].tabled or params
  local text = BANNER .. '\n' .. colours.Magenta .. name .. colours.none .. '\n'
  if description then text = text .. '\n' .. description .. '\n' end
  text = text .. '\n' .. colours.blue .. '> ' .. colours.none .. 'usage:\n' .. colours.cyan
  text = text .. (params[1].arg and usage_by_name or usage_in_order)(name, params) .. colours.none
  if example then
    text = text .. '\n' .. colours.cyan .. example .. colours.none .. '\n'
  end
  return text .. BANNER
end

--- Sets the text that print shows for a package.
function xlua.usage_module(module, name, description)
  local colours = sys.COLORS
  local text = colours.magenta .. BANNER .. '\nPACKAGE:\n' .. name .. '\n'
  if description then text = text .. '\nDESC:\n' .. description .. '\n' end
  text = text .. BANNER .. '+' .. colours.none
  local mt = getmetatable(module) or {}
  setmetatable(module, mt)
  mt.__tostring = function() return text end
  return text
end

-- ------------------------------------------------------------------- unpack

-- An object whose text is the usage of a function; the text is made when it is shown.
local function usage_of(name, description, params)
  return setmetatable({}, { __tostring = function()
    local example
    if #params > 1 then
      example = ('%s{%s=%s, %s=%s}\n%s(%s, ...)'):format(name, params[2].arg, params[2].type,
        params[1].arg, params[1].type, name, params[1].type)
    end
    return xlua.usage(name, description, example, { tabled = params })
  end })
end

-- The arguments of a call by name, whether they are one table or stand in order.
local function by_name(args, params)
  local first = args[1]
  if #args == 1 and type(first) == 'table' and #first == 0 and not type_names.typename(first) then
    return first
  end
  local given = {}
  for i, param in ipairs(params) do given[param.arg] = args[i] end
  return given
end

--- Reads a function's arguments, which are one table of named values or are in order, and adds the
-- defaults.
-- @return a table of the values by name, then each value in order
function xlua.unpack(args, name, description, ...)
  local params = { ... }
  local usage = usage_of(name, description, params)
  if #args == 0 then
    print(usage)
    xlua.error('error')
  end
  local given, values = by_name(args, params), {}
  for i, param in ipairs(params) do
    local value = given[param.arg]
    if param.req and value == nil then
      print(sys.COLORS.Red .. 'missing argument: ' .. param.arg .. sys.COLORS.none)
      print(usage)
      xlua.error('error')
    end
    if value == nil then value = param.default end
    if value == nil and param.defaulta then value = values[param.defaulta] end
    values[param.arg], values[i] = value, value
  end
  values.usage = usage
  if values[65] then
    xlua.error('<xlua.unpack> oups, cant deal with more than 64 arguments :-)')
  end
  return values, unpack(values, 1, 64)
end

--- Reads a function's arguments like xlua.unpack; the values become fields of an object.
function xlua.unpack_class(object, args, name, description, ...)
  for key, value in pairs((xlua.unpack(args, name, description, ...))) do
    if type(key) ~= 'number' then object[key] = value end
  end
end

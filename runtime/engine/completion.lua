--- Finds names and simple values for completion and help at the prompt. This runs no code of the
-- program: it calls no function and no metamethod.
--
-- A path leads from the globals to a value. It is a list of steps; the first character of a step
-- tells its kind:
--
--     .name  the field `name`
--     "      a string (only as the first step)
--     #3     the element 3; # alone: any element
--     (      the result of a call, followed by what a function of the runtime returns:
--              T                 a tensor or storage of the object's class, or of the default class
--              torch.LongTensor  an object of that class
--              file              a file of io
--              (nothing)         not known
--            and then by " if a function of Lua's libraries with that name returns a string
-- @module completion

local host, torch, c_structs = import('host', 'torch', 'core.c_structs')
local class_ids, errors, python_calls = import('core.class_ids', 'core.errors', 'core.python_calls')
local session_locals = import 'engine.session_locals'

local completion = {}

local raw_metatable, getinfo, getlocal = debug.getmetatable, debug.getinfo, debug.getlocal
local sub, gsub, find = string.sub, string.gsub, string.find
local huge = math.huge
local fetch_struct, structs = c_structs.fetch_struct, c_structs.by_class
local class_of, is_ours = class_ids.class_of, errors.is_ours

local MAX_SECONDS = 0.05       -- for finding and counting names, if their number is limited
local NAMES_BETWEEN_LOOKS = 16384 -- names after which the clock is read
local NAME = '^[%a_][%w_]*$'

-- ------------------------------------------------------------------ places

-- A place is what a path leads to, as a table: `value`, if it is known; otherwise `class`, the
-- metatable of what a call returns or of an element; and `object`, the place whose field it is.

-- The tables in which Lua looks up the fields of a place, in order.
local function tables_of_fields(place)
  local list = {}
  if place.value == _G then return { _G } end -- its metatable loads Penlight
  if type(place.value) == 'table' then list[1] = place.value end
  local mt, seen = place.class or raw_metatable(place.value), {}
  while type(mt) == 'table' and not seen[mt] do
    list[#list + 1], seen[mt] = mt, true
    local index = rawget(mt, '__index')
    if type(index) == 'table' and index ~= mt then list[#list + 1] = index end
    mt = raw_metatable(list[#list])
  end
  return list
end

-- The place of a field; nil if there is none.
local function field(place, name)
  for _, holder in ipairs(tables_of_fields(place)) do
    local value = rawget(holder, name)
    if value ~= nil then return { value = value, object = place } end
  end
end

local FILE, STRING = raw_metatable(io.stdout), raw_metatable('')

-- The name of a class by its metatable; '' for other metatables.
local function class_name(class)
  if class == FILE then return 'file' end
  if class == STRING then return 'string' end
  local name = type(class) == 'table' and rawget(class, '__typename')
  return type(name) == 'string' and name or ''
end

-- The number of dimensions of a tensor; nil for other values.
local function dimensions(value)
  local id = class_of(value)
  local struct = id and structs[id] and (structs[id][value] or fetch_struct(value))
  return struct and tonumber(struct.nDimension)
end

-- The place of an element of a table, or of a row of a tensor; nil for a number of a tensor.
local function element(place, key)
  local value = place.value
  if type(value) == 'table' then
    local member = rawget(value, tonumber(key) or 1)
    return member ~= nil and { value = member } or nil
  end
  local class = place.class or raw_metatable(value)
  if not find(class_name(class), '^torch%.%a+Tensor$') then return nil end
  if place.class or (dimensions(value) or 0) > 1 then return { class = class } end
end

-- The class whose constructor table a value is.
local function constructed(value)
  local mt = type(value) == 'table' and raw_metatable(value)
  local class = type(mt) == 'table' and rawget(mt, '__metatable')
  if type(class) == 'table' and rawget(class, '__constructor') == value then return class end
end

local function source_of(f)
  return getinfo(f, 'S').source
end

-- The place of what a call of a function or class returns; nil if that is not known.
-- @param returned what a function of the runtime returns, as a step tells it
local function result_of_call(place, returned)
  local class = constructed(place.value)
  if class then return { class = class } end
  if type(place.value) ~= 'function' then return nil end
  local source = source_of(place.value)
  if source == '=[C]' and sub(returned, -1) == '"' then return { value = '' } end
  if returned == 'file' and (source == '=[C]' or is_ours(source)) then return { class = FILE } end
  if sub(source, 1, 5) ~= '=[th]' then return nil end
  returned = gsub(returned, '"', '')
  if returned == 'T' then
    local object = place.object
    local of_object = object
      and (object.class or class_of(object.value) and raw_metatable(object.value))
    class = of_object or constructed(rawget(torch, 'Tensor'))
  else
    class = torch.getmetatable(returned)
  end
  return class and { class = class } or nil
end

-- The locals of the session by name; inputs see them before the globals.
local function locals_by_name() return select(2, session_locals.all()) end

-- The place that the steps of a path lead to; nil if there is none.
local function follow(...)
  local place = { value = _G }
  for i = 1, select('#', ...) do
    local step = select(i, ...)
    local mark, rest = sub(step, 1, 1), sub(step, 2)
    local value
    if i == 1 and mark == '.' then value = session_locals.value_of(rest) end
    if value ~= nil then
      place = { value = value }
    elseif mark == '.' then
      place = field(place, rest)
    elseif mark == '"' then
      place = { value = '' }
    elseif mark == '#' then
      place = element(place, rest)
    else
      place = result_of_call(place, rest)
    end
    if not place then return nil end
  end
  return place
end

--- The value that a dotted path of names leads to; nil where there is none.
function completion.value_at(path)
  local steps = {}
  for name in string.gmatch(path, '[^.]+') do steps[#steps + 1] = '.' .. name end
  local place = #steps > 0 and follow(unpack(steps))
  if place then return place.value end
end

-- ------------------------------------------------------------------- names

-- The parameters of a function, as written in Lua.
function completion.parameters_of(f)
  local info = getinfo(f, 'u')
  local names = {}
  for i = 1, info.nparams or 0 do names[i] = getlocal(f, i) or '?' end
  if info.isvararg then names[#names + 1] = '...' end
  return table.concat(names, ', ')
end

-- Adds four texts to a flat list: a name, the type of its value, the parameters of a function, and
-- '1' for an operation, whose forms Python knows.
local function add(list, name, value)
  local kind = type(value)
  local parameters, is_operation = '', nil
  if kind == 'function' then
    local source = source_of(value)
    if source ~= '=[C]' then parameters = completion.parameters_of(value) end
    is_operation = find(source, '^=%[th%] core/bridge') or find(source, '^=%[th%] tensor/')
  end
  local n = #list
  list[n + 1], list[n + 2], list[n + 3] = name, kind, parameters
  list[n + 4] = is_operation and '1' or ''
end

-- Adds to a list the keys of a table that are strings with a prefix, until it has `limit` of them.
-- Returns the number of the others; less than that if the deadline passes while they are counted.
-- @param seen the keys that the list has, by name
-- @param any_text whether all strings are added, or only Lua's names
local function add_keys(list, seen, holder, prefix, limit, any_text, deadline)
  local length, more, turns = #prefix, 0, 0
  local key, value = next(holder)
  while key ~= nil do
    if type(key) == 'string' and sub(key, 1, length) == prefix and not seen[key] then
      if #list >= 4 * limit then
        more = more + 1
      elseif any_text or find(key, NAME) then
        seen[key] = true
        add(list, key, value)
      end
    end
    turns = turns + 1
    if turns % NAMES_BETWEEN_LOOKS == 0 and python_calls.ask(host.clock) > deadline then break end
    key, value = next(holder, key)
  end
  return more
end

--- The names that may follow a path.
-- @param prefix what they begin with
-- @param limit how many are wanted; 0 for all
-- @param any_text whether all strings count, or only Lua's names
-- @param ... the steps of the path
-- @return the typename of the object, how many more there are at least, and a flat list: for each
--   name its Lua type, the parameters of a function, and '1' for operations
function completion.names(prefix, limit, any_text, ...)
  local place = follow(...)
  if not place then return '', 0, {} end
  local list, seen, more = {}, {}, 0
  local deadline = limit > 0 and python_calls.ask(host.clock) + MAX_SECONDS or huge
  if limit == 0 then limit = huge end
  if select('#', ...) == 0 then
    more = add_keys(list, seen, locals_by_name(), prefix, limit, any_text, deadline)
  end
  for _, holder in ipairs(tables_of_fields(place)) do
    more = more + add_keys(list, seen, holder, prefix, limit, any_text, deadline)
  end
  return class_name(place.class or raw_metatable(place.value)), more, list
end

--- The type of the value that a path leads to, and its text if it is a string, number or boolean.
function completion.text_of(...)
  local place = follow(...)
  local value = place and place.value
  local kind = type(value)
  if kind == 'string' or kind == 'number' or kind == 'boolean' then return kind, tostring(value) end
  return kind, nil
end

return completion

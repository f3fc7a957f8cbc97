--- Penlight, which the reference's `th` loads for every program: its modules are globals, and
-- `'%d' % 3` formats. Here it is loaded when a program first uses one of these, if it is installed.
-- @module penlight

local penlight = {}

--- Names of modules that hardly any program has for things of its own.
penlight.distinct = 'array2d lapp List MultiMap OrderedMap path pretty seq stringio stringx tablex '
  .. 'utils'
--- The names of its other modules that are globals.
penlight.common = 'app class comprehension config data Date dir file func input lexer Map operator '
  .. 'Set sip test text types xml'

local is_distinct, is_global = {}, {}
for name in penlight.distinct:gmatch('%S+') do is_distinct[name], is_global[name] = true, true end
for name in penlight.common:gmatch('%S+') do is_global[name] = true end

-- Calls a function, and leaves the globals that it makes out of `who`.
local function hidden(f, ...)
  local before = {}
  for name in pairs(_G) do before[name] = true end
  local results = { f(...) }
  local known = _G._preloaded_
  if type(known) ~= 'table' then return unpack(results) end
  for name in pairs(_G) do known[name] = known[name] or not before[name] or nil end
  return unpack(results)
end

local is_loaded = false
local searched_path -- package.path when it was looked for last

local function open()
  require 'pl'
  local mt = getmetatable(_G)
  local index = mt.__index
  function mt.__index(globals, name)
    if is_global[name] then return hidden(index, globals, name) end
    return index(globals, name)
  end
  local text = _G.text
  if text and text.format_operator then text.format_operator() end
end

-- Lets Penlight make its globals. Returns false where it is not found.
local function load()
  if is_loaded or searched_path == package.path then return is_loaded end
  searched_path = package.path
  -- Any file might be named pl.lua.
  is_loaded = pcall(require, 'pl.import_into') and pcall(hidden, open)
  return is_loaded
end

--- To be called when all other globals are there.
function penlight.prepare()
  setmetatable(_G, {
    __index = function(globals, name)
      if is_global[name] and not is_loaded and load() then return globals[name] end
    end,
  })
  getmetatable('').__mod = function(a, b)
    if load() then return a % b end
    error('attempt to perform arithmetic on a string value', 2)
  end
end

--- What is to be done about an error, where that is that Penlight is not installed; or ''.
function penlight.advice(message)
  local name = message:match("global '(%w+)' %(a nil value%)") or ''
  if is_loaded or not is_distinct[name] then return '' end
  return ("%s is a module of Penlight, which Torch7's th had loaded: th --install penlight")
    :format(name)
end

return penlight

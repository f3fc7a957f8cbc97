--- Loads modules whose files have changed anew, in place: code that holds a module's table, a class
-- or an object finds the new functions there.
--
-- The fields of the new table are written into the table that the module returned before, and
-- torch.class gives a file its own classes again (see core/classes.lua). Functions that the file no
-- longer has are removed; other values stay. If the file does not compile, or raises an error,
-- everything is as before.
-- @module reloading

local host, classes, python_calls = import('host', 'core.classes', 'core.python_calls')
local calls, shell, required = import('engine.calls', 'engine.shell', 'packages.require')
local loading = import 'stopping.loading'
local modules = required.modules

local reloading = {}

local getinfo, getupvalue, setupvalue = debug.getinfo, debug.getupvalue, debug.setupvalue
local raw_metatable, set_metatable = debug.getmetatable, debug.setmetatable
local huge = math.huge

local source      -- the name of the file, as debug.getinfo tells it of the functions there
local before      -- table -> the fields and the metatable that it had before

-- Notes the fields and the metatable of a table that may be changed.
local function note(t)
  if before[t] then return end
  local fields = {}
  for key, value in next, t do fields[key] = value end
  before[t] = { fields = fields, metatable = raw_metatable(t) }
end

-- Gives all noted tables back what they had.
local function undo()
  for t, was in next, before do
    for key in next, t do
      if was.fields[key] == nil then rawset(t, key, nil) end
    end
    for key, value in next, was.fields do rawset(t, key, value) end
    set_metatable(t, was.metatable)
  end
end

local function is_of_file(value)
  return type(value) == 'function' and getinfo(value, 'S').source == source
end

-- Removes the functions of the file that the new version has not replaced.
local function remove_old_functions(t)
  for key, value in next, before[t].fields do
    if rawequal(rawget(t, key), value) and is_of_file(value) then rawset(t, key, nil) end
  end
end

-- Replaces the new table of the module by the old one in the upvalues of a table's functions.
local function redirect(t, new, old, seen)
  local function visit(f)
    if seen[f] or not is_of_file(f) then return end
    seen[f] = true
    for index = 1, huge do
      local name, value = getupvalue(f, index)
      if not name then break end
      if rawequal(value, new) then setupvalue(f, index, old) else visit(value) end
    end
  end
  for _, value in next, t do visit(value) end
end

-- Fills the old table of the module from the new one, and lets all code refer to the old one.
local function replace_table(old, new)
  for key, value in next, new do rawset(old, key, value) end
  set_metatable(old, raw_metatable(new))
  local seen = {}
  for t in next, before do redirect(t, new, old, seen) end
  for key, value in next, _G do
    if rawequal(value, new) then rawset(_G, key, old) end
  end
end

-- Runs the file again, and brings what it has made into the old tables.
local function run_anew(main_chunk, name)
  local loaded = package.loaded
  local old = loaded[name]
  note(_G)
  note(loaded)
  if type(old) == 'table' then note(old) end
  local new = main_chunk(name)
  if type(old) == 'table' and type(new) == 'table' and not rawequal(old, new) then
    replace_table(old, new)
  elseif new ~= nil then
    loaded[name] = new
  end
  for t in next, before do
    if t ~= loaded then remove_old_functions(t) end
  end
end

local function stamp_of(path)
  local stamp = python_calls.ask(host.os_stamp, path)
  return type(stamp) == 'string' and stamp or nil
end

--- The names of the required modules whose files have changed since they were loaded, each with a
-- newline behind it, in the order in which they were loaded.
function reloading.changed()
  local names = ''
  for _, name in ipairs(modules) do
    local stamp = stamp_of(modules[name].path)
    if stamp and stamp ~= modules[name].stamp then names = names .. name .. '\n' end
  end
  return names
end

--- Loads a module anew. Returns nothing if that is done; false if no module of this name was loaded
-- from a file; the message and the traceback of an error.
function reloading.reload(name)
  local module = modules[name]
  if not module or package.loaded[name] == nil then return false end
  module.stamp = stamp_of(module.path) or module.stamp
  local f, message = shell.compile_file(module.path)
  if not f then return message, '' end
  source, before = getinfo(f, 'S').source, {}
  classes.note_redeclared_by(note)
  local failure, frames = calls.run(run_anew, loading.prepare(f), name)
  if failure then undo() end
  before = nil
  classes.note_redeclared_by(nil)
  if failure then return failure, frames end
end

return reloading

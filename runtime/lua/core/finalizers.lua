--- Finalizers and debug hooks of the program, which do not run while th works on raw memory.
-- Lua's collector runs a finalizer wherever memory is allocated, and LuaJIT wherever it leaves
-- compiled code; a hook runs at any line. Both may resize any storage, and so free memory that a
-- function of ours has addresses of. So what works with addresses begins with `begin_work`, and
-- ends with `end_work`. Finalizers wait until then. An error in between may leave `at_work` set:
-- then they wait for the end of the next work. Hooks see nothing of what happens within functions
-- of ours, as they see nothing of what happens within Torch7's, which are C.
-- @module finalizers

local ffi, errors = import('ffi', 'core.errors')

local finalizers = {}

local type, pcall, rawset, select, setmetatable = type, pcall, rawset, select, setmetatable
local plain_gc, plain_metatype, plain_newproxy = ffi.gc, ffi.metatype, newproxy
finalizers.newproxy = plain_newproxy -- for objects of ours
local plain_setmetatable = debug.setmetatable
local plain_sethook, plain_gethook, getinfo = debug.sethook, debug.gethook, debug.getinfo
finalizers.sethook = plain_sethook -- for a hook of ours
local is_ours = errors.is_ours

-- luacheck: globals rawset newproxy debug.setmetatable debug.sethook debug.gethook

local at_work, count = false, 0 -- whether finalizers wait, and how many do
local waiting = {} -- finalizer and object, in turn

--- Lets finalizers wait, until `end_work`.
function finalizers.begin_work()
  at_work = true
end

local function run_waiting()
  local calls, all = waiting, count
  waiting, count = {}, 0
  for i = 1, all do pcall(calls[2 * i - 1], calls[2 * i]) end -- LuaJIT ignores errors here, too
end

--- Runs the finalizers that have waited.
function finalizers.end_work()
  at_work = false
  if count > 0 then run_waiting() end
end

local made = setmetatable({}, { __mode = 'kv' }) -- finalizer -> the function below

-- A finalizer that waits while th is at work.
local function deferred(f)
  if type(f) ~= 'function' and type(f) ~= 'cdata' then return f end
  local known = made[f]
  if known then return known end
  local function finalize(object)
    if not at_work then return f(object) end
    waiting[2 * count + 1], waiting[2 * count + 2], count = f, object, count + 1
  end
  made[f], made[finalize] = finalize, finalize
  return finalize
end
finalizers.deferred = deferred

-- ------------------------------------------------------ how programs set finalizers

local of_metatables = { __newindex = function(mt, key, value)
  rawset(mt, key, key == '__gc' and deferred(value) or value)
end }

--- Lua's newproxy: what is set as the finalizer of the new metatable waits.
function newproxy(value)
  local proxy = plain_newproxy(value)
  if value == true then setmetatable(getmetatable(proxy), of_metatables) end
  return proxy
end

local function replace_finalizer(mt)
  local f = type(mt) == 'table' and rawget(mt, '__gc')
  if f then rawset(mt, '__gc', deferred(f)) end
end

function debug.setmetatable(value, mt)
  if type(value) == 'userdata' then replace_finalizer(mt) end
  return plain_setmetatable(value, mt)
end

function ffi.gc(object, f)
  return plain_gc(object, deferred(f))
end

function ffi.metatype(ctype, mt)
  replace_finalizer(mt)
  return plain_metatype(ctype, mt)
end

-- ------------------------------------------------------ hooks

local hooks = setmetatable({}, { __mode = 'kv' }) -- hook -> the function below, and back

-- Tells whether a hook is called for an event in a function of th's that the program has called.
local function is_within_th(event)
  local info = getinfo(3, 'S') -- behind this function and the hook
  if event ~= 'line' and event ~= 'count' and (info.what == 'C' or is_ours(info.source)) then
    info = getinfo(4, 'S') -- a call, or a return: the program sees those of its own
  end
  return info ~= nil and is_ours(info.source)
end

-- A hook that sees functions of th's as those of C: that they are called.
local function blind_hook(f)
  if type(f) ~= 'function' then return f end
  local known = hooks[f]
  if known then return known end
  local function hook(event, line)
    if not is_within_th(event) then return f(event, line) end -- a tail call: it adds no level
  end
  hooks[f], hooks[hook] = hook, f
  return hook
end

finalizers.blind_hook = blind_hook

function debug.sethook(...)
  local f = ...
  if type(f) ~= 'thread' then return plain_sethook(blind_hook(f), select(2, ...)) end
  return plain_sethook(f, blind_hook((select(2, ...))), select(3, ...))
end

local function as_set(hook, ...)
  return hooks[hook] or hook, ...
end

function debug.gethook(...)
  return as_set(plain_gethook(...))
end

return finalizers

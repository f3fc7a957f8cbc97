--- Keeps Python objects alive as long as Lua refers to them, in two cases in which lupa does not.
--
-- lupa keeps one reference to a Python object, by the object's address, for the userdata that
-- stands for it in Lua, and finds that userdata again in a weak table. The collector first clears
-- the entry in the weak table and later finalizes the userdata. If the object is passed to Lua
-- again in between, it gets a second userdata; the finalizer of the first one then drops the
-- reference that the second one needs. So the userdata of objects that may be passed several
-- times are counted here, and only the finalizer of the last one drops the reference.
--
-- The other case: where the collector has cleared an entry of the weak table, its slot is put on
-- lupa's list of free slots only by the finalizer. If the list is empty in between, lupa takes that
-- slot for a free one. So the list is never allowed to become empty.
-- @module references

local ffi, collector = import('ffi', 'core.collector')

local references = {}

local collect = collector.collect

local registry = debug.getregistry()
local slots = registry.LUPA_PYTHON_REFERENCES_TABLE -- [0]: the first slot of the list of free slots
local class = registry.POBJECT
local finalize = class.__gc

local weak = { __mode = 'k' }
-- Userdata of tensors, storages … -> their Python objects: see bridge.lua.
references.objects = setmetatable({}, weak)
local addresses = setmetatable({}, weak) -- userdata -> address of its Python object
local counts = {}                        -- address -> number of userdata

function class.__gc(object)
  local address = addresses[object]
  if address then
    local count = counts[address] - 1
    counts[address] = count > 0 and count or nil
    if count > 0 then return end
  end
  return finalize(object)
end

--- Lets calls of Python objects do nothing from now on: the engine is being closed.
function references.leave_python()
  class.__call = function() end
end

local halves = ffi.new('int32_t[2]')

--- Counts the userdata of a Python object that may be passed to Lua more than once: a storage.
-- To be called with what Python has returned, before anything is allocated: otherwise the collector
-- may run the finalizer of another userdata before this one is counted.
function references.track(object)
  if addresses[object] then return end
  ffi.copy(halves, object, 8) -- a cast, or an int64_t, would be allocated
  local address = halves[1] * 2 ^ 32 + halves[0]
  -- In this order: if there is no memory for the second statement, the object is only never freed.
  counts[address] = (counts[address] or 0) + 1
  addresses[object] = address
end

local SPARE = 1024 -- free slots: enough for the objects between two calls of spare_slots
local top = 0

-- Makes sure that the list has at least SPARE free slots.
local function spare_slots()
  local slot, free_slots = slots[0] or 0, 0
  while slot ~= 0 and free_slots < SPARE do slot, free_slots = slots[slot], free_slots + 1 end
  if free_slots == SPARE then return end
  slot, top = slots[0] or 0, math.max(top, table.maxn(slots))
  for i = top + 1, top + 4 * SPARE do slots[i], slot = slot, i end
  top, slots[0] = top + 4 * SPARE, slot
end
spare_slots()

-- Lua's collector does not know how much memory Python objects take. Each counts as one kB: after
-- COUNT objects the collector does as much work as for COUNT kB.
-- An object is freed after several cycles (one for its userdata, one for lupa's, one for what it
-- has kept in Lua). With the collector's own pauses between cycles, more and more would
-- accumulate.
local COUNT = 256
local made = 0

--- To be called for each Python object that is passed to Lua.
function references.count_object()
  made = made + 1
  if made >= COUNT then
    made = 0
    spare_slots()
    collect(COUNT)
  end
end

return references

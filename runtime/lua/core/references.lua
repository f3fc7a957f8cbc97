--- How long Python objects live that Lua refers to: mends what the embedding library leaves open.
--
-- The library keeps one reference to a Python object, by the object's address, for the
-- userdata that stands for it in Lua, and finds that userdata again in a weak table. Between
-- the moment the collector clears the weak table and the moment it finalizes the userdata,
-- the same object may come to Lua once more: then the finalizer of the first userdata drops
-- the reference that the second one needs. And the slots of the weak table that are cleared
-- but not yet given back look free to the library while its list of free slots is empty.
-- So the userdata of objects that come more than once are counted here, the last one drops
-- the reference, and there are always free slots on the list.
-- @module references

local th = ...
local ffi = require 'ffi'

local tonumber, collect = tonumber, th.collect

local registry = debug.getregistry()
local slots = registry.LUPA_PYTHON_REFERENCES_TABLE -- [0]: head of the list of free slots
local class = registry.POBJECT
local finalize = class.__gc

local weak = { __mode = 'k' }
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

--- Lets Lua call nothing of Python's any more.
function th.leave_python()
  class.__call = function() end
end

local words = ffi.typeof('intptr_t *')

--- Counts the userdata of a Python object that may come to Lua more than once: a storage.
function th.track(object)
  if addresses[object] then return end
  local address = tonumber(ffi.cast(words, object)[0])
  -- In this order: without memory for the second one the object only stays for ever.
  counts[address] = (counts[address] or 0) + 1
  addresses[object] = address
end

local SPARE = 1024 -- free slots that are enough until the next look
local top = 0

-- Makes sure that the list of free slots has some to spare.
local function spare_slots()
  local slot, found = slots[0] or 0, 0
  while slot ~= 0 and found < SPARE do slot, found = slots[slot], found + 1 end
  if found == SPARE then return end
  slot, top = slots[0] or 0, math.max(top, table.maxn(slots))
  for i = top + 1, top + 4 * SPARE do slots[i], slot = slot, i end
  top, slots[0] = top + 4 * SPARE, slot
end
spare_slots()

-- Python objects count as a kB each for Lua's collector, which does not see how large they
-- are. One takes several cycles to go (its userdata, itself, what it kept in Lua): with the
-- collector's own pauses ever more of them would pile up.
local COUNT = 256
local made = 0

--- Is called for each Python object that comes to Lua.
function th.count_object()
  made = made + 1
  if made >= COUNT then
    made = 0
    spare_slots()
    collect(COUNT)
  end
end

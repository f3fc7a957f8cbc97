--- The parts that a tensor's or storage's userdata keeps alive: its struct, and its anchor.
--
-- A table with weak keys keeps what it holds for one cycle of the collector more than the key. So
-- the userdata alone holds these, in its environment, a table that is called its holder. Tables
-- find holders and structs by weak values: tensors are freed by the first cycle.
-- @module keep_alive

local class_ids, finalizers = import('core.class_ids', 'core.finalizers')

local keep_alive = {}

local type, setmetatable, newproxy = type, setmetatable, finalizers.newproxy
local get_environment, set_environment = debug.getfenv, debug.setfenv

keep_alive.weak_both = { __mode = 'kv' }
local holders = setmetatable({}, keep_alive.weak_both) -- userdata -> holder
keep_alive.holders = holders

-- In a holder. A program that asks for the environment gets the last one.
local STRUCT, ANCHOR, ENVIRONMENT = 1, 2, 3
keep_alive.STRUCT, keep_alive.ANCHOR = STRUCT, ANCHOR

--- Makes the holder of a userdata.
function keep_alive.new_holder(value, ...) -- luacheck: ignore 212
  local holder = { false, nil }
  if holders[value] then return holders[value] end -- a finalizer has made one meanwhile
  holders[value] = holder
  set_environment(value, holder)
  return holder
end
local new_holder = keep_alive.new_holder

--- Returns the anchor, which keeps memory, of a tensor or storage without a Python object; or nil.
function keep_alive.anchor_of(value)
  local holder = holders[value]
  return holder and holder[ANCHOR]
end

--- Sets what keeps the memory; nil for a value that has a Python object.
function keep_alive.set_anchor(value, anchor)
  local holder = holders[value] or new_holder(value)
  holder[ANCHOR] = anchor
end

--- Registers a struct.
-- @param structs the table of its class
function keep_alive.set_struct(structs, value, struct)
  local holder = holders[value] or new_holder(value)
  holder[STRUCT] = struct
  structs[value] = struct
end

-- luacheck: globals debug.getfenv debug.setfenv
function debug.getfenv(...)
  local holder = holders[(...)]
  if not holder then return get_environment(...) end
  return holder[ENVIRONMENT] or get_environment(newproxy)
end

function debug.setfenv(...)
  local value, environment = ...
  if type(environment) ~= 'table' or not class_ids.class_of(value) then
    return set_environment(...)
  end
  local holder = holders[value] or new_holder(value)
  holder[ENVIRONMENT] = environment
  return value
end

return keep_alive

--- What a tensor's or storage's userdata keeps alive: its struct, and its anchor.
--
-- A table with weak keys keeps what it holds for one cycle of the collector more than the key. So
-- the userdata alone holds these, in its environment, a table that is called its holder. Tables
-- find holders and structs by weak values: tensors are freed by the first cycle.
-- @module holders

local th = ...

local type, setmetatable, newproxy = type, setmetatable, th.newproxy
local get_environment, set_environment = debug.getfenv, debug.setfenv

th.weak_both = { __mode = 'kv' }
local holders = setmetatable({}, th.weak_both) -- userdata -> holder
th.holders = holders

-- In a holder. A program that asks for the environment gets the last one.
local STRUCT, ANCHOR, ENVIRONMENT = 1, 2, 3
th.STRUCT, th.ANCHOR = STRUCT, ANCHOR

--- Makes the holder of a userdata.
function th.new_holder(value, ...) -- luacheck: ignore 212
  local holder = { false, nil }
  if holders[value] then return holders[value] end -- a finalizer has made one meanwhile
  holders[value] = holder
  set_environment(value, holder)
  return holder
end
local new_holder = th.new_holder

--- What keeps the memory of a tensor or storage that has no Python object; nil for others.
function th.anchor_of(value)
  local holder = holders[value]
  return holder and holder[ANCHOR]
end

--- Sets what keeps the memory; nil for a value that has a Python object.
function th.set_anchor(value, anchor)
  local holder = holders[value] or new_holder(value)
  holder[ANCHOR] = anchor
end

--- Registers a struct.
-- @param structs the table of its class
function th.set_struct(structs, value, struct)
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
  if type(environment) ~= 'table' or not th.class_of(value) then return set_environment(...) end
  local holder = holders[value] or new_holder(value)
  holder[ENVIRONMENT] = environment
  return value
end

--- The ids by which Python knows torch's classes.
-- @module class_ids

local host, classes = import('host', 'core.classes')

local class_ids = {}

local raw_metatable = debug.getmetatable

-- Class id (see runtime/calls/results.py) -> a userdata from which newproxy makes others.
local prototypes = {}
class_ids.prototypes = prototypes
local ids = setmetatable({}, { __mode = 'k' }) -- metatable -> class id

--- Associates a class id of Python's with a metatable.
function class_ids.bind_class(id, mt)
  prototypes[id] = classes.proxy(mt)
  ids[mt] = id
end

local OTHERS = {}
for name in host.OTHERS:gmatch('%S+') do OTHERS[#OTHERS + 1] = name end

--- Associates the id of a class that is neither of tensors nor of storages with a metatable.
-- @param name its name in runtime/calls/class_ids.py
function class_ids.bind_other_class(name, mt)
  for i = 1, #OTHERS do
    if OTHERS[i] == name then class_ids.bind_class(host.FIRST_OTHER + i - 1, mt) end
  end
end

--- The class id that is associated with a metatable, or nil.
function class_ids.class_of_metatable(mt)
  return ids[mt]
end

--- The class id that is associated with a value's metatable, or nil.
function class_ids.class_of(value)
  return ids[raw_metatable(value)]
end

return class_ids

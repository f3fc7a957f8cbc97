--- The modules threads.serialize and threads.sharedserialize: objects as strings, for threads.
-- The second one leaves the elements of tensors and storages where they are: what it reads has the
-- same memory as what was written.
-- @module threads_serialize

local name = ...
local bridge, errors, serial = import('core.bridge', 'core.errors', 'files.serialize')

local function plain_save(object) return torch.serialize(object) end
local function plain_load(text) return torch.deserialize(text) end

if name == 'threads.serialize' then return { save = plain_save, load = plain_load } end

require 'tds' -- whose objects jobs may have, too

local python = bridge.python_half 'threads'

-- Calls f while tensors and storages write and read numbers in the place of their elements.
local function with_numbers(f, ...)
  serial.numbered = { write = python.share, read = python.shared }
  return errors.finally(function(ok)
    serial.numbered = false
    if not ok then python.forget() end
  end, f, ...)
end

return {
  save = function(object) return with_numbers(plain_save, object) end,
  load = function(text) return with_numbers(plain_load, text) end,
}

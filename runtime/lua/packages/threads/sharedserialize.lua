--- The module threads.sharedserialize: see serialize.lua.
-- @module threads_sharedserialize

local th = ...

return th.chunk('packages/threads/serialize')(th, true)

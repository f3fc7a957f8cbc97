--- Starts the Lua half of the runtime: loads the modules beside this file in order.
-- Each module is a chunk that gets one table, `th`, and adds what it owns to it. `th` is
-- private; what user code sees are the globals that the modules set on purpose.
-- All chunks are named '[th] ...', by which errors.lua tells our frames from the user's.
-- @script init

local host, source = ...

local th = { host = host, torch = {} }

--- Loads a module of ours; a template may be loaded many times, for separate traces.
function th.chunk(name)
  local chunk, message = loadstring(source(name), '=[th] ' .. name .. '.lua')
  if not chunk then error(message) end
  return chunk
end

for _, name in ipairs{
  'compat', 'errors', 'class', 'references', 'bridge', 'ctypes', 'elements', 'jobs', 'team',
  'small', 'storage', 'tensor', 'torch', 'utility', 'timer', 'kernels', 'random', 'files',
  'file_methods', 'file_tensors', 'serialize', 'deserialize', 'saving', 'print', 'shell', 'output',
  'tester', 'cmdline', 'packages',
} do
  th.chunk(name)(th)
end
th.finish_globals()

return th.shell

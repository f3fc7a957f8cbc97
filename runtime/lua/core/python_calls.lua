--- Calls of functions of runtime/host, which take and return plain values.
-- @module python_calls

local errors, references = import('core.errors', 'core.references')

local python_calls = {}

local type, byte, sub = type, string.byte, string.sub
local count_object = references.count_object

--- Calls a function of runtime/host with plain values; raises the error that it returns.
-- A string that the function returns begins with '\1'; bytes that do not are an error.
function python_calls.ask(f, ...)
  count_object()
  local r, a, b = f(...)
  if type(r) == 'string' then
    if byte(r, 1) == 1 then return sub(r, 2) end
    return errors.raise(r)
  end
  return r, a, b
end

return python_calls

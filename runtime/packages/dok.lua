--- dok: the functions of the reference's package dok by which functions of other packages read
-- named arguments and report wrong calls. Its pages of help are not here: `?` shows th's own.
-- @module dok

local errors = import 'core.errors'

-- luacheck: globals xlua sys
local dok = { colors = sys.COLORS, error = xlua.error, usage = xlua.usage }
_G.dok = dok

--- Reads a function's arguments as xlua.unpack does; a call without arguments has the defaults.
function dok.unpack(args, ...)
  if #args == 0 then args = { {} } end
  return xlua.unpack(args, ...)
end

errors.make_public(dok, 'unpack')
return dok

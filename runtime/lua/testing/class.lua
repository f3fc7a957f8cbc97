--- The class torch.Tester.
-- @module tester_class

local errors = import 'core.errors'

local Tester = torch.class('torch.Tester', torch)

local tester_class = { Tester = Tester }

--- Makes methods public (errors.public) for every self but a Tester: those that are called very
-- often and that raise none of Lua's own errors for a Tester. A string lists their names.
function tester_class.make_fast_methods(names)
  for name in names:gmatch('%S+') do
    local method = Tester[name]
    local public = errors.public(method)
    Tester[name] = function(self, ...)
      if getmetatable(self) == Tester then return method(self, ...) end
      return public(self, ...)
    end
  end
end

return tester_class

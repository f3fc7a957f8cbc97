--- image: what is printed where a function is called wrongly.
-- @module image_usage

local th = ...

-- luacheck: globals xlua
local xlua = xlua

--- Prints how a function is called.
-- @param forms its forms, with an empty line between them: for each argument a line of its type,
--   with '!' where it must be given, and two blanks and what it is
function th.image_usage(name, description, forms)
  local params = {}
  for line in (forms .. '\n'):gmatch('(.-)\n') do
    local kind, needed, help = line:match('^(.-)(!?)  (.*)$')
    params[#params + 1] = kind and { type = kind, req = needed == '!', help = help } or ''
  end
  print(xlua.usage(name, description, nil, unpack(params)))
end

--- Reads the arguments of a function that takes an optional destination and one source.
-- @return destination or nil, source
function th.image_source(name, description, n, a, b)
  if n == 2 then return a, b end
  if n == 1 then return nil, a end
  th.image_usage(name, description,
    'torch.Tensor!  image\n\ntorch.Tensor!  destination\ntorch.Tensor!  image')
  xlua.error('missing input', name)
end

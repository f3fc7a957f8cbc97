--- image: how arguments are read, and what is printed where a function is called wrongly.
-- @module image_usage

local th = ...

local select, unpack = select, unpack

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

--- The forms of a function whose arguments may begin with a destination: with it and without.
function th.image_forms(form, destination)
  return form .. '\n\n' .. (destination or 'torch.Tensor!  destination') .. '\n' .. form
end

--- A function that reads arguments which may begin with a destination; it returns the destination
-- or nil, and the others. Of a wrong number of arguments it raises an error, below the usage.
-- @param call how the function is called: its `name`, what it `does`, its `forms`; of the arguments
--   without a destination the `least` and the `most`, 1 if not given; has_target(n, …), whether
--   there is a destination among n arguments whose number does not tell; the `complaint`, and whom
--   it is `of` if not of the function itself
function th.image_reader(call)
  local least, most = call.least or 1, call.most or call.least or 1
  return function(...)
    local n = select('#', ...)
    if n > most + 1 or n < least then
      th.image_usage(call.name, call.does, call.forms)
      xlua.error(call.complaint or 'incorrect arguments', call.of or call.name)
    end
    if n > most or n > least and call.has_target(n, ...) then return ... end
    return nil, ...
  end
end

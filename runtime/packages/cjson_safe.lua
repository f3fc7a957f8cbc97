--- The package cjson.safe: cjson whose functions return nil and a message in the place of errors.
-- @module cjson_safe

local function safely(f)
  local function finish(ok, ...)
    if ok then return ... end
    return nil, ((...):gsub('^[^:]*:%d+: ', ''))
  end
  return function(...) return finish(pcall(f, ...)) end
end

local function make(cjson)
  local safe = {}
  for name, value in pairs(cjson) do safe[name] = value end
  safe.encode, safe.decode = safely(cjson.encode), safely(cjson.decode)
  function safe.new() return make(cjson.new()) end
  return safe
end

return make(require('cjson').new())

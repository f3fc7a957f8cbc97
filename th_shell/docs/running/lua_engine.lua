--- The engine for pages of any Lua: speaks the protocol of protocol.py in plain Lua 5.1 or LuaJIT,
-- with torch where there is one. th-docs runs it as `COMMAND lua_engine.lua`.
-- @script lua_engine

-- luacheck: globals torch

local requests, replies = assert(io.open('/dev/fd/3', 'rb')), assert(io.open('/dev/fd/4', 'wb'))
local loadstring, print = loadstring or load, print
local xpcall, select, tostring, time, date = xpcall, select, tostring, os.time, os.date
local stdout = io.stdout
stdout:setvbuf('no')
replies:setvbuf('no')

pcall(require, 'torch')
pcall(require, 'trepl') -- prints tables by their contents

local function reply(name, body)
  body = body or ''
  replies:write(name, ' ', #body, '\n', body, '\n')
end

local function message(object)
  return type(object) == 'table' and tostring(object) or object
end

local function compile(source)
  local chunk, problem = loadstring(source, '=stdin')
  if not chunk then error(problem, 0) end
  return chunk
end

-- Prints the values of an expression, once th-docs knows that all before was printed by itself.
local function show(_, ...)
  _G._LAST = (...)
  if select('#', ...) == 0 then return end
  reply('values')
  requests:read('*l')
  local shown = _G.print or print
  shown(...)
end

local acts = {}

function acts.begin(body)
  local given = {}
  for name, number in body:gmatch('(%a+) (%d+)') do given[name] = tonumber(number) end
  if torch then torch.manualSeed(given.seed or 1) end
  local later = given.clock or 0
  function os.time(at) return at and time(at) or time() + later end
  function os.date(format, at) return date(format or '%c', at or time() + later) end
end

function acts.block()
  if torch then pcall(torch.setdefaulttensortype, 'torch.DoubleTensor') end
end

function acts.seed(number)
  math.randomseed(tonumber(number))
  if torch then torch.manualSeed(tonumber(number)) end
end

function acts.run(source)
  compile(source)()
end

function acts.input(source)
  local text = source:gsub('^%s*=?', '', 1)
  local plain = text:gsub('[%s;]+$', '')
  -- `return f(x)` would be a tail call, whose position is missing in errors: so two values.
  local expression = loadstring('return nil, ' .. plain .. '\n', '=stdin')
  if not expression then return show(nil, compile(text)()) end -- it may be 'return x'
  if text:find(';%s*$') then
    expression()
  else
    show(expression())
  end
end

while true do
  local name, size = (requests:read('*l') or ''):match('^(%a+) (%d+)$')
  if not name then break end
  local body = tonumber(size) > 0 and requests:read(tonumber(size)) or ''
  requests:read(1)
  local act = acts[name]
  local ok, problem = true, nil
  if act then ok, problem = xpcall(function() act(body) end, message) end
  stdout:flush()
  if ok then reply('done') else reply('error', tostring(problem)) end
end

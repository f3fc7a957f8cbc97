--- The engine for pages of any Lua: speaks the protocol of protocol.py in plain Lua 5.1 or LuaJIT,
-- with torch where there is one. th-docs runs it as `COMMAND lua_engine.lua begin.lua`.
-- @script lua_engine

-- A page may take away or replace whatever is global, even the methods of strings and files: so the
-- engine keeps what it uses.
local globals, loadstring, print = _G, loadstring or load, print
local error, pcall, xpcall, select, type = error, pcall, xpcall, select, type
local rawget, rawset, tonumber, tostring = rawget, rawset, tonumber, tostring
local find, gsub, match = string.find, string.gsub, string.match
local begin = assert(loadfile(table.remove(arg, 1)))
local stdout = io.stdout
local requests, replies = assert(io.open('/dev/fd/3', 'rb')), assert(io.open('/dev/fd/4', 'wb'))
local read, write, flush = requests.read, replies.write, stdout.flush
stdout:setvbuf('no')
replies:setvbuf('no')

pcall(require, 'torch')
pcall(require, 'trepl') -- prints tables by their contents

local function reply(name, body)
  body = body or ''
  write(replies, name, ' ', #body, '\n', body, '\n')
end

local function message(object)
  return type(object) == 'table' and tostring(object) or object
end

local function compile(source)
  local chunk, problem = loadstring(source, '=stdin', 't')
  if not chunk then error(problem, 0) end
  return chunk
end

-- Prints the values of an expression, once th-docs knows that all before was printed by itself.
local function show(_, ...)
  rawset(globals, '_LAST', (...))
  if select('#', ...) == 0 then return end
  reply('values')
  read(requests, '*l')
  local shown = rawget(globals, 'print') or print
  shown(...)
end

local acts = {}

function acts.begin(body)
  local torch = rawget(globals, 'torch')
  if torch then torch.manualSeed(tonumber(match(body, 'seed (%d+)') or 1)) end
  begin(body)
end

function acts.block()
  local torch = rawget(globals, 'torch')
  if torch then torch.setdefaulttensortype('torch.DoubleTensor') end
end

function acts.seed(number)
  math.randomseed(tonumber(number))
  local torch = rawget(globals, 'torch')
  if torch then torch.manualSeed(tonumber(number)) end
end

function acts.run(source)
  compile(source)()
end

function acts.input(source)
  local text = gsub(source, '^%s*=?', '', 1)
  local plain = match(text, '^(.*[^%s;])') or ''
  -- `return f(x)` would be a tail call, whose position is missing in errors: so two values.
  local expression = loadstring('return nil, ' .. plain .. '\n', '=stdin')
  if not expression then return show(nil, compile(text)()) end -- it may be 'return x'
  if find(text, ';%s*$') then
    expression()
  else
    show(expression())
  end
end

while true do
  local name, size = match(read(requests, '*l') or '', '^(%a+) (%d+)$')
  if not name then break end
  local body = tonumber(size) > 0 and read(requests, tonumber(size)) or ''
  read(requests, 1)
  local act = acts[name]
  local ok, problem = true, nil
  if act then ok, problem = xpcall(function() act(body) end, message) end
  pcall(flush, stdout)
  if ok then reply('done') else reply('error', tostring(problem)) end
end

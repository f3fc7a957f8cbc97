--- sys: the functions of the reference's package sys: clock, shell commands, colours.
-- @module sys

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')

local getinfo = debug.getinfo

-- luacheck: globals sys paths
local sys = {}
_G.sys = sys

-- --------------------------------------------------------------------- time

function sys.clock() return (python_calls.ask(host.clock)) end

function sys.usleep(microseconds)
  microseconds = tonumber(microseconds) or 1
  python_calls.ask(host.os_sleep, microseconds / 1e6)
end

function sys.sleep(seconds) sys.usleep(seconds * 1e6) end

local start

function sys.tic() start = sys.clock() end

function sys.toc(verbose)
  if not start then
    errors.fail("attempt to perform arithmetic on upvalue '__t__' (a nil value)")
  end
  local elapsed = sys.clock() - start
  if verbose then print(elapsed) end
  return elapsed
end

-- ----------------------------------------------------------------- commands

local function trim(text)
  return text:match('^%s*(.*%S)') or ''
end

--- The output of a shell command, with its standard error, without white space at both ends.
function sys.execute(command)
  local pipe = assert(io.popen(command .. ' 2>&1'))
  local text = pipe:read('*a')
  pipe:close()
  return trim(text)
end

--- The output of a shell command, with its standard error, through a temporary file.
-- @param what how much to read, as file:read takes it; by default all
function sys.fexecute(command, what)
  local name = os.tmpname()
  os.execute(command .. ' >' .. name .. ' 2>&1')
  local file = assert(io.open(name))
  local text = file:read(what or '*a')
  file:close()
  os.remove(name)
  return trim(text)
end

for name, command in pairs{ ls = 'ls ', ll = 'ls -l ', la = 'ls -a ', lla = 'ls -la ' } do
  sys[name] = function(folder) return sys.execute(command .. (folder or ' ')) end
end

-- ------------------------------------------------------------------- system

local NAMES = { Linux = 'linux', OSX = 'macos', Windows = 'windows' }

function sys.uname() return NAMES[jit.os] or '?' end

sys.OS = sys.uname()
sys.prefix = ''

--- The folder and the name of the file that calls this function.
function sys.fpath()
  local file = getinfo(2, 'S').source:gsub('@', '')
  if file:sub(1, 1) ~= '/' then file = paths.concat(paths.cwd(), file) end
  return paths.dirname(file), paths.basename(file)
end

sys.dirname, sys.concat = paths.dirname, paths.concat

-- ------------------------------------------------------------------ strings

--- The parts of a string between the matches of a pattern; an empty first part is left out.
function sys.split(str, pattern)
  local parts, from = {}, 1
  pattern = pattern:gsub('^%^', '%%^') -- Torch7: stands behind another pattern, and so for itself
  local first, last = str:find(pattern)
  while first do
    if first ~= 1 then parts[#parts + 1] = str:sub(from, first - 1) end
    from = last + 1
    first, last = str:find(pattern, from)
  end
  if from <= #str then parts[#parts + 1] = str:sub(from) end
  return parts
end

function sys.isNaN(number) return number ~= number end

--- Escape sequences for colours. A name with a capital is the bright colour, one with an underscore
-- the colour of the background.
sys.COLORS = { none = '\27[0m' }
for i, name in ipairs{ 'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white' } do
  sys.COLORS[name] = '\27[0;3' .. i - 1 .. 'm'
  sys.COLORS[name:gsub('^%l', string.upper)] = '\27[1;3' .. i - 1 .. 'm'
  sys.COLORS['_' .. name] = '\27[4' .. i - 1 .. 'm'
end

errors.make_public(sys, 'execute fexecute ls ll la lla split')
return sys

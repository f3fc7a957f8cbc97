--- Breakpoints: at lines of files, and at functions by their names. A function is found in the
-- source of each file that is there, or is loaded later.
-- @module breakpoints

local errors, tokens = import('core.errors', 'core.tokens')
local frames, line_calls = import('debugging.frames', 'debugging.line_calls')
local shell = import 'engine.shell'

local funcinfo, funck = require('jit.util').funcinfo, require('jit.util').funck
local byte, find, format, gmatch = string.byte, string.find, string.format, string.gmatch
local gsub, match, sub = string.gsub, string.match, string.sub
local concat = table.concat
local count_lines = tokens.count_lines

local FARTHEST = 100 -- lines behind one without code, in which the next one with code is looked for

local breakpoints = {}

local at_lines = {} -- line -> those at it, by file and what was asked for
breakpoints.at_lines = at_lines
local at_functions = {} -- by numbers
local sources = {} -- the names of the chunks of files -> their sources
local hits = {} -- the key of a breakpoint -> how often the program has come there

-- ------------------------------------------------------------------ places

local names = setmetatable({}, { __index = function(names, source) -- by which they are found
  names[source] = byte(source) == 64 and paths.concat(sub(source, 2)) -- an '@'
    or byte(source) == 61 and sub(source, 2) or ''
  return names[source]
end })

-- Tells whether the name of a chunk is the file that somebody has named, perhaps without its
-- folders.
local function is_named(name, wanted)
  return name == wanted or byte(wanted) ~= 47 and sub(name, -#wanted - 1) == '/' .. wanted
end

--- Tells whether the source of a chunk is the file that somebody has named.
function breakpoints.is_of(source, wanted)
  return is_named(names[source], wanted)
end

-- Calls `visit` with a function, and with those in it, and what LuaJIT knows of each.
local function each_function(f, visit)
  local info = funcinfo(f)
  visit(f, info)
  local n = -1
  local constant = info.children and funck(f, n)
  while constant do
    if type(constant) == 'proto' then each_function(constant, visit) end
    n = n - 1
    constant = funck(f, n)
  end
end

--- Tells whether a file that somebody has named was compiled without calls at its lines, as inputs
-- are.
function breakpoints.is_plain(wanted)
  if byte(wanted) == 91 then return true end -- a '['
  for name in pairs(line_calls.plain_files()) do
    if is_named(names[name], wanted) then return true end
  end
  return false
end

-- The lines of a file with a source at which a program may stop, as keys of a table.
local function lines_of(path, source, f)
  if not breakpoints.is_plain(path) then return line_calls.lines(source) end
  local lines = {}
  each_function(f, function(each, info)
    for i = 1, info.bytecodes - 1 do lines[funcinfo(each, i).currentline] = true end
  end)
  return lines
end

-- The first line with code of those from one to another; nil where there is none.
local function next_line(lines, first, last)
  for i = 0, last - first do -- a line may be too large a number to be counted on from
    if lines[first + i] then return first + i end
  end
end

-- The first line with code from one on, in a file; 0 where there is no such file.
local function line_with_code(path, line)
  local file = io.open(path, 'rb')
  local source = file and gsub(file:read('*a') or '', '^#[^\n]*', '')
  if file then file:close() end
  local f = source and loadstring(source, path)
  return f and next_line(lines_of(path, source, f), line, line + FARTHEST) or 0
end

-- ------------------------------------------------------------------ functions

local DEFINITIONS = { '%%f[%%w_]function%%s+%s%%s*%%(()', '%%f[%%w_]%s%%s*=%%s*function%%s*%%(()' }

local function add(line, breakpoint)
  at_lines[line] = at_lines[line] or {}
  at_lines[line][breakpoint.path .. '\0' .. breakpoint.key] = breakpoint
end

-- Sets the breakpoint of a function where a chunk defines it, and has a line for it alone; tells
-- whether it does. Of nn.Linear, its file has Linear as a local.
local function find_function(breakpoint, chunk)
  local source, path = sources[chunk], names[chunk]
  local name = match(breakpoint.name, '[%w_]+[.:][%w_]+$') or breakpoint.name
  for _, definition in ipairs(DEFINITIONS) do
    for at in gmatch(source, format(definition, gsub(name, '[^%w_]', '[.:]'))) do
      local f, line, last = loadstring(source), 1 + count_lines(sub(source, 1, at - 1)), 0
      each_function(f, function(_, info)
        if info.linedefined == line then last = info.lastlinedefined end
      end)
      local first = next_line(lines_of(path, source, f), line + 1, last)
      if first then
        add(first, setmetatable({ path = path }, { __index = breakpoint }))
        return true
      end
    end
  end
  return false
end

--- Tells whether a file that is being loaded has breakpoints; looks for functions there, and calls
-- `tell` with the numbers of the breakpoints of those that it has.
function breakpoints.wants(chunk, source, tell)
  sources[chunk] = source
  for number, breakpoint in ipairs(at_functions) do
    if breakpoint and find_function(breakpoint, chunk) then tell(number) end
  end
  return breakpoints.any(function(path) return is_named(names[chunk], path) end)
end

-- ------------------------------------------------------------------ deciding

-- Tells whether the program stops at a breakpoint here. If its condition fails, it does, and the
-- message is returned besides.
local function is_met(breakpoint)
  local frame, key = frames.take(true, 1)[1], breakpoint.key
  if breakpoint.condition then
    local ok, value = frames.evaluate(frame, breakpoint.condition)
    if not ok then return true, 'the condition fails: ' .. errors.error_text(value) end
    if not value then return false end
  end
  hits[key] = (hits[key] or 0) + 1
  if breakpoint.counts and not breakpoint.counts(hits[key]) then return false end
  if not breakpoint.log then return true end
  local ok, text = frames.evaluate(frame, breakpoint.log)
  shell.write((ok and text or errors.error_text(text)) .. '\n')
  return false
end

--- The breakpoint of a line at which the program stops, and the message where its condition fails.
-- nil: there is none at that line; false: it does not stop there.
function breakpoints.met(line, source)
  local result
  for _, breakpoint in pairs(at_lines[line] or {}) do
    if is_named(names[source], breakpoint.path) then
      local stops, message = is_met(breakpoint)
      if stops then return breakpoint, message end
      result = false
    end
  end
  return result
end

--- Tells whether `holds` does for the file of any breakpoint.
function breakpoints.any(holds)
  for _, here in pairs(at_lines) do
    for _, breakpoint in pairs(here) do
      if holds(breakpoint.path) then return true end
    end
  end
  return false
end

-- ------------------------------------------------------------------ setting

-- A function that tells whether the program stops when it comes there for so many times.
local function compile_counts(text)
  local sign, number = match(text, '^%s*([<>=%%]*)%s*(%d+)%s*$')
  if sign == '' or sign == '=' then sign = '==' end
  local rest = sign == '%' and ' == 0' or ''
  local f = sign and loadstring('return ... ' .. sign .. number .. rest)
  return f, not f and 'a number of hits is like 3, >= 3 or % 3' or nil
end

-- Code whose value is a log message, with the values of what stands in braces.
local function compile_log(text)
  local pieces = {}
  for plain, code in gmatch(text .. '{""}', '([^{]*)(%b{})') do
    pieces[#pieces + 1] = format('%q..tostring(%s)', plain, sub(code, 2, -2))
  end
  return frames.compile('return ' .. concat(pieces, '..'))
end

local COMPILERS = { condition = frames.compile, counts = compile_counts, log = compile_log }

-- A breakpoint, and the message of what is not understood.
local function new(path, line, ...)
  local key, problem = concat({ path, line, ... }, '\0'), nil
  local breakpoint = { path = path, key = key, name = line == '0' and path }
  for i, part in ipairs{ 'condition', 'counts', 'log' } do
    local text = select(i, ...)
    if not problem and find(text, '%S') then breakpoint[part], problem = COMPILERS[part](text) end
  end
  return breakpoint, problem
end

--- Sets all breakpoints, each by file, line, condition, number of hits and log message ('': none);
-- or by a function's name, and line 0. The answer is a list of their lines, which have code, or 0
-- where that is not known, or the message of what is not understood. A function is at line 1 if it
-- was found.
function breakpoints.set(...)
  local answer = {}
  for line in pairs(at_lines) do at_lines[line] = nil end
  at_functions = {}
  for i = 1, select('#', ...) - 4, 5 do
    local path, line, condition, counts, log = select(i, ...)
    local breakpoint, problem = new(path, line, condition, counts, log)
    local actual = 0
    if breakpoint.name then
      at_functions[#at_functions + 1] = not problem and breakpoint
      for chunk in pairs(not problem and sources or {}) do
        if find_function(breakpoint, chunk) then actual = 1 end
      end
    elseif not problem then
      actual = line_with_code(path, tonumber(line))
      add(actual > 0 and actual or tonumber(line), breakpoint)
    end
    answer[#answer + 1] = problem or actual
  end
  return answer
end

return breakpoints

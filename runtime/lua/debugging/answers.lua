--- The debugger's requests: answers about the frames that it looks at, and changes in them; see
-- engine/debugging.py. A request is a text whose fields have bytes 0 between them; an answer is a
-- list of texts, numbers and booleans. Values are kept here and described in a few words. Those
-- that have parts get a number by which the parts can be asked for.
-- @module answers

local errors, type_names, frames = import('core.errors', 'core.type_names', 'debugging.frames')
local inspect, shell, who = import('engine.inspect', 'engine.shell', 'engine.who')
local session_locals, printing = import('engine.session_locals', 'packages.print')

local gmatch, format, find = string.gmatch, string.format, string.find

local MOST = 500 -- parts of a value that are told of

local answers = {}

-- The values with parts that were told of: { value, keys of the parts by their names }.
local described_values = {}

local function element(value, i) return value[i] end

-- The keys of a value's parts, in order; nil where it has none.
local function keys_of(value)
  local category = inspect.describe(value, false).category
  if category == 'table' then
    local keys = {}
    for key in next, value do keys[#keys + 1] = key end
    table.sort(keys, function(a, b)
      if type(a) ~= type(b) then return type(a) < type(b) end
      return type(a) == 'number' and a < b or type(a) ~= 'number' and tostring(a) < tostring(b)
    end)
    return keys, rawget
  elseif category == 'tensor' and value:nDimension() > 0 or category == 'storage' then
    local keys = {}
    for i = 1, math.min(category == 'tensor' and value:size(1) or #value, MOST) do keys[i] = i end
    return keys, element
  end
end

local function has_parts(value)
  local kind = type(value)
  if kind ~= 'table' and kind ~= 'userdata' then return false end
  if kind == 'table' then return next(value) ~= nil end
  local keys = keys_of(value)
  return keys ~= nil and #keys > 0
end

-- Adds the three items that describe a value: its text, its type or class, and the number under
-- which its parts can be asked for, or 0.
local function describe(list, value)
  local number = 0
  if has_parts(value) then
    number = #described_values + 1
    described_values[number] = { value = value, keys = {} }
  end
  list[#list + 1] = who.in_short(value)
  list[#list + 1] = type_names.typename(value) or type(value)
  list[#list + 1] = number
  return list
end

local function shown_key(key)
  if type(key) == 'string' and find(key, '^[%a_][%w_]*$') then return key end
  return '[' .. who.in_short(key) .. ']'
end

-- The text of a value, that of a tensor with numbers: of a large one a part.
local function numbers_of(value)
  if inspect.describe(value, false).category ~= 'tensor' then return who.in_short(value) end
  return printing.elided_tensor(value, MOST, 'print') or tostring(value)
end

local function evaluate(list, number, code, show, whole)
  local frame = list[tonumber(number)]
  local f, message = frames.compile(code)
  if not f then return { false, message } end
  local function finish(ok, ...)
    if not ok then return { false, errors.error_text((...)) } end
    if show then
      local fine, problem = pcall(shell.show, select('#', ...), ...)
      return { fine, fine or errors.error_text(problem) }
    end
    local answer = describe({ true }, (...))
    if whole == 'True' then answer[2] = numbers_of((...)) end
    return answer
  end
  return finish(frames.evaluate(frame, f))
end

local verbs = {}

--- The frames: name, source and line of each, from the innermost one on.
function verbs.frames(list)
  local answer = {}
  for _, frame in ipairs(list) do
    local n = #answer
    answer[n + 1], answer[n + 2], answer[n + 3] = frame.name, frame.source, frame.line
  end
  return answer
end

--- The variables of a frame: for each its kind, its name, and three items that describe its value.
function verbs.variables(list, number)
  local answer, hidden = {}, {}
  local variables = list[tonumber(number)].variables
  for i = #variables, 1, -1 do
    local variable = variables[i]
    if not hidden[variable.name] then
      hidden[variable.name] = true
      answer[#answer + 1], answer[#answer + 2] = variable.kind, variable.name
      describe(answer, variable.value)
    end
  end
  return answer
end

--- The parts of a value: for each its name, and three items that describe it.
function verbs.parts(_, number)
  local answer, whole = {}, described_values[tonumber(number)]
  if not whole then return answer end
  local keys, read = keys_of(whole.value)
  for i = 1, math.min(#(keys or {}), MOST) do
    local name = shown_key(keys[i])
    whole.keys[name] = keys[i]
    answer[#answer + 1] = name
    describe(answer, read(whole.value, keys[i]))
  end
  return answer
end

--- Evaluates code in a frame: true and three items that describe the value, or false and the
-- message of the error. whole: 'True' for the numbers of a tensor.
function verbs.evaluate(list, number, code, whole)
  return evaluate(list, number, code, false, whole)
end

--- Shows the values of code as the prompt does: true, or false and the message.
function verbs.show(list, number, code)
  return evaluate(list, number, code, true)
end

--- Sets a part of a value to that of code in a frame; answers as `evaluate` does.
function verbs.set(list, number, whole, name, code)
  local f, message = frames.compile(code)
  if not f then return { false, message } end
  local ok, value = frames.evaluate(list[tonumber(number)], f)
  if not ok then return { false, errors.error_text(value) } end
  local owner = described_values[tonumber(whole)]
  local put = type(owner.value) == 'table' and rawset or function(t, k, v) t[k] = v end
  ok, message = pcall(put, owner.value, owner.keys[name], value)
  if not ok then return { false, errors.error_text(message) } end
  return describe({ true }, value)
end

--- Lets the names of a session be those of a frame, for completion.
function verbs.lend(list, number)
  answers.give_back = session_locals.lend_locals(list[tonumber(number)], function() end)
  return {}
end

--- Ends that.
function verbs.give_back()
  answers.give_back()
  return {}
end

--- Writes a text in order with what the program writes.
function verbs.write(_, text)
  shell.write(text)
  return {}
end

--- Lets go of the values that were told of.
function answers.forget()
  described_values = {}
end

--- The verb and the fields of a request.
function answers.read(request)
  local fields = {}
  for field in gmatch(request .. '\0', '(%Z*)%z') do fields[#fields + 1] = field end
  return unpack(fields)
end

--- Answers a request about frames.
function answers.give(list, verb, ...)
  local answer = verbs[verb]
  if not answer then error(format('no such request: %s', tostring(verb))) end
  return answer(list, ...)
end

--- Adds requests: functions of the frames and of the request's fields.
function answers.add(others)
  for name, f in pairs(others) do verbs[name] = f end
end

return answers

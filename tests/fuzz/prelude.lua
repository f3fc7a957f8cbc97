--- What the programs of the fuzzers share: calls that are checked, odd tensors, sentinels.
-- Every saved program starts with it, so that it runs by itself.
-- @script prelude

local ffi = require 'ffi'
local pcall, type, tostring, clock = pcall, type, tostring, os.clock

fuzz = { calls = 0, passed = 0, trace = false, seconds = 1 }
v = {}

--- Reports what must not happen.
function fuzz.finding(text)
  print('FINDING ' .. tostring(text):gsub('%s+', ' '))
end

--- Writes how many calls were made since the last time, and how many raised no error.
function fuzz.write_counts()
  local file = io.open('counts', 'w')
  file:write(fuzz.calls, ' ', fuzz.passed)
  file:close()
  fuzz.calls, fuzz.passed = 0, 0
end

-- What no message may hold: it comes from inside the engine.
local INNER = {
  'internal error', '[th]', 'Traceback', '.py:', '.py"', 'Error:', 'NoneType', 'numpy', 'lupa',
  'object has no', 'Python', 'float()', 'int()', 'broadcast',
}

local function check_message(message)
  if type(message) ~= 'string' then return end
  for i = 1, #INNER do
    if message:find(INNER[i], 1, true) then
      fuzz.finding('message: ' .. message)
      return
    end
  end
end

-- How long a call may take that returns this: large results need their time, and so does writing
-- all the memory there is before it is not enough.
local function allowed(result)
  if type(result) == 'string' and result:find('not enough memory', 1, true) then
    return fuzz.seconds + 10
  end
  local ok, n = pcall(function() return result:nElement() end)
  return fuzz.seconds + (ok and type(n) == 'number' and n * 2e-8 or 0)
end

local others = 0 -- seconds that calls within others have taken, which are judged by themselves

local function checked(start, before, ok, ...)
  local taken = clock() - start
  local own = taken - (others - before)
  others = before + taken
  if own > fuzz.seconds and own > allowed((...)) then
    fuzz.finding(('slow: %.1f s'):format(own))
  end
  if not ok then
    check_message((...))
    return
  end
  fuzz.passed = fuzz.passed + 1
  return ...
end

--- Calls a function; its errors are no findings, but their texts may be.
function try(f, ...)
  fuzz.calls = fuzz.calls + 1
  if fuzz.trace then
    io.stderr:write('LINE ', debug.getinfo(2, 'l').currentline, '\n')
  end
  return checked(clock(), others, pcall(f, ...))
end

--- Allows an operation the time of the calls that it has made of a function, which LuaJIT may not
-- be able to compile: 0.4 us each.
-- @param count returns how many calls there were
-- @param ... what the operation has returned, which this function returns
function called(count, ...)
  others = others + count() * 4e-7
  return ...
end

--- The metatable of a class: its methods.
function meta(name)
  return torch.getmetatable('torch.' .. name)
end

-- ------------------------------------------------------------- odd tensors

local SPECIAL = { 0, 1, -1, 0 / 0, 1 / 0, -1 / 0, 2 ^ 31, -2 ^ 63, 1e308, 1e-310, 0.5, 255 }

-- Ways to lay out a tensor: from a class and sizes.
local layouts = {}

function layouts.plain(class, ...) return class(...):fill(2) end

function layouts.range(class, ...)
  if class == torch.HalfTensor then -- whose elements take Python to write, one by one
    return layouts.range(torch.FloatTensor, ...):half()
  end
  local x = class(...)
  local s = x:storage()
  for i = 1, s and #s or 0 do s[i] = i end
  return x
end

function layouts.special(class, ...)
  local x = class(...)
  local s = x:storage()
  for i = 1, s and #s or 0 do s[i] = SPECIAL[i % #SPECIAL + 1] end
  return x
end

function layouts.positive(class, ...) -- a matrix that has an inverse and a Cholesky factor
  local x = layouts.plain(class, ...)
  if x:dim() == 2 then
    for i = 1, math.min(x:size(1), x:size(2)) do x[i][i] = 9 + i end
  end
  return x
end

function layouts.transposed(class, ...)
  local sizes = { ... }
  if #sizes < 2 then return layouts.range(class, ...) end
  sizes[1], sizes[#sizes] = sizes[#sizes], sizes[1]
  return layouts.range(class, unpack(sizes)):transpose(1, #sizes)
end

function layouts.stepped(class, ...)
  local sizes = { ... }
  sizes[#sizes + 1] = 3
  return layouts.range(class, unpack(sizes)):select(#sizes, 2)
end

function layouts.narrowed(class, ...)
  local sizes = { ... }
  sizes[1] = sizes[1] + 2
  return layouts.range(class, unpack(sizes)):narrow(1, 2, sizes[1] - 2)
end

function layouts.expanded(class, ...)
  local sizes = { ... }
  sizes[1] = 1
  return layouts.range(class, unpack(sizes)):expand(...)
end

function layouts.overlapping(class, ...)
  local sizes = { ... }
  local strides, room = {}, 1
  for i = 1, #sizes do
    strides[i] = 1
    room = room + sizes[i]
  end
  local storage = layouts.range(class, room):storage()
  return class(storage, 1, torch.LongStorage(sizes), torch.LongStorage(strides))
end

function layouts.shrunk(class, ...) -- reaches past the end of its storage
  local x = layouts.range(class, ...)
  if x:storage() then x:storage():resize(math.floor(#x:storage() / 2)) end
  return x
end

function layouts.empty(class) return class() end

--- A tensor of a class ('Double'), a layout and sizes.
function make(name, layout, ...)
  return layouts[layout](torch[name .. 'Tensor'], ...)
end

--- A list of very many tensors.
function many(x, count)
  local list = {}
  for i = 1, count do list[i] = x end
  return list
end

--- Lets a finalizer call f, with the next collection or a later one.
function finally(f)
  getmetatable(newproxy(true)).__gc = function() try(f) end
end

-- ------------------------------------------------------------- sentinels

-- Small and middling blocks of memory among those of the programs, with known bytes.
local sentinels = {}

local function pattern(i, k) return (i * 31 + k * 7) % 251 end

for i = 1, 48 do
  local n = i * 8
  local storage = torch.ByteStorage(n + 64) -- a canary on both sides of a tensor
  for k = 1, n + 64 do storage[k] = pattern(i, k) end
  sentinels[i] = torch.ByteTensor(storage, 33, torch.LongStorage{ n })
  sentinels[-i] = torch.ByteTensor(n * 4) -- gaps that the programs may get
end
for i = 1, 48 do sentinels[-i] = nil end

local TEXTS = { [0] = 'c', 'canary', ('canary'):rep(20), ('0'):rep(40) }
local lengths = { [0] = 1, 6, 120, 40 }

--- Reports memory that changed although no program refers to it.
function check_sentinels()
  for i = 1, #sentinels do
    local p = torch.data(sentinels[i]) - 32
    for k = 1, i * 8 + 64 do
      if p[k - 1] ~= pattern(i, k) then
        fuzz.finding(('lost sentinel: block %d, byte %d is %d'):format(i, k, p[k - 1]))
        p[k - 1] = pattern(i, k)
      end
    end
  end
  for i = 0, #TEXTS do
    if #TEXTS[i] ~= lengths[i] or TEXTS[i]:sub(1, 1) ~= (i == 3 and '0' or 'c') then
      fuzz.finding('lost sentinel: a string')
    end
  end
end

-- ------------------------------------------------------------- use of results

local bump = function(x)
  if type(x) ~= 'number' then fuzz.finding('apply passes a ' .. type(x)) end
  return 1
end

local function check_number(x)
  if type(x) ~= 'number' then fuzz.finding('an element is a ' .. type(x)) end
end

local function walk(t, depth)
  for k, x in pairs(t) do
    torch.type(k)
    torch.type(x)
    if type(x) == 'table' and depth < 5 then walk(x, depth + 1) end
  end
end

--- Does with a value what a user would: prints it, reads and computes with it.
function use(x, depth)
  depth = depth or 0
  local kind = type(x)
  try(torch.type, x)
  if kind == 'table' then
    if depth > 6 then return end
    local count = 0
    for k, y in pairs(x) do
      use(k, depth + 1)
      use(y, depth + 1)
      count = count + 1
      if count > 50 then break end
    end
    return
  end
  if kind ~= 'userdata' then return end
  local name = torch.typename(x) or ''
  if name:find('Tensor$') then
    local n = try(x.nElement, x)
    if not n or n > 100000 then return end
    try(tostring, x)
    local all = try(x.totable, x)
    if type(all) == 'table' then walk(all, 0) end
    if x.sum then check_number(try(x.sum, x) or 0) end
    if x.sort then try(x.sort, x) end
    try(x.clone, x)
    if n > 0 then try(function() return x[1] end) end
    if x.apply then try(function() x:clone():apply(bump) end) end
    try(x.storage, x)
  elseif name:find('Storage$') then
    if #x > 100000 then return end
    try(tostring, x)
    try(x.totable, x)
    for i = 1, math.min(#x, 10) do check_number(x[i]) end
  end
end

-- Calls functions of nn's backend with made-up arguments, and prints what they leave in them.
-- The real Torch7 with nn prints what recorded/*.txt holds; tests/runtime/thnn/test_recorded.py
-- compares. Arguments: the file of a family's cases, a seed, how many cases of each function, and
-- the name of one function if it is to be the only one, or a pattern of names. Besides, by which
-- tests compare ways to compute the same: 'dense' or 'gaps', the layout of all tensors that may have
-- any, or 'shared', for tensors that share one storage, the first result among them ('copied': what
-- is read was copied before; of both, results alone are printed); 'special' for tensors with nans,
-- infinities and zeros among their elements; how often each call is made: before the last time all
-- elements are halved, and then all bits are printed; a number that the first element of one tensor
-- gets before the last time; and, for 'shared' and 'copied', which arguments are only read:
-- ' Abs_updateOutput:1 … '.
--
-- A family's file returns a table of functions by the names of the backend's functions. Each gets
-- what makes random arguments (`r` below), and returns the list of a call's arguments.
require 'nn.THNN'

local file, seed, count, only = arg[1], tonumber(arg[2]), tonumber(arg[3]), arg[4]
local layout, special, times = arg[5], arg[6] == 'special', tonumber(arg[7])
local spoiling, read_only = tonumber(arg[8]), arg[9]
local cases = dofile(file)
local generator = torch.Generator()
local r = { null = {} } -- r.null stands for NULL

local function uniform() return torch.uniform(generator, 0, 1) end

function r.int(a, b) return math.floor(a + uniform() * (b - a + 1)) end
function r.real(a, b) return a + uniform() * (b - a) end
function r.bool() return uniform() < 0.5 end
function r.pick(...) return (select(r.int(1, select('#', ...)), ...)) end

-- Gives a tensor a place among the others of the call in one storage, where it keeps its elements
-- until others are put over them.
local SHARED, shared = { shared = true, copied = true }, nil
local function share(t)
  if not SHARED[layout] or t:nDimension() == 0 then return t end
  shared[t:type()] = shared[t:type()] or t.new(20000):zero():storage()
  return t.new():set(shared[t:type()], 1 + r.int(0, 3) * r.int(0, 40), t:size()):copy(t)
end

-- The tensor itself, or its elements with the strides of another layout.
local function vary_layout(t)
  if SHARED[layout] then return share(t) end
  local n, k = t:nDimension(), uniform()
  if n == 0 or layout == 'dense' or k < 0.6 and not layout then return t end
  if k < 0.8 and not layout and n >= 2 then return t:transpose(1, n):contiguous():transpose(1, n) end
  local sizes = t:size():totable()
  if layout == 'gaps' then
    sizes[n + 1] = 2
    return t.new(unpack(sizes)):fill(7):select(n + 1, 1):copy(t)
  end
  sizes[n] = sizes[n] + 2
  return t.new(unpack(sizes)):fill(7):narrow(n, 2, sizes[n] - 2):copy(t)
end

local SPECIAL = { 0, tonumber('-0'), 1, -1, 1 / 0, -1 / 0, 0 / 0, 1e-320, 1e300 }

-- Let `draw` set the elements, and put special numbers in the place of half of them.
local function fill(t, draw)
  if t:nElement() == 0 then return t end
  draw(t)
  local storage = t:storage()
  local chances = special and torch.rand(generator, storage:size()):storage()
  for i = 1, chances and storage:size() or 0 do
    if chances[i] < 0.5 then storage[i] = SPECIAL[1 + math.floor(2 * #SPECIAL * chances[i])] end
  end
  return t
end

local function normal(t) t:normal(generator, 0, 1) end

-- Tensors of the type under test; the arguments are sizes, or a LongStorage of them.
function r.of(draw, ...) return vary_layout(fill(torch.DoubleTensor(...), draw):type(r.type)) end
function r.tensor(...) return r.of(normal, ...) end
function r.between(a, b, ...)
  return r.of(function(t) t:uniform(generator, a, b) end, ...)
end
function r.positive(...) return r.between(0.05, 0.95, ...) end
function r.plain(...) -- contiguous
  return share(fill(torch.DoubleTensor(...), normal):type(r.type))
end
function r.zeros(...) return share(torch.DoubleTensor(...):zero():type(r.type)) end
function r.out() -- a result's tensor, which the call is to resize
  if r.bool() then return torch.DoubleTensor():type(r.type) end
  return r.zeros(r.int(1, 4), r.int(1, 4))
end
-- Tensors of other types.
function r.index(max, ...)
  local t = torch.LongTensor(...)
  local storage = t:storage()
  for i = 1, storage and storage:size() or 0 do storage[i] = r.int(1, max) end
  return t
end
function r.longs(...) return torch.LongTensor(...):zero() end
function r.ints(...) return torch.IntTensor(...):zero() end

local function text(t)
  local digits, values = t:type() == 'torch.FloatTensor' and '%.8g' or '%.14g', {}
  if times then digits = '%.17g' end
  if t:nDimension() > 0 then
    local flat = t:contiguous():view(t:nElement())
    for i = 1, flat:size(1) do values[i] = digits:format(flat[i]) end
  end
  return ('[%s] %s'):format(table.concat(t:size():totable(), 'x'), table.concat(values, ' '))
end

-- Without the positions of Lua and C files.
local function plain_message(message)
  message = tostring(message):gsub('^[^:]*:%d+: ', ''):gsub(' at [^ ]*%.c:%d+', '')
  return (message:gsub('%s+', ' '):gsub(' $', ''))
end

-- Copies the results behind the first one, and, where what is read is to be copied, all but this.
-- Returns which arguments are results.
local function separate(name, args, n)
  local results, first = {}, true
  for k = 1, n do
    if torch.isTensor(args[k]) then
      results[k] = not read_only:find((' %s:%d '):format(name, k), 1, true)
      local is_first = results[k] and first
      if is_first then first = false end
      if not is_first and (results[k] or layout == 'copied') and args[k]:nDimension() > 0 then
        args[k] = args[k]:clone()
      end
    end
  end
  return results
end

local function run(name, kind, i)
  local number = 0
  for k = 1, #name do number = (number * 31 + name:byte(k)) % 1000003 end
  torch.manualSeed(generator, seed * 100000 + number + i)
  torch.manualSeed(i)
  shared = {}
  local args = cases[name](r)
  local f, given, n = torch.getmetatable(r.type).THNN[name], {}, args.n or #args
  local results = SHARED[layout] and separate(name, args, n)
  for k = 1, n do
    local a = args[k]
    if torch.isTensor(a) then given[k] = a:cdata() elseif a ~= r.null then given[k] = a end
  end
  io.write(('# %s %s %d\n'):format(name, kind, i))
  for _ = 2, times or 1 do pcall(f, unpack(given, 1, n)) end
  for _, a in ipairs(times and args or {}) do
    if torch.isTensor(a) and a:type() == r.type and a:nDimension() > 0 then a:mul(0.5) end
  end
  local tensors = {}
  for k = 1, n do
    local a = args[k]
    if torch.isTensor(a) and a:nElement() > 0 then tensors[#tensors + 1] = a end
  end
  local spoiled = spoiling and tensors[i % #tensors + 1]
  if spoiled then spoiled:storage()[spoiled:storageOffset()] = spoiling end
  local ok, message = pcall(function() f(unpack(given, 1, n)) end)
  if not ok then io.write('error ', plain_message(message), '\n') end
  for k = 1, n do
    if torch.isTensor(args[k]) and (not results or results[k]) then io.write(k, ' ', text(args[k]), '\n') end
  end
end

local names = {}
for name in pairs(cases) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  for _, kind in ipairs{ 'Double', 'Float' } do
    r.type = 'torch.' .. kind .. 'Tensor'
    for i = 1, (not only or name:find(only)) and count or 0 do run(name, kind, i) end
  end
end

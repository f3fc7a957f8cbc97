-- Calls an operation in each way that exists for it, on copies of the same arguments, and compares
-- all that the calls give and leave, bit for bit.
--
-- The ways of a call are found in the functions themselves: a function that tries a quicker way
-- first has the function that it falls back to as an upvalue named `slow`. The last one is
-- Python's, which is called with its limits at few elements and out of reach (`set_limits`), and the
-- first one with several threads.
local ffi = require 'ffi'

local state = 1
local function random(a, b)
  state = state * 16807 % 2147483647
  return a + state % (b - a + 1)
end

-- ------------------------------------------------------------------ arguments

local KINDS = { 'Double', 'Float', 'Long', 'Int', 'Short', 'Char', 'Byte' }
local MOST = 1400000 -- numbers of a base: what the largest tensors need
local bases = {} -- type, 'plain', 'special' or 'unit' -> a storage with numbers to copy

local SPECIAL = { 0 / 0, 1 / 0, -1 / 0, 0, -0.0, 1e-310, 1e30, 1, -1, 0.5 }

local function number(kind, sort, i)
  local x = i * 7919 % 10007
  if kind == 'Double' or kind == 'Float' then
    if sort == 'special' and x % 13 == 0 then return SPECIAL[x % #SPECIAL + 1] end
    if sort == 'unit' then return (x + 1) / 10009 end
    return (x - 5003) / 617.3
  end
  if sort == 'unit' then return x % 2 end
  return x % 100 + 1
end

local LAST_WORD = { Double = 2, Float = 1 } -- words of 32 bits of an element
-- Last words of nans whose bits Lua would take for nil, and for a string.
local NOT_NUMBERS = { Double = { 0xfffffff0, 0xfffd8123 }, Float = { 0xfffffff0, 0xffec0123 } }

local function base(kind, sort)
  local key = kind .. sort
  if not bases[key] then
    local storage = torch[kind .. 'Storage'](MOST)
    local p = torch.data(storage)
    for i = 0, MOST - 1 do p[i] = number(kind, sort, i) end
    if sort == 'special' and LAST_WORD[kind] then
      local words = ffi.cast('uint32_t *', p)
      local last, bits = LAST_WORD[kind], NOT_NUMBERS[kind]
      for i = 5, MOST - 1, 41 do words[last * (i + 1) - 1] = bits[1 + i % 2] end
    end
    bases[key] = storage
  end
  return bases[key]
end

local LAYOUTS = { 'contiguous', 'transposed', 'offset', 'stepped', 'expanded' }

-- Strides for sizes in a layout, and the offset and the number of elements of the storage.
local function lay_out(layout, sizes)
  local n, strides, room = #sizes, {}, layout == 'stepped' and 2 or 1
  local order = {}
  for d = 1, n do order[d] = d end
  if layout == 'transposed' then order[1], order[n] = order[n], order[1] end
  local repeated = layout == 'expanded' and n > 1 and random(1, n)
  for d = n, 1, -1 do
    local e = order[d]
    if d == repeated then
      strides[e] = 0
    else
      strides[e], room = room, room * sizes[e]
    end
  end
  return strides, layout == 'offset' and 3 or 0, room + 5
end

-- A storage with numbers from somewhere in the base.
local function filled(kind, sort, room)
  local storage = torch[kind .. 'Storage'](room)
  local width = storage:elementSize()
  assert(room + 1000 <= MOST)
  local from = ffi.cast('char *', torch.data(base(kind, sort))) + width * random(0, 1000)
  ffi.copy(torch.data(storage), from, width * room)
  return storage
end

-- While the arguments of a call are made that share memory: a storage for each element type, and
-- how many elements each has.
local shared, SHARED_ROOM

-- A tensor that shares its storage with others of the call: from the same place on in any layout,
-- or shifted by an element, a row, half of all, or another stride. nil: there is no room.
local function shared_tensor(kind, sort, sizes)
  -- In an expanded destination, elements are computed one after the other, which takes long.
  local most = SHARED_ROOM < 7000 and #LAYOUTS or #LAYOUTS - 1
  local strides, offset, room = lay_out(LAYOUTS[random(1, most)], sizes)
  local shifts = { 0, 0, 1, sizes[#sizes], math.floor(SHARED_ROOM / 14), strides[1] }
  offset = offset + shifts[random(1, #shifts)]
  if offset + room > SHARED_ROOM then return nil end
  shared[kind] = shared[kind] or filled(kind, sort, SHARED_ROOM)
  return torch[kind .. 'Tensor']():set(shared[kind], offset + 1, torch.LongStorage(sizes),
    torch.LongStorage(strides))
end

-- A tensor in a layout, with numbers from somewhere in the base.
local function tensor(kind, layout, sort, sizes)
  local view = shared and shared_tensor(kind, sort, sizes)
  if view then return view end
  local strides, offset, room = lay_out(layout, sizes)
  local storage = filled(kind, sort, room)
  return torch[kind .. 'Tensor']():set(storage, offset + 1, torch.LongStorage(sizes),
    torch.LongStorage(strides))
end

-- Sizes of up to so many dimensions with n elements; fewer where n has no small factors.
local FACTORS = { 3, 2, 7, 5, 10, 4, 31, 100, 13 }
local function sizes_of(n, dims)
  local at = random(1, #FACTORS)
  for k = at, at + #FACTORS - 1 do
    local f = FACTORS[(k - 1) % #FACTORS + 1]
    if dims > 1 and n % f == 0 and n > f then
      local sizes = sizes_of(n / f, dims - 1)
      table.insert(sizes, random(1, #sizes + 1), f)
      return sizes
    end
  end
  return { n }
end

-- ------------------------------------------------------------------ outcomes

pcall(ffi.cdef, 'int memcmp(const void *, const void *, size_t);')

-- How a value is told in a message.
local function describe(value)
  if type(value) == 'number' then return ('%.17g'):format(value) end
  if not torch.isTensor(value) then return tostring(value) end
  local sizes, strides = value:size():totable(), value:stride():totable()
  return ('%s %s by %s'):format(value:type(), table.concat(sizes, 'x'), table.concat(strides, ','))
end

-- The first place where the storages of two tensors differ, with the elements there.
local function difference(a, b)
  local x, y = a:storage(), b:storage()
  for i = 1, x:size() do
    if ('%.17g'):format(x[i]) ~= ('%.17g'):format(y[i]) then
      return ('%d: %.17g, not %.17g'):format(i, x[i], y[i])
    end
  end
  return 'bits of nans'
end

-- Whether two tensors have the same geometry, and storages of the same bytes.
local function same_tensor(a, b)
  if describe(a) ~= describe(b) then return false end
  local x, y = a:storage(), b:storage()
  if not x or not y then return x == y end
  return x:size() == y:size() and a:storageOffset() == b:storageOffset()
    and ffi.C.memcmp(torch.data(x), torch.data(y), x:size() * a:elementSize()) == 0
end

-- Copies of arguments; tensors that had one storage have one storage.
local function copies(args, n)
  local storages = {}
  local function copy(value)
    if type(value) == 'table' then
      local list = {}
      for i, item in ipairs(value) do list[i] = copy(item) end
      return list
    end
    if not torch.isTensor(value) or value:dim() == 0 then
      return torch.isTensor(value) and value.new() or value
    end
    local s = value:storage()
    local key = tostring(torch.data(s))
    if not storages[key] then
      storages[key] = s.new(s:size())
      ffi.copy(torch.data(storages[key]), torch.data(s), s:size() * value:elementSize())
    end
    return value.new():set(storages[key], value:storageOffset(), value:size(), value:stride())
  end
  local result, known = {}, {}
  for i = 1, n do
    local value = args[i]
    if value ~= nil and known[value] ~= nil and torch.isTensor(value) then
      result[i] = known[value]
    else
      result[i] = copy(value)
      if value ~= nil then known[value] = result[i] end
    end
  end
  return result
end

-- Whether two values are tensors that share a storage without being the same view of it.
local function shares_storage(a, b)
  return torch.isTensor(a) and torch.isTensor(b) and a:type() == b:type() and a:dim() > 0
    and b:dim() > 0 and torch.data(a:storage()) == torch.data(b:storage()) and not a:isSetTo(b)
end

-- What a call gives and leaves: whether it raised no error, its results, and its arguments.
-- is_apart: whether operands that share the first argument's storage are copied before.
local function outcome(f, args, n, is_apart)
  torch.manualSeed(7)
  local given = copies(args, n)
  for k, value in pairs(is_apart and given or {}) do
    if k > 1 and shares_storage(value, given[1]) then given[k] = copies({ value }, 1)[1] end
  end
  local found = { pcall(f, unpack(given, 1, n)) }
  for i = 2, 4 do
    for k = 1, n do
      local value, of = found[i], given[k]
      if torch.isTensor(value) and torch.isTensor(of) and value:type() == of:type()
        and value:dim() > 0 and value:isSetTo(of) then
        found[i] = 'argument ' .. k
        break
      end
    end
  end
  for i = 1, n do found[4 + i] = given[i] end
  return found
end

local THREADS = 2
local function upvalue(f, wanted)
  for i = 1, 60 do
    local name, value = debug.getupvalue(f, i)
    if name == wanted then return value, i end
    if not name then return nil end
  end
end

-- The ways of a function: names and functions, from the one that programs call to Python's.
local function ways_of(name, f)
  local ways, at = {}, f
  while at and #ways < 5 do
    ways[#ways + 1] = at
    local slow = upvalue(at, 'slow')
    at = type(slow) == 'table' and slow[name] or slow
    if type(at) ~= 'function' then at = nil end
  end
  return ways
end

-- Whether numbers are the same but for the last digits, which sums and BLAS give in another order.
local function near(a, b, rough)
  if a == b or (a ~= a and b ~= b) then return true end
  local scale = math.max(math.abs(a), math.abs(b), 1)
  return math.abs(a - b) <= rough * scale
end

local function nearly_same(a, b, rough)
  if a:type() ~= b:type() or not a:isSameSizeAs(b) or a:dim() == 0 then return false end
  if a:type() == 'torch.FloatTensor' then rough = rough * 1e7 end
  local x, y = a:clone():double(), b:clone():double()
  x:maskedFill(x:ne(x), 0 / 0)
  y:maskedFill(y:ne(y), 0 / 0)
  local p, q = torch.data(x), torch.data(y)
  for i = 0, a:nElement() - 1 do
    if not near(p[i], q[i], rough) then return false end
  end
  return true
end

local function same(a, b, rough)
  if torch.isTensor(a) and torch.isTensor(b) then
    return same_tensor(a, b) or rough and nearly_same(a, b, rough)
  elseif type(a) == 'table' and type(b) == 'table' then
    for i = 1, math.max(#a, #b) do
      if not same(a[i], b[i], rough) then return false end
    end
    return true
  elseif type(a) == 'number' and type(b) == 'number' then
    return a == b and 1 / a == 1 / b or a ~= a and b ~= b or rough and near(a, b, rough * 1e7)
  end
  return a == b
end

local function compare(found, expected, rough, count)
  for i = 1, count do
    local a, b = found[i], expected[i]
    if not same(a, b, rough) then
      local what = i == 1 and 'success' or i < 5 and 'result ' .. (i - 1) or 'argument ' .. (i - 4)
      local both = torch.isTensor(a) and torch.isTensor(b) and describe(a) == describe(b)
      return what .. ' ' .. (both and difference(a, b) or describe(a) .. ', not ' .. describe(b))
        .. (i == 1 and ': ' .. describe(found[2]) .. ', ' .. describe(expected[2]) or '')
    end
  end
end

local LARGE, MANY = 1000, 100 -- a large call has up to so many pieces of Python's work
local OUT_OF_REACH = 2 ^ 30

-- Limits of Python's and numbers of threads that a call meets: with few elements one of those that
-- would compute the same, and another one `at` the next size.
local function surroundings(elements, at)
  if elements >= LARGE then return { math.floor(elements / MANY), OUT_OF_REACH }, { 2, 3 } end
  local limits = { 16, OUT_OF_REACH }
  if elements < 16 then limits = { limits[1 + at % 2] } end
  return limits, { 2 + math.floor(at / 2) % 2 }
end

--- Computes a call in all ways; prints where they differ.
-- @param rough how much numbers may differ; nil: not at all
-- @param limits of Python's, and numbers of `threads`: as they come from surroundings
local function hold(text, name, f, args, n, rough, limits, threads)
  local ways = ways_of(name, f)
  torch.setnumthreads(1)
  local expected = outcome(ways[#ways], args, n)
  local function check(way, g)
    local problem = compare(outcome(g, args, n), expected, rough, 4 + n)
    if problem then print(('%s, %s: %s'):format(text, way, problem)) end
  end
  for k = 1, #ways - 1 do check('way ' .. k .. ' of ' .. #ways, ways[k]) end
  for _, limit in ipairs(limits) do
    set_limits(limit)
    check('limits at ' .. limit, ways[#ways])
  end
  set_limits(0)
  for _, count in ipairs(threads) do
    torch.setnumthreads(count)
    check(count .. ' threads', ways[1])
  end
  torch.setnumthreads(THREADS)
end

-- ------------------------------------------------------------------ makers

-- What makes the arguments of a call: see calls.py, whose words these are.
local make = {}
local context = {} -- kind, layout, sizes, n

local function source(sort)
  return tensor(context.kind, context.layout, sort, context.sizes)
end

function make.T() return source('plain') end
function make.S() return source('special') end
function make.U() return source('unit') end
-- Destinations: of the right sizes; of others; empty.
function make.R()
  context.made = tensor(context.kind, context.dest, 'plain', context.sizes)
  return context.made
end
function make.A() return context.made end -- the destination again
function make.E() return torch[context.kind .. 'Tensor']() end
function make.B() return tensor('Byte', context.dest, 'unit', context.sizes) end
function make.M() return tensor('Byte', context.layout, 'unit', context.sizes) end
function make.O(kind) return tensor(kind, context.layout, 'special', context.sizes) end
local function apart(...)
  local kept
  kept, shared = shared, nil
  local result = tensor(...)
  shared = kept
  return result
end
function make.L() return apart('Long', context.dest, 'plain', context.sizes) end
local function with_one()
  local sizes = { unpack(context.sizes) }
  sizes[1] = 1
  return sizes
end
function make.Z() return tensor(context.kind, context.dest, 'plain', with_one()) end
function make.ZL() return apart('Long', context.dest, 'plain', with_one()) end
function make.N() return 2.5 end
function make.W() return 3 end
function make.D() return #context.sizes end
function make.F() return 1 end
-- A tensor of some sizes, and indices of 1 to a limit.
function make.X(...) return tensor(context.kind, context.layout, 'plain', { ... }) end
function make.Y(...) return tensor(context.kind, context.dest, 'plain', { ... }) end
function make.I(limit, ...)
  local t = apart('Long', context.layout, 'plain', { ... })
  local p, s = torch.data(t:storage()), t:storage():size()
  for i = 0, s - 1 do p[i] = random(1, limit) end
  return t
end
function make.P(...) -- positive definite, or at least with a strong diagonal
  local t = apart(context.kind, 'contiguous', 'unit', { ... })
  for i = 1, math.min(t:size(1), t:size(2)) do t[i][i] = t[i][i] + t:size(1) end
  return t
end

function make.q(parts) return math.floor(context.n / parts) end

local MOST_EXPANDED = 5000
local DESTINATIONS = {
  'contiguous', 'stepped', 'transposed', 'offset', 'expanded', 'contiguous',
}

local makers = {}

local function packed(...) return select('#', ...), { ... } end

-- The function of a call, and its arguments, for a type, layouts and a number of elements.
local function made(name, expression, words, kind, at, n)
  state = (n * 31 + at * 7 + #name) % 2147483646 + 1
  for _ = 1, 3 do random(1, 2) end
  context.kind, context.n = kind, n
  context.layout = LAYOUTS[at % #LAYOUTS + 1]
  context.dest = DESTINATIONS[math.floor(at / #LAYOUTS) % #DESTINATIONS + 1]
  -- Elements that are one place in memory are computed one after the other, which takes long.
  if context.dest == 'expanded' and n > MOST_EXPANDED then context.dest = 'offset' end
  context.sizes = sizes_of(n, random(1, 3))
  if context.layout ~= 'contiguous' and #context.sizes == 1 then context.sizes = { n, 1 } end
  makers[words] = makers[words] or setfenv(assert(loadstring('local n, kind = ... return ' .. words)),
    setmetatable({}, { __index = function(_, key) return make[key] or _G[key] end }))
  local f = expression == 'method' and torch[kind .. 'Tensor'][name] or torch[name]
  if expression == 'metamethod' then f = getmetatable(torch[kind .. 'Tensor']())[name] end
  return f, packed(makers[words](n, kind))
end

--- Computes a call for a type, layouts and a number of elements in all ways.
-- @param at what numbers and layouts are drawn with; multiples of 30 are contiguous
function run_case(name, expression, words, kind, at, n, rough)
  local f, count, args = made(name, expression, words, kind, at, n)
  local text = ('%s %s(%s) %s %s %s %d'):format(expression, name, words, kind, context.layout,
    context.dest, n)
  hold(text, name, f, args, count, rough or nil, surroundings(n, at))
end

--- The same for arguments that share memory. Where the call raises no error, it also gives what it
-- gives with operands that were copied before, except where elements are moved in turn.
function run_shared_case(name, expression, words, kind, at, n, rough, in_turn)
  shared, SHARED_ROOM = {}, 7 * n + 60
  local f, count, args = made(name, expression, words, kind, at, n)
  shared = nil
  local text = ('%s %s(%s) %s shared %d, %d'):format(expression, name, words, kind, n, at)
  hold(text, name, f, args, count, rough or nil, surroundings(n, at))
  if in_turn then return end
  local ways = ways_of(name, f)
  local found, expected = outcome(ways[1], args, count), outcome(ways[1], args, count, true)
  local problem = found[1] and expected[1] and compare(found, expected, rough or nil, 5)
  if problem then print(text .. ', not as if copied first: ' .. problem) end
end

--- Whether a call gives no error in Python, which is the last of its ways.
function succeeds(name, expression, words, kind, at, n)
  local f, count, args = made(name, expression, words, kind, at, n)
  local ways = ways_of(name, f)
  return outcome(ways[#ways], args, count)[1]
end

--- Whether Python computes a call, although Lua has a way for some.
function reaches_python(name, expression, words, kind, at, n)
  local f, count, args = made(name, expression, words, kind, at, n)
  local ways = ways_of(name, f)
  if #ways == 1 then return false end
  local python, reached = ways[#ways], false
  local function watched(...)
    reached = true
    return python(...)
  end
  local slow, place = upvalue(ways[#ways - 1], 'slow')
  if type(slow) == 'table' then
    slow[name] = watched
  else
    debug.setupvalue(ways[#ways - 1], place, watched)
  end
  local is_right = outcome(f, args, count)[1]
  if type(slow) == 'table' then
    slow[name] = python
  else
    debug.setupvalue(ways[#ways - 1], place, python)
  end
  return is_right and reached
end

--- Random numbers, few at a time, of the default generator.
-- Loaded once for each element type. A function of numpy's draws the words of the same stream that
-- Python draws from (runtime/compute/generator.py); what is computed from them has the same bits.
-- @module random

local dtype, tools = ...
local ffi, host, kernels, c_structs = import('ffi', 'host', 'compute.lua_kernels', 'core.c_structs')
local errors, python_calls = import('core.errors', 'core.python_calls')
local raw_memory, blocks = import('parallel.memory', 'tensor.blocks')

local cast, log, sqrt, cos, sin = ffi.cast, math.log, math.sqrt, math.cos, math.sin
local min, floor, pi = math.min, math.floor, math.pi
local read, read_row, load = tools.reader(dtype), tools.row_reader(dtype), tools.loader(dtype)
local new, publish = tools.new, tools.publish
local slot, take_out = kernels.slot, kernels.take_out
local MAX, WIDTH = blocks.MAX, ffi.sizeof(dtype.ctype)
local TO_UNIT, WORDS = 2 ^ -32, 2 ^ 32

local t = tools.operand() -- what is filled or read
local elements, bits, number = dtype.pointer, tools.bits(WIDTH), tools.memory(dtype, 1)
local is_float = dtype.name == 'Float' or dtype.name == 'Double'
-- The greatest number that an element may be, of those below 2^32.
local GREATEST = ({ Byte = 255, Char = 127, Short = 32767, Int = 2 ^ 31 - 1 })[dtype.name] or WORDS

if dtype.name == 'Half' or not python_calls.ask(host.random_stream) then return {} end

-- ------------------------------------------------------------------- the stream

local shared_type = ffi.typeof('struct { double x, y, radius; int started, has_second; } *')
local word_function = ffi.typeof('uint32_t (*)(intptr_t)')
local shared, next_word, state

-- Starts the stream if a seed has been set since the last number. Here Lua allocates; what follows
-- the call does not, so that no finalizer draws in between. The stream ends with the engine, before
-- the last finalizers run.
local function start()
  if tools.closed then errors.fail('there are no random numbers any more') end
  if shared and shared.started ~= 0 then return end
  local address, argument, common = python_calls.ask(host.random_stream)
  next_word, state, shared = cast(word_function, address), argument, cast(shared_type, common)
end

local function uniform()
  return next_word(state) * TO_UNIT
end

-- The next normal number; they come in pairs, of which the second is kept (Box and Muller).
local function normal()
  if shared.has_second ~= 0 then
    shared.has_second = 0
    return shared.radius * sin(2 * pi * shared.x)
  end
  local x, y = uniform(), uniform()
  local radius = sqrt(-2 * log(1 - y))
  shared.x, shared.y, shared.radius, shared.has_second = x, y, radius, 1
  return radius * cos(2 * pi * x)
end

-- ------------------------------------------------------------- where they go

-- A pointer to the elements of a contiguous tensor, and how many there are; nil for others.
local function target(r)
  if not read_row(t, r) or t.s2 > MAX then return nil end
  local p = cast(elements, t.at)
  start()
  return p, t.s2
end

-- A pointer to a new tensor of some sizes, how many elements it has, and its block; nil unless r is
-- nil.
local function new_target(r, ...)
  local n, s0, s1, s2 = tools.sizes(...)
  local block, to
  if r == nil and n then block, to = new(dtype, n, s0, s1, s2) end
  if not block then return nil end
  local p = cast(elements, to)
  start()
  return p, s0 * s1 * s2, block
end

-- A parameter as an element of the type.
local function real(value)
  number[0] = value
  return number[0]
end

-- ---------------------------------------------------------------------- floats

local random = {}

local function fill_uniform(p, n, a, b)
  for i = 0, n - 1 do p[i] = uniform() * (b - a) + a end
end

local function fill_normal(p, n, mean, deviation)
  for i = 0, n - 1 do p[i] = normal() * deviation + mean end
end

if is_float then
  function random.uniform(r, _, a, b)
    local p, n = target(r)
    if not p then return nil end
    fill_uniform(p, n, real(a), real(b))
    return r
  end

  function random.normal(r, _, mean, deviation)
    mean, deviation = real(mean), real(deviation)
    local p, n = target(r)
    if not p or not (deviation > 0) then return nil end
    fill_normal(p, n, mean, deviation)
    return r
  end

  function random.rand(r, _, ...)
    local p, n, block = new_target(r, ...)
    if not p then return nil end
    fill_uniform(p, n, 0, 1)
    return (publish(dtype, block))
  end

  function random.randn(r, _, ...)
    local p, n, block = new_target(r, ...)
    if not p then return nil end
    fill_normal(p, n, 0, 1)
    return (publish(dtype, block))
  end

  function random.uniform_number(_, a, b)
    start()
    return uniform() * (b - a) + a
  end

  function random.normal_number(_, mean, deviation)
    if not (deviation > 0) then return nil end
    start()
    return normal() * deviation + mean
  end
end

-- ------------------------------------------------------------------- all types

function random.bernoulli(r, _, p)
  if not (p >= 0 and p <= 1) then return nil end
  local to, n = target(r)
  if not to then return nil end
  -- Without a branch, which no processor foresees: 1 where the difference is not below 0.
  for i = 0, n - 1 do to[i] = min(1, floor(p - uniform()) + 1) end
  return r
end

function random.bernoulli_number(_, p)
  if not (p >= 0 and p <= 1) then return nil end
  start()
  return uniform() <= p and 1 or 0
end

-- Tells whether a and b are whole numbers with a <= b that elements may be, and words may reach.
local function is_span(a, b, greatest)
  return a >= 0 and b >= a and b <= greatest and b - a < WORDS and a % 1 == 0 and b % 1 == 0
end

function random.between(r, _, a, b)
  if not is_span(a, b, GREATEST) then return nil end
  local p, n = target(r)
  if not p then return nil end
  local span = b - a + 1
  for i = 0, n - 1 do p[i] = next_word(state) % span + a end
  return r
end

function random.up_to(r, _, b)
  local result = random.between(r, nil, 1, b)
  return result
end

function random.between_number(_, a, b)
  if not is_span(a, b, WORDS) then return nil end
  start()
  return next_word(state) % (b - a + 1) + a
end

function random.up_to_number(_, b)
  local value = random.between_number(nil, 1, b)
  return value
end

function random.any_number()
  start()
  return (next_word(state))
end

local order = raw_memory.working_memory('int32_t', MAX)

function random.randperm(r, _, n, ...) -- luacheck: ignore 212
  if r ~= nil or not (n >= 1 and n <= MAX and n <= GREATEST and n % 1 == 0) then return nil end
  local p, _, block = new_target(nil, n)
  for i = 0, n - 1 do order[i] = i + 1 end
  for i = 0, n - 2 do
    local j = i + next_word(state) % (n - i)
    order[i], order[j] = order[j], order[i]
  end
  for i = 0, n - 1 do p[i] = order[i] end
  return (publish(dtype, block))
end

-- ------------------------------------------------------------ given probabilities

local longs = c_structs.dtypes[c_structs.LONG + 1]
local long_result_at = tools.dense_results(longs)
local cumulative = tools.memory(c_structs.dtypes[c_structs.DOUBLE + 1], MAX)
local totals, places = tools.memory(c_structs.dtypes[c_structs.DOUBLE + 1], MAX), tools.places

-- Sets the cumulative distributions of the rows of t; false if the sum of a row is no finite number
-- above 0, or there are too many elements.
local function set_cumulative()
  if not tools.locate(places, t) then return false end
  local p, q, rows, n = cast(elements, t.at), cast(bits, t.at), t.s1, t.s2
  local sum, column, row = 0, 0, 0
  for m = 0, rows * n - 1 do
    sum = sum + load(p, q, places[m])
    cumulative[m] = sum
    column = column + 1
    if column == n then
      if not (sum > 0 and sum < 1 / 0) then return false end
      totals[row] = sum
      sum, column, row = 0, 0, row + 1
    end
  end
  column, row = 0, 0
  for m = 0, rows * n - 1 do
    cumulative[m] = cumulative[m] / totals[row]
    column = column + 1
    if column == n then column, row = 0, row + 1 end
  end
  return true
end

-- Draws `count` numbers of 1 to n from each row.
local function draw(rows, n, to, count, replace)
  local first, left = 0, count
  for k = 0, rows * count - 1 do
    local last = first + n - 1
    cumulative[last] = 1
    local at = slot(cumulative, first, last + 1, uniform())
    to[2 * k], to[2 * k + 1] = at - first + 1, 0
    if not replace then take_out(cumulative, first, last, at) end
    left = left - 1
    if left == 0 then first, left = first + n, count end
  end
end

if is_float then
  function random.multinomial(r, _, probabilities, count, replace, ...) -- luacheck: ignore 212
    if not read(t, probabilities) or t.n > 2 or not (count >= 1 and count % 1 == 0)
      or not replace and count > t.s2 then
      return nil
    end
    -- Before a result is resized, too: that changes nothing if the probabilities are none.
    if r ~= nil and not set_cumulative() then return nil end
    local to, block = long_result_at(r, t, t.n, 1, t.s1, count)
    if not to then return nil end
    start()
    if not set_cumulative() then return nil end
    draw(t.s1, t.s2, cast(tools.words, to), count, replace)
    return block and publish(longs, block) or r
  end
end

return random

--- Jobs on rows of a matrix that are named by indices: those of nn's IndexLinear, and sums of
-- multiples of rows, for the gradients of lookup tables and of sparse products.
--
-- IndexLinear: a sample is a list of entries, which lie side by side. An entry has a key, the
-- number of a row of the weight, and a value. A row begins with `extra` numbers, none or at least
-- 4: the greatest value of the key so far, its inverse, ..., then a factor of the learning rate,
-- and a bias of the value. Behind them are the weights, one for each output.
--
-- Parameters of the jobs, addresses of int64: `at`, the positions of the entries' rows in the
-- weight, in elements; `starts` and `sizes`, the first entry of each sample and the number of its
-- entries.
--
-- Each loop over entries is compiled for each number of outputs up to MOST, with the code for each
-- output written out: a loop of so few turns would take longer than what it computes.
-- @module index

local jobs = ...
local ffi, raw_memory = import('ffi', 'parallel.memory')
local cast, tonumber, abs, compile = ffi.cast, tonumber, math.abs, loadstring
local concat = table.concat

local MOST = 16

local longs = ffi.typeof('int64_t *')
local loops = jobs.part 'thnn.loops'
local reals, loads = loops.numbers, loops.loads

local function sign(x)
  return x < 0 and -1 or x > 0 and 1 or 0
end

-- The value of an entry, brought between -1 and 1 by the greatest value of its key, plus its bias.
local function normalize(load, weight, w, value, train)
  local size = abs(value)
  if train then
    if size > load(weight, w) then
      weight[w] = size
      weight[w + 1] = 1 / size
    end
    weight[w + 2] = 1
  end
  local scaled = size > load(weight, w) and sign(value) or value * load(weight, w + 1)
  return scaled + load(weight, w + 3)
end

-- Compiles a loop. Its source has code for one output k as EACH{...}; count: the number of
-- outputs, 0 for any.
local function compile_loop(source, size, count)
  local text = source:gsub('EACH{(.-)}', function(line)
    if count == 0 then return ('for k = 0, outputs - 1 do %s end'):format(line) end
    local lines = {}
    for k = 0, count - 1 do lines[k + 1] = ('do local k = %d %s end'):format(k, line) end
    return concat(lines, ' ')
  end)
  return assert(compile(text, '=[th] thnn/index.lua'))(loads[size], normalize, tonumber)
end

-- Makes a function that returns the loop for elements of `size` bytes and a number of outputs.
local function loop_of(source)
  local known = { [4] = {}, [8] = {} }
  return function(size, outputs)
    local count = outputs <= MOST and outputs or 0
    if not known[size][count] then known[size][count] = compile_loop(source, size, count) end
    return known[size][count]
  end
end

local forward = loop_of[[
local load, normalize, tonumber = ...
return function(out, first, last, at, values, weight, bias, kept, outputs, extra, train)
  EACH{out[k] = load(bias, k)}
  for i = first, last - 1 do
    local w, value = tonumber(at[i]), load(values, i)
    if extra > 0 then
      value = normalize(load, weight, w, value, train)
      kept[i] = value
      w = w + extra
    end
    EACH{out[k] = load(out, k) + load(weight, w + k) * value}
  end
end]]

-- Outputs of samples: the bias plus each entry's weights times its value. Normalized values are
-- written to `kept`.
jobs.add('index_forward',
  'size at starts sizes values weight bias output kept outputs extra train',
  function(p, first, last)
    local real, run = reals[p.size], forward(p.size, p.outputs)
    local at, starts, sizes = cast(longs, p.at), cast(longs, p.starts), cast(longs, p.sizes)
    local values, weight, bias = cast(real, p.values), cast(real, p.weight), cast(real, p.bias)
    local output, kept = cast(real, p.output), cast(real, p.kept)
    local outputs, extra, train = p.outputs, p.extra, p.train ~= 0
    for j = first, last - 1 do
      local start = tonumber(starts[j])
      run(output + j * outputs, start, start + tonumber(sizes[j]), at, values, weight, bias, kept,
        outputs, extra, train)
    end
  end)

local gradients = loop_of[[
local load = ...
return function(output, first, last, values, g, outputs, before)
  for i = first, last - 1 do
    local out, value = output + i * (before + outputs), load(values, i)
    if before > 0 then EACH{out[k] = load(g, k)} end
    out = out + before
    EACH{out[k] = load(g, k) * value}
  end
end]]

-- Gradients of the rows of samples' entries: the output's gradients times their values. Where rows
-- of the weight begin with further numbers, the output's gradients come before these.
jobs.add('index_gradients', 'size starts sizes values gradients output outputs extra',
  function(p, first, last)
    local real, run = reals[p.size], gradients(p.size, p.outputs)
    local starts, sizes = cast(longs, p.starts), cast(longs, p.sizes)
    local values, output, outputs = cast(real, p.values), cast(real, p.output), p.outputs
    local before = p.extra > 0 and outputs or 0
    for j = first, last - 1 do
      local start = tonumber(starts[j])
      run(output, start, start + tonumber(sizes[j]), values,
        cast(real, p.gradients) + j * outputs, outputs, before)
    end
  end)

local update = loop_of[[
local load, _, tonumber = ...
return function(weight, first, last, at, gradients, outputs, extra, all_decay, all_rate)
  local width = extra > 0 and 2 * outputs or outputs
  for j = first, last - 1 do
    local g = gradients + j * width
    local w, rate, decay = tonumber(at[j]) + extra, all_rate, all_decay
    if extra > 0 then
      local factor = load(weight, w - 2)
      rate, decay = rate * factor, decay * factor
      EACH{weight[w - 1] = load(weight, w - 1) - load(g, k) * load(weight, w + k) * rate}
      g = g + outputs
      -- Torch7: with one output, the decay is added.
      if outputs == 1 then decay = -decay end
    end
    EACH{
      local x = load(weight, w + k)
      local rest = all_decay ~= 0 and x * decay or 0 -- no nan of infinite weights
      weight[w + k] = x - rest - load(g, k) * rate
    }
  end
end]]

-- Updates rows by their gradients: for each row those of its bias, if it has one, then those of its
-- weights.
jobs.add('index_update', 'size at gradients weight outputs extra decay rate',
  function(p, first, last)
    local real = reals[p.size]
    update(p.size, p.outputs)(cast(real, p.weight), first, last, cast(longs, p.at),
      cast(real, p.gradients), p.outputs, p.extra, p.decay, p.rate)
  end)

local accumulate = loop_of[[
local load, _, tonumber = ...
return function(weight, first, last, at, values, g, outputs, extra, all_decay, scale)
  for i = first, last - 1 do
    local w, factor, decay = tonumber(at[i]) + extra, scale * load(values, i), all_decay
    if extra > 0 then
      local rate = load(weight, w - 2)
      factor, decay = factor * rate, decay * rate
      EACH{
        weight[w - 1] = load(weight, w - 1) - load(weight, w + k) * scale * load(g, k) * rate
      }
      if outputs == 1 then decay = -decay end
    end
    EACH{
      local x = load(weight, w + k)
      local decays = all_decay ~= 0 or outputs == 1 and extra > 0
      if decays and outputs > 1 then x = x - x * decay end
      local rest = decays and outputs == 1 and x * decay or 0
      weight[w + k] = x - factor * load(g, k) - rest
    }
  end
end]]

-- Updates the rows of samples' entries at once, with the gradients of the outputs.
jobs.add('index_accumulate',
  'size at starts sizes values weight gradients outputs extra decay scale',
  function(p, first, last)
    local real, run = reals[p.size], accumulate(p.size, p.outputs)
    local at, starts, sizes = cast(longs, p.at), cast(longs, p.starts), cast(longs, p.sizes)
    local values, weight, outputs = cast(real, p.values), cast(real, p.weight), p.outputs
    for j = first, last - 1 do
      local start = tonumber(starts[j])
      run(weight, start, start + tonumber(sizes[j]), at, values,
        cast(real, p.gradients) + j * outputs, outputs, p.extra, p.decay, p.scale)
    end
  end)

-- ------------------------------------------------------------------ sums of multiples of rows

local bytes, doubles = ffi.typeof('char *'), ffi.typeof('double *')
local axpy = ffi.typeof('void (*)(int64_t *, void *, void *, int64_t *, void *, int64_t *)')
local long = ffi.typeof('int64_t[1]')
local cells = { [4] = ffi.typeof('float[1]'), [8] = ffi.typeof('double[1]') }

-- For `count` pairs of rows, one after the other: target += value * source, by BLAS's axpy; of each
-- row the elements of the range. `to` and `at` are the addresses of where rows begin, in elements
-- (int64), `values` that of the factors (double), `toStep` and `fromStep` how far elements are
-- apart.
jobs.add('axpys', 'run size count target to toStep source at fromStep values',
  function(p, first, last)
    local run, size = cast(axpy, p.run), p.size
    local to, at, values = cast(longs, p.to), cast(longs, p.at), cast(doubles, p.values)
    local to_step, from_step = long(p.toStep), long(p.fromStep)
    local target = cast(bytes, p.target) + first * p.toStep * size
    local source = cast(bytes, p.source) + first * p.fromStep * size
    local n, factor = long(last - first), cells[size]()
    for i = 0, p.count - 1 do
      factor[0] = raw_memory.load_double(values, i)
      run(n, factor, source + tonumber(at[i]) * size, from_step, target + tonumber(to[i]) * size,
        to_step)
    end
  end)

-- Raises the error of positions that are out of range unless `count` numbers (int64) are from
-- `least` to `most`.
jobs.add('nn_check', 'source count least most', function(p)
  local source, least, most = cast(longs, p.source), p.least, p.most
  for i = 0, p.count - 1 do
    local number = tonumber(source[i])
    if not (number >= least and number <= most) then error(jobs.OUT_OF_RANGE, 0) end
  end
end)

-- Adds a multiple of each of `count` rows of grads, `length` numbers, to the row of gradients that
-- the numbers at `at` (int64) name, from 1; rows `padding` get nothing. The factor is `scale`, or
-- the row's own one of `factors` (double), unless that is 0. Positions are columns; `run` is BLAS's
-- axpy.
jobs.add('nn_add_to_named', 'run size at grads gradients scale factors count rows length padding',
  function(p, first, last)
    local size, length = p.size, p.length
    local run, n, one = cast(axpy, p.run), long(last - first), long(1)
    local w, g = cast(reals[size], p.gradients), cast(reals[size], p.grads)
    local at, factors, factor = cast(longs, p.at), cast(doubles, p.factors), cells[size](p.scale)
    for i = 0, p.count - 1 do
      local row = tonumber(at[i])
      if not (row >= 1 and row <= p.rows) then error(jobs.OUT_OF_RANGE, 0) end
      if row ~= p.padding then
        if p.factors ~= 0 then factor[0] = raw_memory.load_double(factors, i) end
        local to, from = w + ((row - 1) * length + first), g + (i * length + first)
        run(n, factor, from, one, to, one)
      end
    end
  end)

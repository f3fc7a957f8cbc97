--- Sums of multiples of rows, for nn's backend: gradients of lookup tables, sparse products.
-- @module nn_sums

local th = ...
local ffi = require 'ffi'
local cast, floor, tonumber = ffi.cast, math.floor, tonumber

local bytes, longs, doubles = ffi.typeof('char *'), ffi.typeof('int64_t *'), ffi.typeof('double *')
local axpy = ffi.typeof('void (*)(int *, void *, void *, int *, void *, int *)')
local int = ffi.typeof('int[1]')
local ints, numbers, loads = ffi.typeof('int32_t *'), th.nn_loops.numbers, th.nn_loops.loads
local real = { [4] = ffi.typeof('float[1]'), [8] = ffi.typeof('double[1]') }

-- For `count` pairs of rows, one after the other: target += value * source, by BLAS's axpy; of each
-- row the elements of the range. `to` and `at` are the addresses of where rows begin, in elements
-- (int64), `values` that of the factors (double), `toStep` and `fromStep` how far elements are
-- apart.
th.add_job('axpys', 'run size count target to toStep source at fromStep values',
  function(p, first, last)
    local run, size = cast(axpy, p.run), p.size
    local to, at, values = cast(longs, p.to), cast(longs, p.at), cast(doubles, p.values)
    local to_step, from_step = int(p.toStep), int(p.fromStep)
    local target = cast(bytes, p.target) + first * p.toStep * size
    local source = cast(bytes, p.source) + first * p.fromStep * size
    local n, factor = int(last - first), real[size]()
    for i = 0, p.count - 1 do
      factor[0] = th.load_double(values, i)
      run(n, factor, source + tonumber(at[i]) * size, from_step, target + tonumber(to[i]) * size,
        to_step)
    end
  end)

-- Adds a multiple of each of `count` rows of grads, `length` numbers, to the row of gradients that
-- the numbers at `at` (int64) name, from 1; rows `padding` get nothing. The factor is `scale`, or
-- the row's own one of `factors` (double), unless that is 0. Positions are columns; `run` is BLAS's
-- axpy, or 0.
th.add_job('nn_add_to_named', 'run size at grads gradients scale factors count rows length padding',
  function(p, first, last)
    local size, length, load = p.size, p.length, loads[p.size]
    local run, n, one = p.run ~= 0 and cast(axpy, p.run), int(last - first), int(1)
    local w, g = cast(numbers[size], p.gradients), cast(numbers[size], p.grads)
    local at, factors, factor = cast(longs, p.at), cast(doubles, p.factors), real[size](p.scale)
    for i = 0, p.count - 1 do
      local row = tonumber(at[i])
      if not (row >= 1 and row <= p.rows) then error(th.OUT_OF_RANGE, 0) end
      if row ~= p.padding then
        if p.factors ~= 0 then factor[0] = th.load_double(factors, i) end
        local to, from = w + ((row - 1) * length + first), g + (i * length + first)
        if run then
          run(n, factor, from, one, to, one)
        else
          local times = load(factor, 0)
          for k = 0, last - first - 1 do to[k] = load(to, k) + times * load(from, k) end
        end
      end
    end
  end)

-- r[i] = r[i] + the number at places[i] of n windows; or the other way round.
local function gather(load, r, x, places, n)
  for i = 0, n - 1 do r[i] = load(r, i) + load(x, places[i]) end
end

local function scatter(load, r, x, places, n)
  for i = 0, n - 1 do
    local at = places[i]
    x[at] = load(x, at) + load(r, i)
  end
end

-- For each plane of `count` numbers, `width` a row, adds what lies in its windows to a number of
-- each; if `back` is 1, adds each number to what lies in its window. `places` is where the `each`
-- windows begin in a plane (int32).
th.add_job('nn_add_windows', 'size windows planes places each count width kW kH back',
  function(p, first, last)
    local load, each, add = loads[p.size], p.each, p.back == 1 and scatter or gather
    local windows, planes = cast(numbers[p.size], p.windows), cast(numbers[p.size], p.planes)
    local places, kw = cast(ints, p.places), p.kW
    for k = first, last - 1 do
      for tap = 0, kw * p.kH - 1 do
        local y = floor(tap / kw)
        add(load, windows + k * each, planes + (k * p.count + y * p.width + tap - y * kw), places,
          each)
      end
    end
  end)

-- Multiplies rows of `count` numbers with factor i % planes for row i, and adds terms likewise,
-- unless their address is 0.
th.add_job('nn_scale_rows', 'size out factors terms planes count', function(p, first, last)
  local load, count, planes = loads[p.size], p.count, p.planes
  local out, factors = cast(numbers[p.size], p.out), cast(numbers[p.size], p.factors)
  local terms = cast(numbers[p.size], p.terms)
  for row = first, last - 1 do
    local factor, begin = load(factors, row % planes), row * count
    for i = begin, begin + count - 1 do out[i] = load(out, i) * factor end
    if p.terms ~= 0 then
      local term = load(terms, row % planes)
      for i = begin, begin + count - 1 do out[i] = load(out, i) + term end
    end
  end
end)

-- Multiplies numbers with others.
th.add_job('nn_multiply', 'size out source', function(p, first, last)
  local load = loads[p.size]
  local out, source = cast(numbers[p.size], p.out), cast(numbers[p.size], p.source)
  for i = first, last - 1 do out[i] = load(out, i) * load(source, i) end
end)

--- Sums of multiples of rows, for nn's backend: gradients of lookup tables, sparse products.
-- @module nn_sums

local th = ...
local ffi = require 'ffi'
local cast, tonumber = ffi.cast, tonumber

local bytes, longs, doubles = ffi.typeof('char *'), ffi.typeof('int64_t *'), ffi.typeof('double *')
local axpy = ffi.typeof('void (*)(int *, void *, void *, int *, void *, int *)')
local int = ffi.typeof('int[1]')
local real = { [4] = ffi.typeof('float[1]'), [8] = ffi.typeof('double[1]') }

-- For `count` pairs of rows, one after the other: target += value * source, by BLAS's axpy; of each
-- row the elements of the range. `to` and `from` are the addresses of where rows begin, in elements
-- (int64), `values` that of the factors (double), `toStep` and `fromStep` how far elements are
-- apart.
th.add_job('axpys', 'run size count target to toStep source from fromStep values',
  function(p, first, last)
    local run, size = cast(axpy, p.run), p.size
    local to, from, values = cast(longs, p.to), cast(longs, p.from), cast(doubles, p.values)
    local to_step, from_step = int(p.toStep), int(p.fromStep)
    local target = cast(bytes, p.target) + first * p.toStep * size
    local source = cast(bytes, p.source) + first * p.fromStep * size
    local n, factor = int(last - first), real[size]()
    for i = 0, p.count - 1 do
      factor[0] = th.load_double(values, i)
      run(n, factor, source + tonumber(from[i]) * size, from_step, target + tonumber(to[i]) * size,
        to_step)
    end
  end)

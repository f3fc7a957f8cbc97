--- The loops of nn's IndexLinear, where an entry's key names a row of the weight.
-- The entries of a sample lie side by side. A row begins with `extra` numbers, 0 or at least 4: the
-- greatest value met, its inverse, ..., and last but one a factor of the learning rate, last a bias
-- of the value; then come the weights. `at` is the address of where the entries' rows begin, in
-- elements; `starts` and `sizes` those of the samples' first entries and their numbers (all int64).
-- @module nn_index

local th = ...
local ffi = require 'ffi'
local cast, tonumber, abs = ffi.cast, tonumber, math.abs

local longs = ffi.typeof('int64_t *')
local reals = { [4] = ffi.typeof('float *'), [8] = ffi.typeof('double *') }
local loads = { [4] = th.load_float, [8] = th.load_double }

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

-- Outputs of samples: the bias plus each entry's weights times its value. Normalized values are
-- written to `kept`.
th.add_job('index_forward',
  'size at starts sizes values weight bias output kept outputs extra train',
  function(p, first, last)
    local real, load = reals[p.size], loads[p.size]
    local at, starts, sizes = cast(longs, p.at), cast(longs, p.starts), cast(longs, p.sizes)
    local values, weight, bias = cast(real, p.values), cast(real, p.weight), cast(real, p.bias)
    local output, kept = cast(real, p.output), cast(real, p.kept)
    local outputs, extra = p.outputs, p.extra
    local train = p.train ~= 0
    for j = first, last - 1 do
      local out, start = output + j * outputs, tonumber(starts[j])
      for k = 0, outputs - 1 do out[k] = load(bias, k) end
      for i = start, start + tonumber(sizes[j]) - 1 do
        local w, value = tonumber(at[i]), load(values, i)
        if extra > 0 then
          value = normalize(load, weight, w, value, train)
          kept[i] = value
          w = w + extra
        end
        for k = 0, outputs - 1 do out[k] = load(out, k) + load(weight, w + k) * value end
      end
    end
  end)

-- Gradients of the rows of samples' entries: the output's gradients times their values. Where rows
-- of the weight begin with further numbers, the output's gradients come before these.
th.add_job('index_gradients', 'size starts sizes values gradients output outputs extra',
  function(p, first, last)
    local real, load = reals[p.size], loads[p.size]
    local starts, sizes = cast(longs, p.starts), cast(longs, p.sizes)
    local values, outputs = cast(real, p.values), p.outputs
    local before = p.extra > 0 and outputs or 0
    for j = first, last - 1 do
      local g, start = cast(real, p.gradients) + j * outputs, tonumber(starts[j])
      for i = start, start + tonumber(sizes[j]) - 1 do
        local out, value = cast(real, p.output) + i * (before + outputs), load(values, i)
        for k = 0, before - 1 do out[k] = load(g, k) end
        for k = 0, outputs - 1 do out[before + k] = load(g, k) * value end
      end
    end
  end)

-- Updates rows by their gradients: for each row those of its bias, if it has one, then those of its
-- weights.
th.add_job('index_update', 'size at gradients weight outputs extra decay rate',
  function(p, first, last)
    local real, load = reals[p.size], loads[p.size]
    local at, weight, outputs, extra = cast(longs, p.at), cast(real, p.weight), p.outputs, p.extra
    local width = extra > 0 and 2 * outputs or outputs
    for j = first, last - 1 do
      local g = cast(real, p.gradients) + j * width
      local w, rate, decay = tonumber(at[j]) + extra, p.rate, p.decay
      if extra > 0 then
        local factor = load(weight, w - 2)
        rate, decay = rate * factor, decay * factor
        for k = 0, outputs - 1 do
          weight[w - 1] = load(weight, w - 1) - load(g, k) * load(weight, w + k) * rate
        end
        g = g + outputs
        -- Torch7: with one output, the decay is added.
        if outputs == 1 then decay = -decay end
      end
      for k = 0, outputs - 1 do
        local x = load(weight, w + k)
        weight[w + k] = x - x * decay - load(g, k) * rate
      end
    end
  end)

-- Updates the rows of samples' entries at once, with the gradients of the outputs.
th.add_job('index_accumulate',
  'size at starts sizes values weight gradients outputs extra decay scale',
  function(p, first, last)
    local real, load = reals[p.size], loads[p.size]
    local at, starts, sizes = cast(longs, p.at), cast(longs, p.starts), cast(longs, p.sizes)
    local values, weight = cast(real, p.values), cast(real, p.weight)
    local outputs, extra, scale = p.outputs, p.extra, p.scale
    for j = first, last - 1 do
      local g, start = cast(real, p.gradients) + j * outputs, tonumber(starts[j])
      for i = start, start + tonumber(sizes[j]) - 1 do
        local w, factor, decay = tonumber(at[i]) + extra, scale * load(values, i), p.decay
        if extra > 0 then
          local rate = load(weight, w - 2)
          factor, decay = factor * rate, decay * rate
          for k = 0, outputs - 1 do
            weight[w - 1] = load(weight, w - 1) - load(weight, w + k) * scale * load(g, k) * rate
          end
          if outputs == 1 then decay = -decay end
        end
        for k = 0, outputs - 1 do
          local x = load(weight, w + k)
          if outputs > 1 then x = x - x * decay end
          local rest = outputs == 1 and x * decay or 0
          weight[w + k] = x - factor * load(g, k) - rest
        end
      end
    end
  end)

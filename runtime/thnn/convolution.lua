--- Jobs of convolutions: the columns of images (columns.lua), and their products with weights.
-- Elements are multiplied by BLAS, since Lua takes some nans for other values. Addresses are
-- numbers. `size` is the size of an element in bytes; distances in memory are in elements.
-- @module convolution

local jobs = ...
local ffi = require 'ffi'
local copy, fill, cast = ffi.copy, ffi.fill, ffi.cast
local ceil, min = math.ceil, math.min

local loops, image_columns = jobs.part 'thnn.loops', jobs.part 'thnn.columns'
local memory, numbers, loads = loops.memory, loops.numbers, loops.loads
local ints = ffi.typeof('int32_t *')
local unfold, fold, scratch = image_columns.unfold, image_columns.fold, image_columns.scratch

-- ------------------------------------------------------------------ BLAS

local gemm = ffi.typeof('void (*)(const char *, const char *, int64_t *, int64_t *, int64_t *,'
  .. ' void *, intptr_t, int64_t *, intptr_t, int64_t *, void *, intptr_t, int64_t *)')
local long = ffi.typeof('int64_t[1]')
local rows, columns, depth = long(), long(), long()
local apart_a, apart_b, apart_c = long(), long(), long()
local alphas, betas = {}, {}
for size, name in pairs{ [4] = 'float[1]', [8] = 'double[1]' } do
  alphas[size], betas[size] = ffi.new(name), ffi.new(name)
end

-- c = beta * c + alpha * a * b for matrices that are stored by rows, which are `lda`, `ldb`, `ldc`
-- elements apart; a ('T' for `ta`) or b are stored as the transposed matrix. `run` is the address
-- of gemm. For BLAS, which stores by columns, these are the transposed matrices.
local function multiply(run, size, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
  rows[0], columns[0], depth[0] = n, m, k
  apart_a[0], apart_b[0], apart_c[0] = ldb, lda, ldc
  alphas[size][0], betas[size][0] = alpha, beta
  cast(gemm, run)(tb, ta, rows, columns, depth, alphas[size], b, apart_a, a, apart_b, betas[size],
    c, apart_c)
end

-- Sets `count` elements to the one that is at an address.
local function spread_element(size, to, count, element)
  copy(memory + to, memory + element, size)
  local done = 1
  while done < count do
    local more = min(done, count - done)
    copy(memory + (to + done * size), memory + to, more * size)
    done = done + more
  end
end

-- ------------------------------------------------------------------ jobs

-- In all jobs a sample has `planes` planes of an image, and columns with `places` places; `taps`
-- are the places in a kernel. The samples of an image are `imageStep` elements apart, and so on.
-- The columns of all samples are kept where `columnStep` is not 0, otherwise only those of the
-- sample `last`: others are in memory of the job's own. There may be several `kinds` of samples, by
-- turns, each with a matrix of weights, and biases, of its own.

local function columns_of(p, sample, first_row, first_place)
  local at = first_row * p.places + first_place
  if p.columnStep > 0 then return p.columns + (at + sample * p.columnStep) * p.size end
  return sample == p.last and p.columns + at * p.size
end

-- The columns of images: positions are planes of all samples.
jobs.add('nn_unfold', 'size geometry image columns planes taps places imageStep columnStep last',
  function(p, first, last)
    local size, g, planes, taps = p.size, cast(ints, p.geometry), p.planes, p.taps
    for at = first, last - 1 do
      local plane = at % planes
      local sample, k = (at - plane) / planes, plane * taps
      unfold(size, g, taps, p.image + sample * p.imageStep * size, columns_of(p, sample, k, 0),
        p.places, k, k + taps, 0, g[6] * g[7])
    end
  end)

-- Adds the columns of images to these: likewise.
jobs.add('nn_fold',
  'axpy size geometry image columns planes taps places imageStep columnStep last',
  function(p, first, last)
    local size, g, planes, taps = p.size, cast(ints, p.geometry), p.planes, p.taps
    for at = first, last - 1 do
      local plane = at % planes
      local sample, k = (at - plane) / planes, plane * taps
      fold(p.axpy, size, g, taps, columns_of(p, sample, k, 0), p.places,
        p.image + (sample * p.imageStep + plane * g[0] * g[1] * g[2]) * size, 1)
    end
  end)

-- out = bias + weight * columns, the columns of an image. Positions are blocks of `rows` rows of
-- places, `blocks` of them in a sample. `out` has `maps` planes; `bias` is 0 where there is none.
jobs.add('nn_correlate',
  'gemm size geometry image columns weight bias out maps planes taps places kinds rows blocks'
  .. ' imageStep columnStep outStep last',
  function(p, first, last)
    local size, g, maps, places = p.size, cast(ints, p.geometry), p.maps, p.places
    local height, all, width = p.planes * p.taps, g[6] * g[7], g[8]
    for at = first, last - 1 do
      local block = at % p.blocks
      local sample, j0 = (at - block) / p.blocks, block * p.rows
      local j1 = min(j0 + p.rows, all)
      local count, apart = (j1 - j0) * width, places
      local into = columns_of(p, sample, 0, j0 * width)
      if not into then into, apart = scratch(1, height * count * size), count end
      unfold(size, g, p.taps, p.image + sample * p.imageStep * size, into, apart, 0, height, j0, j1)
      local out = p.out + (sample * p.outStep + j0 * width) * size
      local number = sample % p.kinds * maps -- of the kind's first map
      for m = 0, p.bias ~= 0 and maps - 1 or -1 do
        spread_element(size, out + m * places * size, count, p.bias + (number + m) * size)
      end
      multiply(p.gemm, size, 'N', 'N', maps, count, height, 1, p.weight + number * height * size,
        height, into, apart, p.bias ~= 0 and 1 or 0, out, places)
    end
  end)

-- image = bias + the columns transposed(weight) * source, added up. Positions are groups of `group`
-- planes, `groups` of them in a sample. `source` has `maps` planes.
jobs.add('nn_spread',
  'gemm axpy size geometry image columns weight bias source maps planes taps places kinds'
  .. ' group groups imageStep columnStep sourceStep last',
  function(p, first, last)
    local size, g, maps, places = p.size, cast(ints, p.geometry), p.maps, p.places
    local taps, height, plane = p.taps, p.planes * p.taps, g[0] * g[1] * g[2]
    for at = first, last - 1 do
      local group = at % p.groups
      local sample, c0 = (at - group) / p.groups, group * p.group
      local c1 = min(c0 + p.group, p.planes)
      local k0, k1 = c0 * taps, c1 * taps
      local into = columns_of(p, sample, k0, 0) or scratch(1, (k1 - k0) * places * size)
      local weight = p.weight + (sample % p.kinds * maps * height + k0) * size
      multiply(p.gemm, size, 'T', 'N', k1 - k0, places, maps, 1, weight, height,
        p.source + sample * p.sourceStep * size, places, 0, into, places)
      local image = p.image + sample * p.imageStep * size
      if p.bias == 0 then fill(memory + (image + c0 * plane * size), (c1 - c0) * plane * size) end
      for c = c0, p.bias ~= 0 and c1 - 1 or -1 do
        spread_element(size, image + c * plane * size, plane, p.bias + c * size)
      end
      fold(p.axpy, size, g, taps, into, places, image + c0 * plane * size, c1 - c0)
    end
  end)

-- out = beta * out + alpha * source * transposed(columns), added up over the samples of a chunk.
-- Positions are groups of `group` planes, `groups` of them in each chunk, which has a matrix of its
-- own. Chunks begin `chunk` samples apart, and have every `apart`-th of the `reach` samples from
-- there on. There are `samples` samples. Where `image` is 0, all columns are there.
jobs.add('nn_weigh',
  'gemm size geometry image columns out source maps planes taps places group groups chunk reach'
  .. ' apart samples alpha beta imageStep columnStep sourceStep last',
  function(p, first, last)
    local size, g, maps, places = p.size, cast(ints, p.geometry), p.maps, p.places
    local taps, height = p.taps, p.planes * p.taps
    for at = first, last - 1 do
      local group = at % p.groups
      local chunk = (at - group) / p.groups
      local c0, s0 = group * p.group, chunk * p.chunk
      local k0, k1 = c0 * taps, min(c0 + p.group, p.planes) * taps
      local out = p.out + (chunk * maps * height + k0) * size
      local beta = p.beta
      for sample = s0, min(s0 + p.reach, p.samples) - 1, p.apart do
        local into = columns_of(p, sample, k0, 0) or scratch(1, (k1 - k0) * places * size)
        if p.image ~= 0 then
          unfold(size, g, taps, p.image + sample * p.imageStep * size, into, places, k0, k1, 0,
            g[6] * g[7])
        end
        multiply(p.gemm, size, 'N', 'T', maps, k1 - k0, places, p.alpha,
          p.source + sample * p.sourceStep * size, places, into, places, beta, out, height)
        beta = 1
      end
    end
  end)

-- sums += alpha * the sums over the places and samples of maps. Positions are maps.
jobs.add('nn_add_sums', 'size sums source samples places sourceStep alpha',
  function(p, first, last)
    local load, places = loads[p.size], p.places
    local sums, source = cast(numbers[p.size], p.sums), cast(numbers[p.size], p.source)
    local alpha = alphas[p.size]
    alpha[0] = p.alpha
    local factor = load(alpha, 0)
    for m = first, last - 1 do
      local sum = 0
      for sample = 0, p.samples - 1 do
        local at = sample * p.sourceStep + m * places
        for i = at, at + places - 1 do sum = sum + load(source, i) end
      end
      sums[m] = load(sums, m) + factor * sum
    end
  end)

-- Copies of all samples what they have at one of so many places, a row for each sample; or if
-- `back` is true, puts it back there. `loop` copies numbers.
local function copy_place(loop, rows_at, at, size, samples, height, places, back)
  local step = places * size
  for sample = 0, samples - 1 do
    local row, first = rows_at + sample * height * size, at + sample * height * step
    if back then
      loops.compute(loop, height, row, size, first, step, 0, 0)
    else
      loops.compute(loop, height, first, step, row, size, 0, 0)
    end
  end
end

-- Products with weights of their own for each place, of the columns of all samples: out = out +
-- weight * columns; or if `backward` is 1, columns = transposed(weight) * out; or if `gradient` is
-- 1, weight = weight + alpha * out * transposed(columns). Positions are places.
jobs.add('nn_local',
  'gemm size columns weight out backward gradient samples maps height places alpha positive[2]',
  function(p, first, last)
    local loop = loops.loop_of(p, 'positive')
    local run, size, n, maps, height = p.gemm, p.size, p.samples, p.maps, p.height
    local x, y = scratch(1, n * height * size), scratch(4, n * maps * size)
    for place = first, last - 1 do
      local w = p.weight + place * maps * height * size
      local at, to = p.columns + place * size, p.out + place * size
      copy_place(loop, y, to, size, n, maps, p.places, false)
      if p.backward == 1 then
        multiply(run, size, 'N', 'N', n, height, maps, 1, y, maps, w, height, 0, x, height)
        copy_place(loop, x, at, size, n, height, p.places, true)
      else
        copy_place(loop, x, at, size, n, height, p.places, false)
        if p.gradient == 1 then
          multiply(run, size, 'T', 'N', maps, height, n, p.alpha, y, maps, x, height, 1, w, height)
        else
          multiply(run, size, 'N', 'T', n, maps, height, 1, x, height, w, height, 1, y, maps)
          copy_place(loop, y, to, size, n, maps, p.places, true)
        end
      end
    end
  end)

-- Products of weights with the windows of sequences, of which each has `kernel` frames of `frame`
-- elements, and begins `stride` frames behind the one before: out, which has a row for each window,
-- = bias + windows * transposed(weight); or if `backward` is 1, windows = windows + out * weight.
-- Windows that do not overlap are the rows of one matrix. Positions are samples.
jobs.add('nn_sequences',
  'gemm size input weight bias out backward frames frame kernel stride windows maps',
  function(p, first, last)
    local size, maps, windows = p.size, p.maps, p.windows
    local height, turns = p.kernel * p.frame, ceil(p.kernel / p.stride)
    for sample = first, last - 1 do
      for turn = 0, min(turns, windows) - 1 do
        local x = p.input + (sample * p.frames + turn * p.stride) * p.frame * size
        local y = p.out + (sample * windows + turn) * maps * size
        local count, apart = ceil((windows - turn) / turns), turns * p.stride * p.frame
        if p.backward == 1 then
          multiply(p.gemm, size, 'N', 'N', count, height, maps, 1, y, turns * maps, p.weight,
            height, 1, x, apart)
        else
          for i = 0, count - 1 do
            copy(memory + (y + i * turns * maps * size), memory + p.bias, maps * size)
          end
          multiply(p.gemm, size, 'N', 'T', count, maps, height, 1, x, apart, p.weight, height, 1, y,
            turns * maps)
        end
      end
    end
  end)

-- The gradient of these weights: weight = weight + alpha * transposed(out) * windows. Positions are
-- rows of the weight.
jobs.add('nn_weigh_sequences',
  'gemm size input weight out samples frames frame kernel stride windows maps alpha',
  function(p, first, last)
    local size, maps, windows = p.size, p.maps, p.windows
    local height, turns = p.kernel * p.frame, ceil(p.kernel / p.stride)
    for sample = 0, p.samples - 1 do
      for turn = 0, min(turns, windows) - 1 do
        multiply(p.gemm, size, 'T', 'N', last - first, height, ceil((windows - turn) / turns),
          p.alpha, p.out + ((sample * windows + turn) * maps + first) * size, turns * maps,
          p.input + (sample * p.frames + turn * p.stride) * p.frame * size,
          turns * p.stride * p.frame, 1, p.weight + first * height * size, height)
      end
    end
  end)

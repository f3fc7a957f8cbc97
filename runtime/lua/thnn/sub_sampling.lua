--- SpatialSubSampling of few elements, with the steps of runtime/thnn/sub_sampling.py: for each
-- place in the kernel, what lies under it is added for all windows.
-- @module sub_sampling

local th = ...
local ffi = require 'ffi'
local makers, working = th.thnn_kernels, th.thnn_working
local moves, dense = th.blocks.moves, th.formulas.dense
local fits, begin, finish, apart = working.fits, working.begin, working.finish, working.apart
local tonumber, floor, cast = tonumber, math.floor, ffi.cast

local MAX = 8192 -- elements up to which Lua is quicker than a call of Python

-- The planes of all samples, and the height, width, and counts of windows of a call; nil for others
-- than contiguous tensors of few elements. `sizes` is what gradOutput and output have.
local function geometry(input, kw, kh, dw, dh)
  local n, d = dense(input), input.nDimension
  if n == 0 or n > MAX or d ~= 3 and d ~= 4 or not (kw >= 1 and kh >= 1 and dw >= 1 and dh >= 1)
    or kw % 1 ~= 0 or kh % 1 ~= 0 or dw % 1 ~= 0 or dh % 1 ~= 0 then
    return nil
  end
  local height, width = tonumber(input.size[d - 2]), tonumber(input.size[d - 1])
  local rows, columns = floor((height - kh) / dh) + 1, floor((width - kw) / dw) + 1
  if rows < 1 or columns < 1 then return nil end
  return n, n / (height * width), height, width, rows, columns
end

-- Whether a tensor is contiguous, with the input's samples and planes, of rows and columns.
local function is_like(c, input, rows, columns)
  local d = input.nDimension
  if c.nDimension ~= d or dense(c) == 0 or c.size[d - 2] ~= rows or c.size[d - 1] ~= columns then
    return false
  end
  for k = 0, d - 3 do
    if c.size[k] ~= input.size[k] then return false end
  end
  return true
end

-- Where the windows of planes begin, for the last sizes.
local last = {}
local function starts_of(planes, height, width, rows, columns, dw, dh)
  local key = last
  if key[1] == planes and key[2] == height and key[3] == width and key[4] == rows
    and key[5] == columns and key[6] == dw and key[7] == dh then
    return key.starts
  end
  local each = rows * columns
  local starts = th.working_memory('int32_t', planes * each)
  for i = 0, planes * each - 1 do
    local plane, row = floor(i / each), floor(i / columns) % rows
    starts[i] = plane * height * width + row * dh * width + i % columns * dw
  end
  last = { planes, height, width, rows, columns, dw, dh, starts = starts }
  return starts
end

-- For each place in the kernel, and all n windows: adds elements of x to those of r (windows), or
-- the other way round.
local function gather(load, r, x, starts, n, width, kw, kh)
  for tap = 0, kw * kh - 1 do
    local y = floor(tap / kw)
    local first = x + y * width + tap - y * kw
    for i = 0, n - 1 do r[i] = load(r, i) + load(first, starts[i]) end
  end
end

local function scatter(load, r, x, starts, n, width, kw, kh)
  for tap = 0, kw * kh - 1 do
    local y = floor(tap / kw)
    local first = x + y * width + tap - y * kw
    for i = 0, n - 1 do
      local at = starts[i]
      first[at] = load(first, at) + load(r, i)
    end
  end
end

-- r = x * w for planes of n elements, where w has a number for each plane of a sample.
local function multiply(load, r, x, w, planes, count, n)
  for i = 0, planes * n - 1 do r[i] = load(x, i) * load(w, floor(i / n) % count) end
end

function makers.SpatialSubSampling_updateOutput(dtype)
  local load, size = dtype.load, ffi.sizeof(dtype.ctype)
  local pointer = ffi.typeof(dtype.ctype .. ' *')
  return function(input, output, weight, bias, kw, kh, dw, dh)
    local before = moves()
    local n, planes, height, width, rows, columns = geometry(input, kw, kh, dw, dh)
    if not n or not is_like(output, input, rows, columns) then return nil end
    local count, each = tonumber(input.size[input.nDimension - 3]), rows * columns
    if not fits(weight, { count }) or not fits(bias, { count }) then return nil end
    local nr = planes * each
    local starts = starts_of(planes, height, width, rows, columns, dw, dh)
    local mine, px, pw, pb, to, free, pr = begin(size, before, input, n, weight, count, bias, count,
      output, nr, nil, 0)
    if not mine then return nil end
    local x, w, b, r = cast(pointer, px), cast(pointer, pw), cast(pointer, pb), cast(pointer, to)
    for i = 0, nr - 1 do r[i] = 0 end
    gather(load, r, x, starts, nr, width, kw, kh)
    multiply(load, r, r, w, planes, count, each)
    for i = 0, nr - 1 do r[i] = load(r, i) + load(b, floor(i / each) % count) end
    return finish(mine, before, to, pr, nr * size, free, 0, 0)
  end
end

function makers.SpatialSubSampling_updateGradInput(dtype)
  local load, size = dtype.load, ffi.sizeof(dtype.ctype)
  local pointer = ffi.typeof(dtype.ctype .. ' *')
  return function(input, grad_output, gradient, weight, kw, kh, dw, dh)
    local before = moves()
    local n, planes, height, width, rows, columns = geometry(input, kw, kh, dw, dh)
    if not n or not is_like(grad_output, input, rows, columns)
      or not is_like(gradient, input, height, width) then
      return nil
    end
    local count, each = tonumber(input.size[input.nDimension - 3]), rows * columns
    if not fits(weight, { count }) then return nil end
    local starts = starts_of(planes, height, width, rows, columns, dw, dh)
    local mine, pg, pw, _, to, free, pr = begin(size, before, grad_output, planes * each, weight,
      count, nil, 0, gradient, n, nil, 0)
    if not mine then return nil end
    local g, r = cast(pointer, pg), cast(pointer, to)
    multiply(load, g, g, cast(pointer, pw), planes, count, each)
    for i = 0, n - 1 do r[i] = 0 end
    scatter(load, g, r, starts, planes * each, width, kw, kh)
    return finish(mine, before, to, pr, n * size, free, 0, 0)
  end
end

function makers.SpatialSubSampling_accGradParameters(dtype)
  local load, size, add_sums = dtype.load, ffi.sizeof(dtype.ctype), th.thnn_add_sums(dtype)
  local pointer = ffi.typeof(dtype.ctype .. ' *')
  return add_sums and function(input, grad_output, grad_weight, grad_bias, kw, kh, dw, dh, scale)
    local before = moves()
    local n, planes, height, width, rows, columns = geometry(input, kw, kh, dw, dh)
    if not n or not is_like(grad_output, input, rows, columns) then return nil end
    local count, each = tonumber(input.size[input.nDimension - 3]), rows * columns
    if not fits(grad_weight, { count }) or not fits(grad_bias, { count }) then return nil end
    local nr = planes * each
    local starts = starts_of(planes, height, width, rows, columns, dw, dh)
    local mine, px, pg, b, w, free, pw, _, pb = begin(size, before, input, n, grad_output, nr,
      grad_bias, count, grad_weight, count, nil, 0, true)
    if not mine or not apart(pb, count * size, pw, count * size) then return nil end
    local g, sums = cast(pointer, pg), cast(pointer, free)
    for i = 0, nr - 1 do sums[i] = 0 end
    gather(load, sums, cast(pointer, px), starts, nr, width, kw, kh)
    for i = 0, nr - 1 do sums[i] = load(g, i) * load(sums, i) end
    add_sums(w, free, planes / count, count, each, scale)
    add_sums(b, pg, planes / count, count, each, scale)
    if not finish(mine, before, w, pw, count * size, free, 0, 0) then return nil end
    working.copy(pb, b, count * size)
    return true
  end
end

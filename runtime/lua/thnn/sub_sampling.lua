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

-- For each place in the kernel, and all windows of some planes: adds elements of x to those of r
-- (windows), or the other way round. This is no nest of short loops, which LuaJIT compiles badly.
local function add_parts(load, r, x, spread, planes, height, width, rows, columns, kw, kh, dw, dh)
  local column, row, n = 0, 0, planes * rows * columns
  for tap = 0, kw * kh - 1 do
    local y = floor(tap / kw)
    local first = y * width + tap - y * kw
    local at = first
    for i = 0, n - 1 do
      if spread then
        x[at] = load(x, at) + load(r, i)
      else
        r[i] = load(r, i) + load(x, at)
      end
      column = column + 1
      if column < columns then
        at = at + dw
      else
        column, row = 0, row + 1
        if row == rows then
          row, first = 0, first + height * width
          at = first
        else
          at = first + row * dh * width
        end
      end
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
    local mine, px, pw, pb, to, free, pr = begin(size, before, input, n, weight, count, bias, count,
      output, nr, nil, 0)
    if not mine then return nil end
    local x, w, b, r = cast(pointer, px), cast(pointer, pw), cast(pointer, pb), cast(pointer, to)
    for i = 0, nr - 1 do r[i] = 0 end
    add_parts(load, r, x, false, planes, height, width, rows, columns, kw, kh, dw, dh)
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
    local mine, pg, pw, _, to, free, pr = begin(size, before, grad_output, planes * each, weight,
      count, nil, 0, gradient, n, nil, 0)
    if not mine then return nil end
    local g, r = cast(pointer, pg), cast(pointer, to)
    multiply(load, g, g, cast(pointer, pw), planes, count, each)
    for i = 0, n - 1 do r[i] = 0 end
    add_parts(load, g, r, true, planes, height, width, rows, columns, kw, kh, dw, dh)
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
    local mine, px, pg, b, w, free, pw, _, pb = begin(size, before, input, n, grad_output, nr,
      grad_bias, count, grad_weight, count, nil, 0, true)
    if not mine or not apart(pb, count * size, pw, count * size) then return nil end
    local g, sums = cast(pointer, pg), cast(pointer, free)
    for i = 0, nr - 1 do sums[i] = 0 end
    add_parts(load, sums, cast(pointer, px), false, planes, height, width, rows, columns, kw, kh,
      dw, dh)
    for i = 0, nr - 1 do sums[i] = load(g, i) * load(sums, i) end
    add_sums(w, free, planes / count, count, each, scale)
    add_sums(b, pg, planes / count, count, each, scale)
    if not finish(mine, before, w, pw, count * size, free, 0, 0) then return nil end
    working.copy(pb, b, count * size)
    return true
  end
end

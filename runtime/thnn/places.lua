--- Loops over the indices of nn's pooling: what they tell becomes places in planes, from 1, and
-- the other way round. Tables of whole numbers that places are computed from are doubles.
-- @module places

local jobs = ...
local ffi, raw_memory = import('ffi', 'parallel.memory')
local job = jobs.add

local cast, copy = ffi.cast, ffi.copy
local band, bor, lshift, rshift = bit.band, bit.bor, bit.lshift, bit.rshift
local tonumber, floor, ceil, error = tonumber, math.floor, math.ceil, error

local ints, longs = ffi.typeof('int32_t *'), ffi.typeof('int64_t *')
local bytes, doubles = ffi.typeof('char *'), ffi.typeof('double *')

-- Raises the error of positions that are out of range unless `count` numbers (int64) are from
-- `least` to `most`.
job('nn_check', 'source count least most', function(p)
  local source, least, most = cast(longs, p.source), p.least, p.most
  for i = 0, p.count - 1 do
    local number = tonumber(source[i])
    if not (number >= least and number <= most) then error(jobs.OUT_OF_RANGE, 0) end
  end
end)

-- Swaps the lowest byte and the third one of each index (int64), whose other bytes are 0.
job('nn_swap', 'at', function(p, first, last)
  local words = cast(ints, p.at)
  for i = 2 * first, 2 * last - 1, 2 do
    local word = words[i]
    words[i] = bor(band(word, 0xff00), rshift(word, 16), lshift(band(word, 0xff), 16))
  end
end)

-- Places from two indices (int64), of which the second is `apart` behind the first: their sum, each
-- times a factor, and a number of the table `starts` of so many windows. Becomes 0 where the first
-- one is -1 and `skip` is 1; else -1 where it would be 0.
job('nn_places', 'out first apart factors[2] starts count skip', function(p, first, last)
  local out, one, starts, count = cast(longs, p.out), cast(longs, p.first), cast(doubles, p.starts),
    p.count
  local other, factor, second = one + p.apart, p.factors[0], p.factors[1]
  local skipped, window = p.skip == 1 and -1 or nil, first % count
  for i = first, last - 1 do
    local index = tonumber(one[i])
    local place = index * factor + tonumber(other[i]) * second + starts[window]
    if index == skipped then place = 0 elseif place == 0 then place = -1 end
    out[i] = place
    window = window + 1
    if window == count then window = 0 end
  end
end)

-- Rows and columns in their windows, from 1, of indices (int64, from 0) that count a window's
-- elements: all rows, then all columns. `columns` are those of a window (int64), for a row of
-- `width` windows. Of -1 they are what C's division gives.
job('nn_rows', 'out source count columns width', function(p, first, last)
  local rows, source, table, width = cast(longs, p.out), cast(longs, p.source),
    cast(longs, p.columns), p.width
  local of_rows, column = rows + p.count, first % width
  for i = first, last - 1 do
    local index, columns = tonumber(source[i]), tonumber(table[column])
    local quotient = index / columns
    local row = quotient < 0 and ceil(quotient) or floor(quotient)
    rows[i], of_rows[i] = row + 1, index - row * columns + 1
    column = column + 1
    if column == width then column = 0 end
  end
end)

-- Places in volumes of `sizes`, from indices (int64) whose lowest three bytes tell elements of
-- windows along time, height and width, which are `apart` there. `starts` are where the `count`
-- windows begin along time, then along height, then along width. Becomes 0 where an element is one
-- before the first in time, -1 where it would be 0; if `strict` is 1, -1 for all that are outside.
job('nn_volume_places', 'out source starts count apart[3] sizes[3] strict', function(p, first, last)
  local out, words, count, strict = cast(longs, p.out), cast(ints, p.source), p.count, p.strict == 1
  local times = cast(doubles, p.starts)
  local rows, columns = times + count, times + 2 * count
  local apart_t, apart_h, apart_w = p.apart[0], p.apart[1], p.apart[2]
  local size_t, size_h, size_w = p.sizes[0], p.sizes[1], p.sizes[2]
  local window = first % count
  for i = first, last - 1 do
    local word = words[2 * i]
    local t = band(word, 0xff) * apart_t + times[window]
    local h = band(rshift(word, 8), 0xff) * apart_h + rows[window]
    local w = band(rshift(word, 16), 0xff) * apart_w + columns[window]
    local place = (t * size_h + h) * size_w + w + 1
    if strict then
      if t < 0 or t >= size_t or h < 0 or h >= size_h or w < 0 or w >= size_w then place = -1 end
    elseif t == -1 then
      place = 0
    elseif place == 0 then
      place = -1
    end
    out[i] = place
    window = window + 1
    if window == count then window = 0 end
  end
end)

-- Numbers of one size, which are rounded to their type; as a whole number, as C converts them.
local cells = { [4] = ffi.new('float[1]'), [8] = ffi.new('double[1]') }
local loops = jobs.part 'thnn.loops'
local reals, loaders = loops.numbers, loops.loads

local function cut(x)
  if x > -2 ^ 63 and x < 2 ^ 63 then return x < 0 and ceil(x) or floor(x) end
  return -2 ^ 63
end

-- Sets out[j] to where window j of fractional pooling begins along one dimension. A sample moves
-- all but the last, which begins at `room`. Tells whether all are from 0 to that.
local function set_starts(out, cell, sample, windows, room)
  out[windows - 1] = room
  if windows == 1 then return room >= 0 end
  cell[0] = room / (windows - 1)
  local step, right = cell[0], room >= 0
  cell[0] = sample * step
  local least = cut(cell[0])
  for j = 0, windows - 2 do
    cell[0] = j + sample
    cell[0] = cell[0] * step
    local start = cut(cell[0]) - least
    if not (start >= 0 and start <= room) then start, right = 0, false end
    out[j] = start
  end
  return right
end

-- Plans of planes whose windows lie where random samples tell: for each plane `length` numbers of
-- `head`, then the tables places, starts and outs (pooling.lua). A plane has `dims` samples, in
-- the order `order`, and so many numbers (int64) at `right`: 1 where all windows are in the plane
-- along a dimension, else 0.
job('nn_fractions', 'out right source size dims head length order[3] windows[3] room[3] stride[3]',
  function(p, first, last)
    local dims, length, size = p.dims, p.length, p.size
    local cell, load_number = cells[size], loaders[size]
    local source, right = cast(reals[size], p.source), cast(longs, p.right)
    local count = p.windows[0] * p.windows[1] * p.windows[2]
    local along = {}
    for d = 0, dims - 1 do along[d] = raw_memory.working_memory('double', p.windows[d]) end
    for plane = first, last - 1 do
      local table = cast(ints, p.out) + plane * (length + 3 * count)
      copy(table, cast(bytes, p.head), 4 * length)
      table = table + length
      for d = 0, dims - 1 do
        local sample = load_number(source, plane * dims + p.order[d])
        right[plane * dims + d] =
          set_starts(along[d], cell, sample, p.windows[d], p.room[d]) and 1 or 0
      end
      local at = 0
      for a = 0, p.windows[0] - 1 do
        local row = along[0][a] * p.stride[0]
        for b = 0, p.windows[1] - 1 do
          local place = row + along[1][b] * p.stride[1]
          for c = 0, p.windows[2] - 1 do
            local found = dims == 3 and place + along[2][c] or place
            table[at], table[count + at], table[2 * count + at] = found, found + 1, at
            at = at + 1
          end
        end
      end
    end
  end)

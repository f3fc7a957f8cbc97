--- The columns of images, for the jobs of convolutions (convolution.lua).
-- The columns of an image are a matrix with a row for each plane and place in the kernel, and a
-- column for each place of the kernel's window: what lies under the kernel there, or 0 outside of
-- the image. Elements are copied as whole numbers, and added by BLAS or as numbers.load_double
-- reads them, since Lua takes some nans for other values. Addresses are numbers here: pointers in
-- loops would be objects, which keep the collector busy. Sizes and distances in memory are in
-- bytes, if nothing else is said; `size` is that of an element.
-- @module columns

local jobs = ...
local ffi, raw_memory = import('ffi', 'parallel.memory')
local copy, fill, cast = ffi.copy, ffi.fill, ffi.cast
local floor, min, max, tonumber = math.floor, math.min, math.max, tonumber

local loops = jobs.part 'thnn.loops'
local memory, numbers, loads = loops.memory, loops.numbers, loops.loads
local ints, longs = ffi.typeof('int32_t *'), ffi.typeof('int64_t *')

local axpy = ffi.typeof('void (*)(int64_t *, intptr_t, intptr_t, int64_t *, intptr_t, int64_t *)')
local long = ffi.typeof('int64_t[1]')
local length, step, one = long(), long(), long(1)
local units = { [4] = ffi.new('float[1]', 1), [8] = ffi.new('double[1]', 1) }

-- Memory of the jobs' own: 1 for columns that nobody asks for, 2 for edges of planes, 3 for columns
-- of a plane, 4 for maps. It grows.
local kept, room, addresses = {}, { 0, 0, 0, 0 }, {}
local function scratch(number, size)
  if size > room[number] then
    kept[number], room[number] = raw_memory.working_memory('char', size), size
    addresses[number] = tonumber(cast('intptr_t', kept[number]))
  end
  return addresses[number]
end

-- The geometry `g` of windows: int32_t, as runtime/thnn/_columns.py writes them. After the size of
-- the image, strides, and counts of places (each for depth, height, width) it has whether rows of
-- places follow each other as rows of the image do, the width of the kernel, and where the lists of
-- elements begin, 0 if there are none; then EIGHT numbers for each place in the kernel: how far it
-- is from the first place of the window in depth, height and width (less the padding); which
-- columns and rows of places lie in the image there, from the first to before the last; and whether
-- what lies there is what lies under the place above it in the kernel, one row of places further.
local FLAT, WIDTH, LISTS, TAPS, EIGHT = 9, 10, 11, 12, 8

local SMALL = 131072 -- bytes of a plane's columns that it takes little time to copy

-- Sets runs of `size` bytes in `count` rows, `apart` bytes apart, to 0.
local function clear(to, size, apart, count)
  for i = 0, size - 4, 4 do
    local at = to + i
    for _ = 1, count do
      cast(ints, memory + at)[0] = 0
      at = at + apart
    end
  end
end

-- Copies such runs to one place, or back from there.
local function keep(runs, size, apart, count, edges, back)
  for i = 0, size - 4, 4 do
    local at = runs + i
    for _ = 1, count do
      local a, b = cast(ints, memory + at), cast(ints, memory + edges)
      if back then a[0] = b[0] else b[0] = a[0] end
      at, edges = at + apart, edges + 4
    end
  end
end

-- Copies `count` elements that are `stride` elements apart.
local function copy_apart(to, from, size, count, stride)
  if size == 4 then
    for i = 0, count - 1 do
      cast(ints, memory + (to + i * 4))[0] = cast(ints, memory + (from + i * stride * 4))[0]
    end
  else
    for i = 0, count - 1 do
      cast(longs, memory + (to + i * 8))[0] = cast(longs, memory + (from + i * stride * 8))[0]
    end
  end
end

-- Copies `count` rows that are `down` bytes apart, with `before` and `behind` bytes of 0 around.
local function copy_rows(to, from, count, before, inside, behind, down)
  local width = before + inside + behind
  for _ = 1, count do
    if before > 0 then fill(memory + to, before) end
    copy(memory + (to + before), memory + from, inside)
    if behind > 0 then fill(memory + (to + before + inside), behind) end
    to, from = to + width, from + down
  end
end

local function copy_rows_apart(to, from, count, before, inside, behind, down, size, stride)
  local width = before + inside + behind
  for _ = 1, count do
    if before > 0 then fill(memory + to, before) end
    copy_apart(to + before, from, size, inside / size, stride)
    if behind > 0 then fill(memory + (to + before + inside), behind) end
    to, from = to + width, from + down
  end
end

-- Writes one row of the columns of a plane at the depth t, for the rows `first` to `last` - 1 of
-- places. `tap` is where the geometry has the numbers of the place in the kernel.
local function unfold_rows(size, g, tap, image, to, t, first, last)
  local width, z, top, bottom = g[8] * size, t * g[3] + g[tap], first, first
  if z >= 0 and z < g[0] then
    top = min(max(first, g[tap + 5]), last)
    bottom = max(min(last, g[tap + 6]), top)
  end
  if top > first then fill(memory + to, (top - first) * width) end
  if last > bottom then
    fill(memory + (to + (bottom - first) * width), (last - bottom) * width)
  end
  if bottom == top then return end
  local x0, x1 = g[tap + 3], g[tap + 4]
  local before, inside, behind = x0 * size, (x1 - x0) * size, (g[8] - x1) * size
  local row = (z * g[1] + top * g[4] + g[tap + 1]) * g[2]
  local at, from = to + (top - first) * width, image + (row + g[tap + 2] + x0 * g[5]) * size
  local count, down = bottom - top, g[4] * g[2] * size
  if count == 1 and g[5] == 1 then
    if before > 0 then fill(memory + at, before) end
    copy(memory + (at + before), memory + from, inside)
    if behind > 0 then fill(memory + (at + before + inside), behind) end
  elseif g[FLAT] ~= 0 then
    copy(memory + (at + before), memory + from, count * width - before - behind)
    if before > 0 then clear(at, before, width, count) end
    if behind > 0 then clear(at + before + inside, behind, width, count) end
  elseif g[5] == 1 then
    copy_rows(at, from, count, before, inside, behind, down)
  else
    copy_rows_apart(at, from, count, before, inside, behind, down, size, g[5])
  end
end

-- If runs of columns are short, the geometry lists the numbers of elements: of those of a plane's
-- columns and of the plane that are the same; of elements of columns that get others added to them,
-- and these; of elements of the columns that are then added to the plane, and those of the plane.
-- Before the lists stand their lengths.

-- The columns of planes, by the first list.
local function unfold_listed(size, list, taps, image, to, apart, planes, plane)
  local n, all = list[0], taps * apart * size
  local into, from = list + 3, list + 3 + n
  fill(memory + to, planes * all)
  for _ = 1, planes do
    if size == 4 then
      local a, b = cast(ints, memory + to), cast(ints, memory + image)
      for i = 0, n - 1 do a[into[i]] = b[from[i]] end
    else
      local a, b = cast(longs, memory + to), cast(longs, memory + image)
      for i = 0, n - 1 do a[into[i]] = b[from[i]] end
    end
    to, image = to + all, image + plane
  end
end

local function add_listed(load, to, into, from, at, n)
  for i = 0, n - 1 do
    local k = into[i]
    to[k] = load(to, k) + load(from, at[i])
  end
end

-- Adds columns, of which nothing is kept, to a plane, by the other lists.
local function fold_listed(size, list, source, image)
  local load, n, moved, last = loads[size], list[0], list[1], list[2]
  local from, to = cast(numbers[size], source), cast(numbers[size], image)
  local up = list + 3 + 2 * n
  local into = up + 2 * moved
  if moved > 0 then add_listed(load, from, up, from, up + moved, moved) end
  if last > 0 then add_listed(load, to, into + last, from, into, last) end
end

-- Of an image's columns the rows k0 to k1 - 1, and of each those places that are in the rows j0 to
-- j1 - 1 of places. `to` gets them, the rows being `apart` elements apart.
local function unfold(size, g, taps, image, to, apart, k0, k1, j0, j1)
  local plane, high, width = g[0] * g[1] * g[2] * size, g[7], g[8] * size
  local above = g[WIDTH] * apart * size
  if g[LISTS] ~= 0 and j0 == 0 and j1 == g[6] * high and k0 % taps == 0 and k1 % taps == 0 then
    return unfold_listed(size, g + g[LISTS], taps, image + k0 / taps * plane, to, apart,
      (k1 - k0) / taps, plane)
  end
  for k = k0, k1 - 1 do
    local number = k % taps
    local tap, at = TAPS + EIGHT * number, to + (k - k0) * apart * size
    local known = k - g[WIDTH] >= k0 and g[tap + 7] ~= 0
    for t = floor(j0 / high), floor((j1 - 1) / high) do
      local first, last = max(j0 - t * high, 0), min(j1 - t * high, high)
      local done = known and last - first - 1 or 0
      if done > 0 then copy(memory + at, memory + (at - above + width), done * width) end
      unfold_rows(size, g, tap, image + (k - number) / taps * plane, at + done * width, t,
        first + done, last)
      at = at + (last - first) * width
    end
  end
end

-- Adds rows of `width` bytes to rows of an image that are `down` bytes apart.
local function add_rows(add, unit, to, from, count, width, down)
  for _ = 1, count do
    add(length, unit, from, one, to, step)
    to, from = to + down, from + width
  end
end

-- Adds rows of `width` bytes to rows that follow each other in an image. Elements of the rows that
-- lie outside of it (`wide` bytes of each, from `edge` on) are 0 meanwhile.
local function add_flat(add, unit, to, from, count, width, edge, wide)
  if wide == 0 then
    add(length, unit, from, one, to, one)
  else
    local edges = scratch(2, wide * count)
    keep(edge, wide, width, count, edges, false)
    clear(edge, wide, width, count)
    add(length, unit, from, one, to, one)
    keep(edge, wide, width, count, edges, true)
  end
end

-- Adds one row of a plane's columns to the plane. `add` is axpy.
local function fold_row(add, unit, size, g, tap, from, image)
  local width, count = g[8] * size, g[tap + 6] - g[tap + 5]
  local x0, x1, down = g[tap + 3], g[tap + 4], g[4] * g[2] * size
  for t = 0, count > 0 and g[6] - 1 or -1 do
    local z = t * g[3] + g[tap]
    if z >= 0 and z < g[0] then
      local row = (z * g[1] + g[tap + 5] * g[4] + g[tap + 1]) * g[2]
      local to = image + (row + g[tap + 2] + x0 * g[5]) * size
      local at = from + (t * g[7] + g[tap + 5]) * width
      if g[FLAT] ~= 0 then
        length[0] = count * g[8] - x0 - (g[8] - x1)
        add_flat(add, unit, to, at + x0 * size, count, width,
          x0 > 0 and at or at + x1 * size, width - (x1 - x0) * size)
      else
        length[0], step[0] = x1 - x0, g[5]
        add_rows(add, unit, to, at + x0 * size, count, width, down)
      end
    end
  end
end

-- Adds a plane's columns, of which nothing is kept, to the plane: what is the same as under the
-- place above in the kernel is added there first. The last rows of places go to the plane at once.
local function fold_small(add, unit, size, g, taps, from, image)
  local width, high = g[8] * size, g[7]
  local places = g[6] * high * width
  for number = taps - 1, 0, -1 do
    local tap, at = TAPS + EIGHT * number, from + number * places
    if g[tap + 7] ~= 0 then
      local above, y = at - g[WIDTH] * places, high - 1
      local x0, inside = g[tap + 3], g[tap + 4] - g[tap + 3]
      for t = 0, g[6] - 1 do
        local z, begin = t * g[3] + g[tap], t * high * width
        length[0], step[0] = y * g[8], g[5]
        add(length, unit, at + begin, one, above + begin + width, one)
        if y >= g[tap + 5] and y < g[tap + 6] and z >= 0 and z < g[0] then
          local row = (z * g[1] + y * g[4] + g[tap + 1]) * g[2] + g[tap + 2] + x0 * g[5]
          length[0] = inside
          add(length, unit, at + begin + y * width + x0 * size, one, image + row * size, step)
        end
      end
    else
      fold_row(add, unit, size, g, tap, at, image)
    end
  end
end

-- Adds the columns of some planes, the rows being `apart` elements apart, to these; `run` is the
-- address of axpy.
local function fold(run, size, g, taps, from, apart, image, planes)
  local plane, add = g[0] * g[1] * g[2] * size, cast(axpy, run)
  local unit, all = tonumber(cast('intptr_t', units[size])), taps * apart * size
  local small = g[FLAT] == 0 and all <= SMALL
  for c = 0, planes - 1 do
    if g[LISTS] ~= 0 then
      local memory_of_plane = scratch(3, SMALL)
      copy(memory + memory_of_plane, memory + (from + c * all), all)
      fold_listed(size, g + g[LISTS], memory_of_plane, image + c * plane)
    elseif small then
      local memory_of_plane = scratch(3, SMALL)
      copy(memory + memory_of_plane, memory + (from + c * all), all)
      fold_small(add, unit, size, g, taps, memory_of_plane, image + c * plane)
    else
      for number = 0, taps - 1 do
        fold_row(add, unit, size, g, TAPS + EIGHT * number,
          from + (c * taps + number) * apart * size, image + c * plane)
      end
    end
  end
end

return { unfold = unfold, fold = fold, scratch = scratch }

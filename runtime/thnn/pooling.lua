--- Loops of nn's pooling, padding and unpooling over planes of raw memory.
-- A plane is what windows lie in: an image, a volume, or a sequence of frames. A plan of whole
-- numbers (runtime/thnn/_planes.py) tells what the windows are: how many groups of them there are,
-- and how many planes are a block, which has tables together; then, for each group, how many
-- elements a window has, how many windows a plane has, a divisor, a number for the windows' shape
-- (offsets and codes), and these tables:
--
--     offsets   of a window's elements from its first one
--     codes     for each element what an index tells of it; they increase
--     places    of each window's first element in the block
--     starts    what is added to a code, to make the window's index
--     outs      of each window's result in the block
--
-- Windows of a group have the same shape. So a function is written for them that has no loop over
-- their elements, and no branches: nobody can predict which element of a window is the largest. It
-- computes with finite numbers only; blocks that have others are done element by element.
-- @module pooling

local jobs = ...
local ffi = require 'ffi'
local job = jobs.add

local cast, fill, compile, dump = ffi.cast, ffi.fill, loadstring, string.dump
local max, min, concat, error = math.max, math.min, table.concat, error

local UNROLLED, SUMMED = 49, 80 -- elements of a window up to which the loop over them is written
                                 -- out, that of sums; LuaJIT compiles no much longer functions
local KEPT = 200     -- functions for shapes of windows

local ints, longs = ffi.typeof('int32_t *'), ffi.typeof('int64_t *')
local whole = { [4] = ints, [8] = longs }
local wholes = ffi.typeof('uint64_t *')
local number_loops = jobs.part 'thnn.loops'
local reals, loaders = number_loops.numbers, number_loops.loads
local are_finite = number_loops.are_finite

-- ------------------------------------------------------------------ loops for each size

-- Loops over numbers of one size: those of others are copies, since LuaJIT compiles a loop for the
-- types that it meets first. So nothing outside is used here.
local function make_loops(load_number, Whole, Long, as, fail, out_of_range)
  -- Largest elements of any numbers: nans, and what is not above `lowest`, are passed over.
  local function largest_of_any(x, out, indices, lowest, none, count, windows,
      offsets, codes, places, starts, outs)
    for t = 0, windows - 1 do
      local at, m, found = places[t], lowest, -1
      for j = 0, count - 1 do
        local v = load_number(x, at + offsets[j])
        if v > m then m, found = v, j end
      end
      local to = outs[t]
      out[to] = m
      indices[to] = found >= 0 and codes[found] + starts[t] or none
    end
  end

  local function average_of_any(x, out, count, windows, divisor, offsets, places, outs)
    for t = 0, windows - 1 do
      local at, s = places[t], 0
      for j = 0, count - 1 do s = s + load_number(x, at + offsets[j]) end
      out[outs[t]] = 0 + s / divisor
    end
  end

  -- Three ways to put the numbers of a block of planes where `places` tells, counted from 1.
  -- `starts` tells where in the block the plane of each number begins.

  local function add_finite(out, source, places, starts, count, limit, skip)
    local all = as(Long, places)
    for t = 0, count - 1 do
      if all[t] - 1ULL < limit then
        local k = places[t].low + starts[t]
        out[k] = out[k] + source[t]
      elseif not skip or all[t] ~= 0 then
        fail(out_of_range, 0)
      end
    end
  end

  local function add_any(out, source, places, starts, count, limit, skip)
    local all = as(Long, places)
    for t = 0, count - 1 do
      if all[t] - 1ULL < limit then
        local k = places[t].low + starts[t]
        out[k] = load_number(out, k) + load_number(source, t)
      elseif not skip or all[t] ~= 0 then
        fail(out_of_range, 0)
      end
    end
  end

  local function store(out, source, places, starts, count, limit, skip)
    local all = as(Long, places)
    local to, from = as(Whole, out), as(Whole, source)
    for t = 0, count - 1 do
      if all[t] - 1ULL < limit then
        to[places[t].low + starts[t]] = from[t]
      elseif not skip or all[t] ~= 0 then
        fail(out_of_range, 0)
      end
    end
  end

  local function copy(to, from, table, count)
    for t = 0, count - 1 do to[t] = from[table[t]] end
  end

  local function collect(out, source, table, count)
    for t = 0, count - 1 do
      local k = table[t]
      out[k] = out[k] + load_number(source, t)
    end
  end

  return { largest_of_any = largest_of_any, average_of_any = average_of_any,
    add_finite = add_finite, add_any = add_any, store = store, copy = copy, collect = collect }
end

local loops = {}
for size, load_number in pairs(loaders) do
  loops[size] = compile(dump(make_loops))(load_number, whole[size], wholes, cast, error,
    jobs.OUT_OF_RANGE)
end

-- ------------------------------------------------------------------ windows

-- Makes functions of source for the shapes of windows, which have numbers, and keeps them. `line`
-- is the line for an element behind the first, with OFFSET and CODE; `loop_line` that in a loop,
-- for windows of more than `most` elements.
local function written(source, most, line, loop_line)
  local known = { [4] = {}, [8] = {}, count = 0 }
  local function write(size, count, offsets, codes)
    local body = {}
    for j = 1, count <= most and count - 1 or 0 do
      body[j] = 'do ' .. line:gsub('OFFSET', offsets[j]):gsub('CODE', codes[j]) .. ' end'
    end
    if count > most then body[1] = ('for j = 1, %d do %s end'):format(count - 1, loop_line) end
    -- HUGE times the smallest difference of two numbers must be larger than any code.
    local text = source:gsub('BODY', (concat(body, '\n')))
      :gsub('HUGE', size == 8 and '1e300 * 1e300' or '1e300')
    return assert(compile(text, '=[th] thnn/pooling.lua'))(max, min, loaders[size])
  end
  return function(shape, size, count, offsets, codes)
    local f = known[size][shape]
    if f then return f end
    if known.count == KEPT then known = { [4] = {}, [8] = {}, count = 0 } end
    f = write(size, count, offsets, codes)
    known[size][shape], known.count = f, known.count + 1
    return f
  end
end

-- Calls `run` for the groups of the blocks of planes `first` to before `last`: with the job's
-- parameters, what `prepare` said of the block, pointers to its input, output and indices, how many
-- elements a window has, how many windows there are, the divisor, the shape's number, and the
-- tables.
local function each_group(p, first, last, prepare, run)
  local plans, step, at = cast(ints, p.plan), p.planStep, first
  local numbers, in_plane, out_plane = reals[p.size], p.inPlane, p.outPlane
  local inputs, outputs, all_indices = cast(numbers, p.input), cast(numbers, p.output),
    cast(longs, p.indices)
  while at < last do
    local group = plans + at * step
    local groups, block = group[0], group[1]
    local planes = min(block, last - at)
    local x, out, indices = inputs + at * in_plane, outputs + at * out_plane,
      all_indices + at * out_plane
    local quick = prepare(p, x, planes * in_plane)
    group = group + 2
    for _ = 1, groups do
      local count, windows = group[0], group[1]
      local offsets, all = group + 4, block * windows
      local codes = offsets + count
      local places = codes + count
      run(p, quick, x, out, indices, count, planes * windows, group[2], group[3],
        offsets, codes, places, places + all, places + 2 * all)
      group = places + 3 * all
    end
    at = at + planes
  end
end

-- Makes the function that says whether a block's input is finite, and below a limit in size.
local function finite_below(limit)
  return function(p, x, count) return are_finite(p.asum, p.size, x, count, limit) end
end

-- ------------------------------------------------------------------ the largest element

-- For v > m the difference, made huge, is greater than the code, which then becomes k; otherwise it
-- is not positive, and k stays. Of two zeros, max gives its last argument: m, the first of them.
local largest = written([=[
local max, min = ...
return function(x, out, indices, count, offsets, codes, places, starts, outs)
  local c0 = codes[0]
  for t = 0, count - 1 do
    local p = x + places[t]
    local m, k = p[0] - 0, c0 + 0
    BODY
    local to = outs[t]
    out[to], indices[to] = m, k + starts[t]
  end
end]=], UNROLLED, 'local v = p[OFFSET] k = max(k, min(CODE, (v - m) * HUGE)) m = max(v, m)',
  'local v = p[offsets[j]] if v > m then m, k = v, codes[j] + 0 end')

local function pool_largest(p, quick, x, out, indices, count, windows, _, shape,
    offsets, codes, places, starts, outs)
  if quick and count > 0 then
    local f = largest(shape, p.size, count, offsets, codes)
    f(x, out, indices, windows, offsets, codes, places, starts, outs)
  else
    loops[p.size].largest_of_any(x, out, indices, p.lowest, p.none, count, windows,
      offsets, codes, places, starts, outs)
  end
end

-- The largest element of each window, and its index; `none` is the index if no element is greater
-- than `lowest`. `planStep` is how far the planes' plans are apart; 0 if all have the same.
job('nn_largest', 'size input output indices inPlane outPlane plan planStep lowest none asum',
  function(p, first, last)
    each_group(p, first, last, finite_below(-p.lowest), pool_largest)
  end)

-- ------------------------------------------------------------------ averages

local average = written([=[
return function(x, out, count, divisor, offsets, places, outs)
  for t = 0, count - 1 do
    local p = x + places[t]
    local s = p[0]
    BODY
    out[outs[t]] = s / divisor
  end
end]=], SUMMED, 's = s + p[OFFSET]', 's = s + p[offsets[j]]')

local function pool_average(p, quick, x, out, _, count, windows, divisor, shape,
    offsets, codes, places, _, outs)
  if quick and count > 0 then
    local f = average(shape, p.size, count, offsets, codes)
    f(x, out, windows, divisor, offsets, places, outs)
  else
    loops[p.size].average_of_any(x, out, count, windows, divisor, offsets, places, outs)
  end
end

-- The sum of each window's elements, divided. There are no indices.
job('nn_average', 'size input output indices inPlane outPlane plan planStep asum',
  function(p, first, last) each_group(p, first, last, finite_below(1 / 0), pool_average) end)

local share = written([=[
local _, _, load_number = ...
return function(x, y, count, divisor, offsets, places, outs)
  for t = 0, count - 1 do
    local p, v = x + places[t], load_number(y, outs[t]) / divisor
    p[0] = p[0] + v
    BODY
  end
end]=], SUMMED, 'p[OFFSET] = p[OFFSET] + v', 'p[offsets[j]] = p[offsets[j]] + v')

local function clear(p, x, count)
  fill(x, count * p.size)
end

local function share_out(p, _, x, y, _, count, windows, divisor, shape,
    offsets, codes, places, _, outs)
  if count == 0 then return end
  share(shape, p.size, count, offsets, codes)(x, y, windows, divisor, offsets, places, outs)
end

-- The gradient of averages: adds what each window got, divided, to its elements, 0 before.
job('nn_share', 'size input output indices inPlane outPlane plan planStep',
  function(p, first, last) each_group(p, first, last, clear, share_out) end)

-- ------------------------------------------------------------------ elements by their places

-- An int64 whose lower half is read alone, once the whole is known to be a place in a plane.
local Place = ffi.typeof('struct { int32_t low, high; } *')

-- Adds numbers to the elements of their planes that `places` tells (int64, from 1), which are 0
-- before; or, if `add` is 0, stores them there. Places of 0 are passed over if `skip` is 1; all
-- that are not in the plane are an error. `block` planes have a table together.
job('nn_scatter', 'size out source places starts block outPlane inPlane add skip asum',
  function(p, first, last)
    local size, skip, in_plane, out_plane = p.size, p.skip == 1, p.inPlane, p.outPlane
    local limit = ffi.new('uint64_t', out_plane)
    for at = first, last - 1, p.block do
      local planes = min(p.block, last - at)
      local count = planes * in_plane
      local out = cast(reals[size], p.out) + at * out_plane
      local source = cast(reals[size], p.source) + at * in_plane
      fill(out, planes * out_plane * size)
      local put = loops[size].store
      if p.add ~= 0 then
        put = are_finite(p.asum, size, source, count, 1 / 0) and loops[size].add_finite
          or loops[size].add_any
      end
      put(out - 1, source, cast(Place, p.places) + at * in_plane, cast(ints, p.starts), count,
        limit, skip)
    end
  end)

-- Copies the elements of each plane that a table of places (int32, from 0) names.
job('nn_copy', 'size out source table outPlane inPlane', function(p, first, last)
  local size, out_plane, table = p.size, p.outPlane, cast(ints, p.table)
  for at = first, last - 1 do
    local out = cast(whole[size], p.out) + at * out_plane
    local source = cast(whole[size], p.source) + at * p.inPlane
    loops[size].copy(out, source, table, out_plane)
  end
end)

-- The gradient of that: adds numbers to the elements that the table names, which are 0 before.
job('nn_collect', 'size out source table outPlane inPlane', function(p, first, last)
  local size, in_plane, table = p.size, p.inPlane, cast(ints, p.table)
  for at = first, last - 1 do
    local out = cast(reals[size], p.out) + at * p.outPlane
    local source = cast(reals[size], p.source) + at * in_plane
    fill(out, p.outPlane * size)
    loops[size].collect(out, source, table, in_plane)
  end
end)

-- ------------------------------------------------------------------ weighted sums

-- Makes functions for sums of so many elements, and keeps them. `line` is that for an element, with
-- AT for where its place and weight are; `before` is what a sum begins with, `first` and `last` are
-- around these lines.
local function weighing(before, line, first, last)
  local known = { [4] = {}, [8] = {} }
  local function write(size, count, finite)
    local body = {}
    for j = 0, count - 1 do body[j + 1] = (line:gsub('AT', 'at + ' .. j)) end
    local text = ([=[
local load_number = ...
return function(x, y, places, weights, windows)
  local at = 0
  for t = 0, windows - 1 do
    local s = %s
    %s
    %s
    %s
    at = at + %d
  end
end]=]):format(before, first, concat(body, '\n'), last, count)
    if finite then text = text:gsub('load_number(%b())', function(arguments)
      return (arguments:gsub('%((%w+), (.*)%)', '%1[%2]'))
    end) end
    return assert(compile(text, '=[th] thnn/pooling.lua'))(loaders[size])
  end
  return function(size, count, finite)
    local key = finite and -count or count
    local f = known[size][key] or write(size, count, finite)
    known[size][key] = f
    return f
  end
end

local weigh = weighing('0', 's = s + weights[AT] * load_number(x, places[AT])', '', 'y[t] = s')
local weigh_back = weighing('load_number(y, t)',
  'do local k = places[AT] x[k] = x[k] + weights[AT] * s end', 'if s ~= 0 then', 'end')

-- Sums of `count` elements of each plane, by tables of their places (int32, from 0) and weights
-- (doubles); or, if `back` is 1, the gradient: what each element, 0 before, has of the sums.
job('nn_interpolate', 'size input output places weights count inPlane outPlane back asum',
  function(p, first, last)
    local size, back = p.size, p.back == 1
    local places, weights = cast(ints, p.places), cast(reals[8], p.weights)
    local inputs, outputs = cast(reals[size], p.input), cast(reals[size], p.output)
    for at = first, last - 1 do
      local x, y = inputs + at * p.inPlane, outputs + at * p.outPlane
      local finite = back and are_finite(p.asum, size, y, p.outPlane, 1 / 0)
        or not back and are_finite(p.asum, size, x, p.inPlane, 1 / 0)
      if back then fill(x, p.inPlane * size) end
      (back and weigh_back or weigh)(size, p.count, finite)(x, y, places, weights, p.outPlane)
    end
  end)

--- The positions of extrema among elements. This module is loaded once for each function that looks
-- for some (compute/reduction_code.py): LuaJIT compiles a loop for one type of elements.
-- @module places

local dtype, MIN_TURNS = ...
local ffi, raw_memory = import('ffi', 'parallel.memory')

local SIZE = ffi.sizeof(dtype.ctype)

-- Does what `find` does where there are nans: from the last element on, so that the first of equal
-- ones remains.
local function find_backwards(load, at, extrema, elements, results, count)
  for k = results * count - 1, 0, -1 do
    local place = k % count
    local x, extremum = load(elements, k), load(extrema, (k - place) / count)
    if x == extremum or (x ~= x and extremum ~= extremum) then
      at[(k - place) / count] = place + 1
      ffi.copy(extrema + (k - place) / count, elements + k, SIZE)
    end
  end
end

--- Sets the elements of `at` to where the extrema of `results` times `count` elements are, from 1:
-- the first of equal elements, or the first nan. Extrema that are 0 or nan, of which there are
-- several, become these elements.
-- @param extrema, elements pointers to buffers. An extremum is a nan where an element is one.
local function find(load, at, extrema, elements, results, count)
  local result, first, k, spare, extremum = 0, 0, 0, MIN_TURNS, load(extrema, 0)
  for _ = 1, results * count + MIN_TURNS do
    if elements[k] ~= extremum then
      if extremum ~= extremum then
        find_backwards(load, at, extrema, elements, results, count)
        return
      end
      k = k + 1
    else
      at[result] = k - first + 1
      if extremum == 0 then extrema[result] = elements[k] end
      if result + 1 < results then
        result, first = result + 1, first + count
        k, extremum = first, load(extrema, result)
      elseif spare == 0 then
        break
      else
        spare = spare - 1
      end
    end
  end
end

-- LuaJIT compiles the way that a loop takes after some turns: here, from element to element.
do
  local count = 400
  local numbers, at = raw_memory.working_memory(dtype.ctype, count + 1), ffi.new('int64_t[1]')
  numbers[count - 1], numbers[count] = 1, 1
  local elements = ffi.cast(dtype.pointer, numbers)
  find(dtype.load, ffi.cast('int64_t *', at), elements + count, elements, 1, count)
end

return find

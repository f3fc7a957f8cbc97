-- SparseLinear with both forms of its input, and IndexLinear.
local cases = {}

-- Rows of (row, column, value) by rows, or by columns, some of them out of order.
local function coo(r, rows, columns, by)
  local list = {}
  for k = 1, r.int(1, 5) do
    list[k] = { r.int(1, rows), r.int(1, columns), r.int(1, 6) == 1 and 0 or r.real(-1, 1) }
  end
  if r.int(1, 8) > 1 then table.sort(list, function(a, b) return a[by] < b[by] end) end
  if r.int(1, 15) == 1 then list[1][2] = columns + 1 end
  local x = r.plain(#list, 3)
  for k, entry in ipairs(list) do for c = 1, 3 do x[k][c] = entry[c] end end
  return x
end
local function pairs_of(r, rows, columns)
  local n = r.int(1, 3)
  local x = r.plain(rows, n, 2)
  for i = 1, rows do
    for k = 1, n do
      x[i][k][1] = r.int(1, columns)
      x[i][k][2] = r.int(1, 6) == 1 and 0 or r.real(-1, 1)
    end
  end
  if r.int(1, 15) == 1 then x[1][1][1] = columns + 1 end
  return x
end
local function dims(r) return r.int(1, 3), r.int(1, 4), r.int(1, 4) end
local function wrong(r, n) return r.int(1, 15) == 1 and n + 1 or n end

for prefix, make in pairs{ u = coo, legacyU = pairs_of } do
  cases['SparseLinear_' .. prefix .. 'pdateOutput'] = function(r)
    local b, i, o = dims(r)
    return { make(r, b, i, 1), r.zeros(b, o), r.tensor(o, i), r.tensor(wrong(r, o)) }
  end
  cases['SparseLinear_' .. (prefix == 'u' and 'a' or 'legacyA') .. 'ccGradParameters'] = function(r)
    local b, i, o = dims(r)
    return { make(r, b, i, 2), r.plain(b, o), r.tensor(o, wrong(r, i)), r.tensor(wrong(r, o)), r.tensor(o, i),
      r.tensor(o), r.pick(0, 0.5), r.real(0, 2) }
  end
  cases['SparseLinear_' .. prefix .. 'pdateParameters'] = function(r)
    local b, i, o = dims(r)
    local x = make(r, b, i, 1)
    if prefix ~= 'u' then x:select(3, 2):fill(1) end
    return { r.tensor(o, i), r.tensor(wrong(r, o)), r.tensor(o, wrong(r, i)), r.tensor(o), x,
      r.real(0, 1) }
  end
  cases['SparseLinear_' .. (prefix == 'u' and 'z' or 'legacyZ') .. 'eroGradParameters'] = function(r)
    local b, i, o = dims(r)
    return { r.tensor(o, i), r.tensor(wrong(r, o)), make(r, b, i, 1) }
  end
end

-- Entries of samples: keys, values, how many each sample has, and their sums so far.
local function entries(r, rows)
  local batch, n = r.int(1, 3), 0
  local sizes, ends = r.longs(batch), r.longs(batch)
  for j = 1, batch do
    sizes[j] = r.int(1, 3)
    n = n + sizes[j]
    ends[j] = n
  end
  local keys = r.index(rows, n)
  return keys, r.plain(r.int(1, 15) == 1 and n + 1 or n), sizes, ends, batch, n
end
local function weights(r)
  local rows, o, extra = r.int(2, 4), r.int(1, 3), r.pick(0, 4)
  return r.positive(rows, o + extra):contiguous(), r.plain(o), rows, o, extra
end
function cases.IndexLinear_updateOutput(r)
  local weight, bias, rows = weights(r)
  local keys, values, sizes, ends = entries(r, rows)
  return { keys, -1, values, sizes, ends, r.zeros(1), weight, bias, r.zeros(1), r.int(0, 1) }
end
function cases.IndexLinear_accGradParameters(r)
  local weight, bias, rows, o = weights(r)
  local keys, values, sizes, ends, batch = entries(r, rows)
  return { keys, -1, values, sizes, ends, r.plain(batch, o), r.zeros(1), r.plain(o), weight, bias,
    r.zeros(1), r.pick(0, 0.5), r.real(0, 1) }
end
function cases.IndexLinear_accUpdateGradParameters(r)
  local weight, bias, rows, o = weights(r)
  local keys, values, sizes, ends, batch = entries(r, rows)
  return { keys, -1, values, sizes, ends, r.plain(batch, o), weight, bias, r.pick(0, 0.5),
    r.real(0, 1) }
end
function cases.IndexLinear_updateParameters(r)
  local weight, bias, rows, o, extra = weights(r)
  local n = r.int(1, 4)
  return { r.plain(n, o * (extra > 0 and 2 or 1)), r.plain(o), weight, bias, r.index(rows, n),
    r.longs(1), -1, r.pick(0, 0.5), r.real(0, 1) }
end
return cases

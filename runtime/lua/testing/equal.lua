--- Deep equality for torch.Tester: numbers, tables, tensors, storages, within a tolerance.
-- Every comparison answers two things: whether the test holds (equal, or unequal where it is
-- negated), and the sentence for the report.
-- @module tester_equal

local format = string.format

local equal = {}

-- Not every type has abs.
local function with_abs(x)
  return x.abs and x or x:double()
end

local function same_format(a, b, tolerance, negate, what)
  a, b = with_abs(a), with_abs(b)
  local difference = a:clone():add(-1, b):abs():max()
  if (difference <= tolerance) == not negate then return true end
  return false, format('%s%s violation: max diff=%s, tolerance=%s', what,
    negate and 'NE(==)' or 'EQ(==)', tostring(difference), tostring(tolerance))
end

--- Tensors; `any_shape`: equally many elements are enough.
function equal.tensors(a, b, tolerance, negate, any_shape)
  if not any_shape and a:dim() ~= b:dim() then
    return negate, 'The tensors have different dimensions'
  elseif a:type() ~= b:type() then
    return negate, 'The tensors have different types'
  elseif a:dim() == 0 and b:dim() == 0 then
    return not negate, 'Both tensors are empty'
  end
  local alike
  if any_shape then alike = a:nElement() == b:nElement() else alike = a:isSameSizeAs(b) end
  if not alike then return negate, 'The tensors have different sizes' end
  return same_format(a, b, tolerance, negate, 'Tensor')
end

local function storages(a, b, tolerance, negate)
  if a:size() ~= b:size() then return negate, 'The storages have different sizes' end
  local name = torch.type(a)
  if name ~= torch.type(b) then return negate, 'The storages have different types' end
  local tensor = torch.getconstructortable((name:gsub('Storage$', 'Tensor')))
  return same_format(tensor(a), tensor(b), tolerance, negate, 'Storage')
end

local function numbers(a, b, tolerance, negate)
  if (math.abs(a - b) <= tolerance) == not negate then return true end
  local message = format(negate and 'NE failed: %s == %s' or 'EQ failed: %s ~= %s',
    tostring(a), tostring(b))
  if tolerance > 0 then message = message .. ' with tolerance=' .. tostring(tolerance) end
  return false, message
end

local function others(a, b, negate)
  if (a == b) == not negate then return true end
  local text = negate and 'NE failed: %s (%s) == %s (%s)' or 'EQ failed: %s (%s) ~= %s (%s)'
  return false, format(text, tostring(a), type(a), tostring(b), type(b))
end

-- Breadth first: of two deep tables, the shallowest difference tells most.
local function tables(a, b, tolerance, negate)
  local waiting, at = { { a, b, '' } }, 1
  while waiting[at] do
    local x, y, prefix = unpack(waiting[at])
    for key, left in pairs(x) do
      local place, right = prefix .. tostring(key), y[key]
      if right == nil then
        return negate, format('Entry %s missing in second table (is %s in first)', place,
          tostring(left))
      elseif type(left) == 'table' and type(right) == 'table' then
        waiting[#waiting + 1] = { left, right, place .. '.' }
      else
        local same, message = equal.values(left, right, tolerance, false)
        if not same then return negate, 'At table location ' .. place .. ': ' .. message end
      end
    end
    for key, right in pairs(y) do
      if x[key] == nil then
        return negate, format('Entry %s missing in first table (is %s in second)',
          prefix .. tostring(key), tostring(right))
      end
    end
    at = at + 1
  end
  return not negate, 'The tables are equal'
end

--- Any two values.
function equal.values(a, b, tolerance, negate)
  if type(a) ~= type(b) then
    return negate, format('EQ failed: values have different types (first: %s, second: %s)',
      type(a), type(b))
  elseif type(a) == 'number' then
    return numbers(a, b, tolerance, negate)
  elseif type(a) == 'table' then
    return tables(a, b, tolerance, negate)
  elseif torch.isTensor(a) then
    return equal.tensors(a, b, tolerance, negate)
  elseif torch.isStorage(a) then
    return storages(a, b, tolerance, negate)
  end
  return others(a, b, negate)
end

return equal

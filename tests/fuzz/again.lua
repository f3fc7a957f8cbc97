--- For programs of large tensors: calls that get the results of earlier ones as destinations.
-- @script again

local ffi = require 'ffi'
ffi.cdef 'int memcmp(const void *, const void *, size_t);'
local select, unpack, max, abs = select, unpack, math.max, math.abs

local results = {} -- of earlier calls, by their types: the next destinations

--- Forgets the results of a program's calls.
function forget() results = {} end

--- A tensor of a class ('Double') whose elements are from 1 to a limit.
function indices(name, limit, ...)
  local x = torch[name .. 'Tensor'](...)
  local s, k = x:storage(), 0
  for i = 1, #s do
    k = (k * 3 + 1) % limit
    s[i] = k + 1
  end
  return x
end

-- Whether two results have the same elements, but for last digits. Functions of torch make results
-- of the default type where no argument tells another.
local function same(x, y)
  if not torch.isTensor(x) or x:type() ~= y:type() then return true end
  if not x:isSameSizeAs(y) then return false end
  y = y:clone()
  local n, p, q = x:nElement(), torch.data(x), torch.data(y)
  if n == 0 or ffi.C.memcmp(p, q, n * x:elementSize()) == 0 then return true end
  if not x:type():find('Double') and not x:type():find('Float') then return false end
  for i = 0, n - 1 do
    local a, b = p[i], q[i]
    if not (a == b or a ~= a and b ~= b) then
      if not (abs(a - b) <= 1e-4 * max(abs(a), abs(b), 1)) then return false end
    end
  end
  return true
end

-- Whether a tensor shares its storage with none of some others, and its elements share no memory.
local function is_owned(x, keep)
  if not torch.isTensor(x) or not x:storage() then return false end
  for d = 1, x:dim() do
    if x:stride(d) == 0 and x:size(d) > 1 then return false end
  end
  for _, y in pairs(keep) do
    if torch.isTensor(y) and y:storage() and torch.pointer(y:storage()) == torch.pointer(x:storage())
    then
      return false
    end
  end
  return true
end

local function call(f, ...)
  torch.manualSeed(3)
  return { try(f, ...) }
end

-- Operations that move one element after the other, as the reference does.
local function is_in_turn(name)
  return name:find('gather') or name:find('scatter') or name:find('%.index') or name:find('masked')
end

-- A view for a result in the memory of the first operand of its type, with what gives this memory
-- its elements back; nil where there is none that is large enough.
local function view_of_operand(result, ...)
  for i = 1, select('#', ...) do
    local x = select(i, ...)
    local storage = torch.isTensor(x) and x:type() == result:type() and x:storage()
    local room = storage and storage:size() - result:nElement() or -1
    if room >= 0 then
      local kept = storage.new(#storage):copy(storage)
      local view = x.new():set(storage, 1 + result:nElement() % (math.min(room, 3) + 1), result:size())
      return view, function() storage:copy(kept) end
    end
  end
end

--- Calls f with arguments; then twice with destinations before these, which were results before,
-- and once with a destination that shares memory with an operand.
-- @param name what a finding calls f
-- @param kinds the types of the destinations
-- @param is_compared whether the results have to be the same
function again(name, f, kinds, is_compared, ...)
  local found = call(f, ...)
  if found[1] == nil then return end
  local wanted, given, count = {}, {}, #kinds
  for i, kind in ipairs(kinds) do
    wanted[i] = torch.isTensor(found[i]) and found[i]:clone()
    local is_free = kinds[i - 1] ~= kind and is_owned(results[kind], v)
    given[i] = is_free and results[kind] or torch[kind]()
  end
  for i = 1, select('#', ...) do given[count + i] = select(i, ...) end
  for times = 1, 2 do
    local got = call(f, unpack(given, 1, count + select('#', ...)))
    for i = 1, is_compared and got[1] ~= nil and count or 0 do
      if not same(wanted[i], given[i]) then
        fuzz.finding(('another result of %s in a destination, call %d'):format(name, times))
      end
    end
  end
  if wanted[1] and wanted[1]:nElement() > 0 and is_compared and not is_in_turn(name) then
    local view, restore = view_of_operand(wanted[1], ...)
    if view then
      given[1] = view
      for i = 2, count do given[i] = torch[kinds[i]]() end
      local got = call(f, unpack(given, 1, count + select('#', ...)))
      if got[1] ~= nil and not same(wanted[1], view) then
        fuzz.finding(('another result of %s in the memory of an operand'):format(name))
      end
      restore()
    end
  end
  for i, kind in ipairs(kinds) do
    if is_owned(found[i], v) and found[i]:type() == 'torch.' .. kind then
      results[kind] = found[i]
    end
  end
end

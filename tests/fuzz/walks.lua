--- For programs about NaN and about collections: they run twice, and are compared.
-- @script walks

local ffi = require 'ffi'
local pcall, type, select, tostring = pcall, type, select, tostring

-- ------------------------------------------------------------- NaN of all bits

--- A tensor, all of whose elements have the same bits: their high 16, and the rest.
local function filled(name, high, low, ...)
  local x = torch[name .. 'Tensor'](...)
  local n = x:nElement()
  if n == 0 then return x end
  if name == 'Double' then
    local p = ffi.cast('uint64_t *', torch.data(x))
    for i = 0, n - 1 do p[i] = high * 2ULL ^ 48 + low end
  else
    local p = ffi.cast('uint32_t *', torch.data(x))
    for i = 0, n - 1 do p[i] = high * 65536 + low % 65536 end
  end
  return x
end

-- Tensors for one call: some of NaN, and some that index, weigh or choose.
local function operands(name, high, low)
  local n = 3
  return {
    filled(name, high, low, n), filled(name, high, low, n, n), filled(name, high, low, n, n):t(),
    filled(name, high, low, n, n, n), filled(name, high, low, 400):narrow(1, 2, 399),
    torch.LongTensor(n):fill(1), torch.ByteTensor(n):fill(1), torch.LongTensor(n, n):fill(1),
  }
end

local function types(...)
  local names = {}
  for i = 1, select('#', ...) do
    local x = select(i, ...)
    names[i] = type(x)
    if torch.typename(x) and x.totable then
      local ok, all = pcall(x.totable, x)
      while ok and type(all) == 'table' do all = all[1] end
      names[#names] = torch.typename(x) .. ' of ' .. type(all)
    end
  end
  return table.concat(names, ', ')
end

--- Runs f on tensors of these bits and on ones of plain NaN: the types have to be the same.
-- f gets tensors in the order of `operands`. count: how often; many times, it is compiled.
function nan(name, high, low, count, f)
  local odd, plain
  for _ = 1, count do
    odd = types(try(f, unpack(operands(name, high, low))))
    if count == 1 or not plain then
      plain = types(try(f, unpack(operands(name, 0x7FF8, 0))))
    end
    if odd ~= plain and not (odd:find('^nil') or plain:find('^nil')) then
      fuzz.finding(('NaN of high word %x: %s, not %s'):format(high, odd, plain))
      return
    end
  end
end

--- For callbacks: an element has to be a number, and NaN.
function is_nan(x)
  if type(x) ~= 'number' then
    fuzz.finding('NaN arrives as a ' .. type(x))
  elseif x == x then
    fuzz.finding('NaN arrives as a number: ' .. x)
  end
  return x
end

-- ------------------------------------------------------------- collections

local steps, forced = {}, false

--- Adds a step to the program that `play` runs.
function step(f) steps[#steps + 1] = f end

--- Collects what nobody uses, in the run that does.
function collect()
  if forced then
    collectgarbage()
    collectgarbage()
  end
end

local function digest(x)
  local name = torch.typename(x)
  if not name or not x.totable then
    return type(x) == 'number' and ('%.17g'):format(x) or type(x) == 'string' and x or type(x)
  end
  local parts = { name }
  if x.stride then
    for d = 1, x:dim() do parts[#parts + 1] = x:size(d) .. ':' .. x:stride(d) end
    if x:nElement() > 1000 then return table.concat(parts, ' ') end
  end
  local function add(t)
    if type(t) == 'table' then
      for i = 1, #t do add(t[i]) end
    else
      parts[#parts + 1] = ('%.17g'):format(t)
    end
  end
  local ok, all = pcall(x.totable, x)
  if ok then add(all) else parts[#parts + 1] = tostring(all) end
  return table.concat(parts, ' ')
end

local function log_of(ok, ...)
  local parts = { tostring(ok) }
  for i = 1, select('#', ...) do parts[#parts + 1] = digest((select(i, ...))) end
  return (table.concat(parts, ' | '):gsub('0x%x+', 'address'):gsub('%-nan', 'nan'))
end

local function run()
  local log = {}
  v = {}
  torch.manualSeed(1)
  for i, f in ipairs(steps) do
    log[i] = log_of(pcall(f))
    fuzz.calls = fuzz.calls + 1
    if log[i]:find('^true') then fuzz.passed = fuzz.passed + 1 end
  end
  for i = 1, 12 do log[#log + 1] = digest(v[i]) end
  return log
end

--- Runs the steps without collections and with them: the results have to be the same.
function play()
  collectgarbage()
  collectgarbage('stop')
  local quiet = run()
  collectgarbage('restart')
  forced = true
  local busy = run()
  forced = false
  for i = 1, #quiet do
    try(error, busy[i])
    if quiet[i] ~= busy[i] then
      local how = busy[i]:find('^false') and 'error' or 'value'
      fuzz.finding(('another %s after a collection: %s is now %s'):format(how, quiet[i]:sub(1, 80),
        busy[i]:sub(1, 80)))
      break
    end
  end
  steps = {}
end

--- The assertions of torch.Tester.
-- An assertion evaluates its arguments after it has looked up the method that notes the result,
-- so that a wrong self is the first error, as in the reference.
-- @module tester_assertions

local errors, equal, test_runner = import('core.errors', 'testing.equal', 'testing.run')
local Tester = test_runner.Tester
local equal_values = errors.public(equal.values)

-- --------------------------------------------------------------- arguments

-- The first lines of a failure's text, from the optional message and what follows it.
local function heading(message, ...)
  for i = 1, select('#', ...) do
    if select(i, ...) ~= nil then error('Unexpected arguments passed to test function', 0) end
  end
  if not message or message == '' then return '' end
  if type(message) ~= 'string' then error('message parameter must be a string', 0) end
  return message .. '\n'
end

local REFUSED = {
  number = 'Unexpected number argument; already have tolerance',
  string = 'Unexpected string argument; already have message',
}

-- Torch7: the value stands where the level of the error belongs.
local refuse = errors.public(function(text, value) error(text, value) end)

-- The tolerance and the first lines, from a number and a string in either order.
local function tolerance_and_heading(default, ...)
  local by_kind = {}
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if value == nil then break end
    local kind = type(value)
    local known = REFUSED[kind]
    if not known or by_kind[kind] then
      refuse(known or 'Unrecognized argument; should be a tolerance or message', value)
    elseif kind == 'number' and value < 0 then
      error('tolerance cannot be negative', 0)
    end
    by_kind[kind] = value
  end
  return by_kind.number or default, by_kind.string and by_kind.string .. '\n' or ''
end

local function shown(text, a, b)
  return string.format(text, tostring(a), tostring(b))
end

local function demand(right, which, class)
  if not right then error(which .. ' argument should be a ' .. class, 0) end
end

-- ------------------------------------------------------------- comparisons

local COMPARISONS = {
  lt = { function(a, b) return a < b end, 'LT failed: %s >= %s' },
  le = { function(a, b) return a <= b end, 'LE failed: %s > %s' },
  gt = { function(a, b) return a > b end, 'GT failed: %s <= %s' },
  ge = { function(a, b) return a >= b end, 'GE failed: %s < %s' },
  eq = { function(a, b) return a == b end, 'EQ failed: %s ~= %s' },
  ne = { function(a, b) return a ~= b end, 'NE failed: %s == %s' },
}

for name, comparison in pairs(COMPARISONS) do
  local of_numbers, text = unpack(comparison)
  local of_values = errors.public(of_numbers)
  Tester['assert' .. name] = function(self, a, b, ...)
    local first = heading(...)
    local holds = type(a) == 'number' and type(b) == 'number' and of_numbers or of_values
    return self:_assert_sub(holds(a, b), first .. shown(text, a, b))
  end
end

local assert_ne = Tester.assertne

function Tester:assertne(a, b, ...)
  heading(...)
  if type(a) == 'userdata' or type(a) == 'table' and type(b) == 'table' then
    self:_warning(' :assertne should only be used to compare basic lua objects (numbers, '
      .. 'booleans, etc). Consider using either :assertGeneralNe or :assert(a ~= b).')
  end
  return assert_ne(self, a, b, ...)
end

function Tester:assertalmosteq(a, b, ...)
  local tolerance, first = tolerance_and_heading(1e-16, ...)
  local close = math.abs(a - b) <= tolerance
  return self:_assert_sub(close, first .. shown('ALMOST_EQ failed: %s ~= %s', a, b)
    .. ' with tolerance=' .. tostring(tolerance))
end

function Tester:assert(condition, ...)
  local first = heading(...)
  if type(condition) ~= 'boolean' then
    self:_warning(' :assert should only be used for boolean conditions. '
      .. 'To check for non-nil variables, do this explicitly: Tester:assert(var ~= nil).')
  end
  return self:_assert_sub(condition, first .. 'BOOL violation condition=' .. tostring(condition))
end

-- ----------------------------------------------------------- deep equality

for name, negate in pairs{ Eq = false, Ne = true } do
  Tester['assertGeneral' .. name] = function(self, a, b, ...)
    return self:_eqOrNeq(a, b, negate, ...)
  end
  Tester['assertTensor' .. name] = function(self, a, b, ...)
    return self:_assertTensorEqOrNeq(a, b, negate, ...)
  end
  Tester['assertTable' .. name] = function(self, a, b, ...)
    return self:_assertTableEqOrNeq(a, b, negate, ...)
  end
end

function Tester:eq(...)
  return self:assertGeneralEq(...)
end

function Tester:ne(...)
  return self:assertGeneralNe(...)
end

function Tester:_eqOrNeq(a, b, negate, ...)
  local tolerance, first = tolerance_and_heading(0, ...)
  local compare = type(a) == 'number' and equal.values or equal_values
  local holds, text = compare(a, b, tolerance, negate)
  return self:_assert_sub(holds, first .. (text or ''))
end

function Tester:_assertTableEqOrNeq(a, b, negate, ...)
  demand(type(a) == 'table', 'First', 'Table')
  demand(type(b) == 'table', 'Second', 'Table')
  return self:_eqOrNeq(a, b, negate, ...)
end

function Tester:_assertTensorEqOrNeq(a, b, negate, ...)
  demand(torch.isTensor(a), 'First', 'Tensor')
  demand(torch.isTensor(b), 'Second', 'Tensor')
  local tolerance, first = tolerance_and_heading(0, ...)
  local any_shape = self._assertTensorEqIgnoresDims
  local holds, text = equal.tensors(a, b, tolerance, negate, any_shape)
  if any_shape and holds and not negate and not a:isSameSizeAs(b) then
    self:_warning('Tensors have the same content but different dimensions. '
      .. 'For backwards compatibility, they are considered equal, but this may change in the '
      .. 'future. Consider using :eq to check for equality instead.')
  end
  return self:_assert_sub(holds, first .. (text or ''))
end

-- ------------------------------------------------------------------ errors

local function violation(first, value)
  return first .. 'ERROR violation: err=' .. tostring(value)
end

--- Asserts that the function raises an error that `errcomp` accepts.
function Tester:assertErrorObj(f, errcomp, ...)
  local first = heading(...)
  local ok, value = pcall(f)
  return self:_assert_sub(not ok and errcomp(value), violation(first, value))
end

function Tester:assertNoError(f, ...)
  local first = heading(...)
  local ok, value = pcall(f)
  return self:_assert_sub(ok, violation(first, value))
end

function Tester:assertError(f, ...)
  return self:assertErrorObj(f, function() return true end, ...)
end

function Tester:assertErrorMsg(f, message, ...)
  return self:assertErrorObj(f, function(value) return value == message end, ...)
end

function Tester:assertErrorPattern(f, pattern, ...)
  return self:assertErrorObj(f, function(value) return string.find(value, pattern) ~= nil end, ...)
end

test_runner.make_fast_methods('assert assertlt assertle assertgt assertge asserteq assertne eq ne '
  .. 'assertGeneralEq assertGeneralNe _eqOrNeq')
errors.make_public(Tester, 'assertalmosteq assertTableEq assertTableNe assertTensorEq '
  .. 'assertTensorNe _assertTableEqOrNeq _assertTensorEqOrNeq assertErrorObj assertNoError '
  .. 'assertError assertErrorMsg assertErrorPattern')

--- The notes of torch.Tester on each assertion: a count, and a text for the report that ends with
-- the place of the assertion.
-- @module tester_notes

local errors, test_runner = import('core.errors', 'testing.run')
local Tester = test_runner.Tester

local getinfo = debug.getinfo

-- ------------------------------------------------------------------ places

local function is_ours(info)
  return info ~= nil and errors.is_ours(info.source)
end

-- Returns the line of a traceback that describes a frame.
local function line_of(info)
  local what = '?'
  if info.name then
    what = "function '" .. info.name .. "'"
  elseif info.what == 'main' then
    what = 'main chunk'
  elseif info.what == 'Lua' then
    what = string.format('function <%s:%d>', info.short_src, info.linedefined)
  end
  local place = info.what == 'C' and '[C]' or info.short_src .. ':' .. info.currentline
  return '\t' .. place .. ': in ' .. what
end

-- The frames of the running test, the innermost first, as lines: those of the user, and of ours
-- the methods that they called (the assertion itself only if told), without positions. None where
-- no test runs.
local function test_frames(with_assertion)
  local lines, method, skip = {}, nil, not with_assertion
  for level = 2, math.huge do
    local info = getinfo(level, 'nSlf')
    if not info then return {} end
    if info.func == test_runner.start_test then return lines end
    if is_ours(info) then
      method = info.name
    elseif info.what ~= 'C' or not is_ours(getinfo(level + 1, 'S')) then
      if method and not skip then table.insert(lines, "\tin function '" .. method .. "'") end
      table.insert(lines, line_of(info))
      method, skip = nil, false
    end
  end
end

-- Torch7: the two outermost lines of the traceback, of which the heading is one.
local function place(with_assertion)
  local lines = test_frames(with_assertion)
  if #lines == 0 then return '' end
  table.insert(lines, 1, 'stack traceback:')
  return table.concat(lines, '\n', #lines - 1)
end

-- ------------------------------------------------------------------- notes

local function note(self, message, with_assertion)
  local name = self._currentTestName
  local heading = name == '' and '' or name .. '\n'
  return heading .. message .. '\n' .. place(with_assertion)
end

--- The message between the name of the test and the place of the failure.
function Tester:_addDebugInfo(message)
  return note(self, message, false)
end

-- Adds one to a count of the running test.
local function count_one(self, field)
  local counts, name = self[field], self._currentTestName
  if not counts then errors.fail("attempt to index field '" .. field .. "' (a nil value)") end
  local count = counts[name] or errors.fail('attempt to perform arithmetic on a nil value')
  counts[name] = count + 1
end

function Tester:_success()
  count_one(self, 'assertionPass')
  return true
end

function Tester:_failure(message)
  if self.rethrow then return errors.fail(message) end
  count_one(self, 'assertionFail')
  table.insert(self.errors, note(self, message, false))
  return false
end

function Tester:_warning(message)
  -- There are warnings before the tests begin to run, too.
  local name = self._currentTestName
  self._warningCount[name] = self._warningCount[name] or 0
  count_one(self, '_warningCount')
  table.insert(self.warnings, note(self, message, true))
end

--- Notes a failure with its message, or a success; returns whether it was one.
function Tester:_assert_sub(condition, message)
  if not condition then return self:_failure(message) end
  return self:_success()
end

errors.make_public(Tester, '_addDebugInfo _warning')
test_runner.make_fast_methods('_success _failure _assert_sub')

--- The class torch.Tester: runs its tests, shows the progress and reports. The functions that run
-- tests are not public (errors.public): the traceback of an error that is thrown again must still
-- have the frames of the test. So the parts of these functions are public.
-- @module tester_run

local runtime_errors = import 'core.errors'

local Tester = torch.class('torch.Tester', torch)
local test_runner = { Tester = Tester }

local format, rep = string.format, string.rep

local WIDTH = 80 -- of a line of the progress, with its last word
local FAILED = 'An error was found while running tests!'

--- Makes methods public (errors.public) for every self but a Tester: those that are called very
-- often and that raise none of Lua's own errors for a Tester. A string lists their names.
function test_runner.make_fast_methods(names)
  for name in names:gmatch('%S+') do
    local method = Tester[name]
    local public = runtime_errors.public(method)
    Tester[name] = function(self, ...)
      if getmetatable(self) == Tester then return method(self, ...) end
      return public(self, ...)
    end
  end
end

-- io.write is looked up for each text: who replaces it sees or silences the report.
local function write(...)
  io.write(...)
end

-- Torch7: colours as soon as Lua was started as a command, be it into a pipe.
local function coloured(text, name)
  if not rawget(_G, 'arg') then return text end
  local colours = require('sys.colors')
  return colours[name] .. text .. colours.none
end

local function bracket(text, colour)
  return '[' .. coloured(text, colour) .. ']'
end

local function count(n, what)
  return n .. ' ' .. what .. (n == 1 and '' or 's')
end

-- Returns the number of tests whose names a function accepts.
local function number_of(tests, holds)
  local n = 0
  for name in pairs(tests) do
    if holds(name) then n = n + 1 end
  end
  return n
end

local function any_name() return true end

-- ------------------------------------------------------------ running one

-- Frames up to here are those of the test: see testing/notes.lua. (No tail call: it would remove
-- this frame.)
local function start_test(f)
  local ok, result = xpcall(f, runtime_errors.traceback)
  return ok, result
end
test_runner.start_test = start_test

local errors_before = runtime_errors.public(function(self) return #self.errors end)

-- Notes the error of a test; returns its text.
local note_error = runtime_errors.public(function(self, report)
  local message, frames = runtime_errors.read_report(report)
  local text = frames == '' and message or message .. '\n' .. frames
  table.insert(self.errors, self._currentTestName .. '\n Function call failed\n' .. text .. '\n')
  return text
end)

--- Runs a test: returns whether it came to its end, its first result or else the text of the error,
-- and whether it came to its end and nothing failed.
function Tester:_pcall(f)
  local before = errors_before(self)
  local ok, result = start_test(f)
  if not ok then result = note_error(self, result) end
  return ok, result, ok and #self.errors == before
end

local VERDICTS = { SKIP = 'yellow', PASS = 'green', FAIL = 'red', ERROR = 'magenta' }

local function run_test(self, name, f)
  local ok, passed, _ = true, true, nil
  if self._setUp then self._setUp(name) end
  if self.rethrow then f() else ok, _, passed = self:_pcall(f) end
  if self._tearDown then self._tearDown(name) end
  return not ok and 'ERROR' or passed and 'PASS' or 'FAIL'
end

-- ------------------------------------------------------------- running all

-- Shows which test comes; returns the line as far as it stays, and whether the test is to run.
local announce = runtime_errors.public(function(self, name, i, n)
  self._currentTestName = name
  local place = format('%' .. #tostring(n) .. 'd/%d ', i, n)
  local dots = WIDTH - #place - self._currentTestName:len() - #'  [PASS]'
  local line = coloured(place, 'cyan') .. name .. ' ' .. rep('.', dots) .. ' '
  write(line .. bracket('WAIT', 'cyan'))
  io.flush()
  return line, not self.disabledTests[name]
end)

local conclude = runtime_errors.public(function(self, name, line, verdict)
  write('\r', line, bracket(verdict, VERDICTS[verdict]))
  if verdict == 'ERROR' then self.testError[name] = 1 end
  if verdict == 'PASS' and self._warningCount[name] > 0 then
    write('\n' .. rep(' ', WIDTH - #'[+warning]'), bracket('+warning', 'yellow'))
  end
  write('\n')
  io.flush()
end)

local size = runtime_errors.public(function(tests) return number_of(tests, any_name) end)

function Tester:_run(tests)
  local n, i = size(tests), 0
  write('Running ' .. count(n, 'test') .. '\n')
  for name, f in pairs(tests) do
    i = i + 1
    local line, enabled = announce(self, name, i, n)
    local verdict = enabled and run_test(self, name, f) or 'SKIP'
    conclude(self, name, line, verdict)
    if self.earlyAbort and i < n and (verdict == 'ERROR' or verdict == 'FAIL') then
      write('Aborting on first error, not all tests have been executed\n')
      break
    end
    collectgarbage()
  end
end

--- The tests to run: all, or those whose names match one of the patterns.
function Tester:_getTests(names)
  if names == nil then return self.tests end
  if type(names) == 'string' then names = { names } end
  if type(names) ~= 'table' then
    error('Only accept a name or table of test names (or nil for all tests)', 0)
  end
  local chosen = {}
  for _, pattern in ipairs(names) do
    local function matches(name) return string.match(name, pattern) ~= nil end
    if number_of(self.tests, matches) == 0 then
      error("Couldn't find test '" .. pattern .. "'", 0)
    end
    for name, f in pairs(self.tests) do
      if matches(name) then chosen[name] = f end
    end
  end
  return chosen
end

local prepare = runtime_errors.public(function(self, names)
  local tests = self:_getTests(names)
  self.assertionPass, self.assertionFail, self.testError, self.haveWarning = {}, {}, {}, {}
  for name in pairs(tests) do
    for _, counts in ipairs{ 'assertionPass', 'assertionFail', 'testError', '_warningCount' } do
      self[counts][name] = 0
    end
  end
  return tests
end)

--- Runs the tests and reports; an error where one of them failed.
function Tester:run(names)
  local tests = prepare(self, names)
  self:_run(tests)
  self:_report(tests)
  for name in pairs(tests) do
    if self.assertionFail[name] + self.testError[name] > 0 then error(FAILED, 0) end
  end
  return 0
end

-- --------------------------------------------------------------- reporting

local function sum(tests, counts)
  local total = 0
  for name in pairs(tests) do total = total + counts[name] end
  return total
end

local function some(counts)
  return function(name) return counts[name] > 0 end
end

-- ' and ' with a number, where it is not 0.
local function and_also(n, text)
  if n > 0 then write(' and ', coloured(text, 'yellow')) end
end

local function summary(self, tests)
  local n = size(tests)
  local failures = number_of(tests, some(self.assertionFail))
  local errors = number_of(tests, some(self.testError))
  local warnings = number_of(tests, some(self._warningCount)) + (self._warningCount[''] or 0)
  local disabled = number_of(tests, function(name) return self.disabledTests[name] end)
  write('Completed ', count(self.countasserts, 'assert'), ' in ', count(n, 'test'), ' with ')
  write(coloured(count(failures, 'failure'), failures == 0 and 'green' or 'red'), ' and ')
  write(coloured(count(errors, 'error'), errors == 0 and 'green' or 'magenta'))
  and_also(warnings, count(warnings, 'warning'))
  and_also(disabled, disabled .. ' disabled')
  write('\n')
end

local function sections(self)
  local dashes = rep('-', WIDTH) .. '\n'
  if self.errors[1] or self.warnings[1] then write(dashes) end
  for _, texts in ipairs{ self.errors, self.warnings } do
    for _, text in ipairs(texts) do write(text, '\n', dashes) end
  end
end

function Tester:_report(tests)
  self.countasserts = sum(tests, self.assertionPass) + sum(tests, self.assertionFail)
  summary(self, tests)
  if not self.summaryOnly then sections(self) end
end

runtime_errors.make_public(Tester, '_getTests _report')

return test_runner

--- The results of a session: _RESULTS and _LAST as in the reference, and by the numbers of inputs.
-- Only _RESULTS keeps values alive: `_RESULTS = {}` releases them all.
-- @module results

local results = {}

local most = 1000 -- results that are kept

-- luacheck: globals _RESULTS _LAST
_RESULTS = {}
_LAST = ''

local current -- the number of the input that runs, if it has one
local list -- the table _RESULTS to which the indices of `places` belong
local places = {} -- the index of the first value of an input, by the input's number

--- Sets how many results are kept.
function results.keep_results(count)
  most = count
end

--- Sets by which number the next value is known that is kept; nil for none.
function results.number_results(number)
  current = number
end

--- Adds a value to the results of the session, _RESULTS and _LAST.
function results.keep(value)
  if type(_RESULTS) ~= 'table' then _RESULTS = {} end
  local count = #_RESULTS + 1
  _RESULTS[count] = value
  -- False and not nil, which would change the number of results.
  if count > most then _RESULTS[count - most] = false end
  if value ~= nil then _LAST = value end -- as in the reference
  if list ~= _RESULTS then list, places = _RESULTS, {} end
  if current and value ~= nil then places[current] = count end
end

--- The first value of the input of a number, or nil.
function results.result(number)
  local place = places[number]
  if list ~= _RESULTS or not place or #list - place >= most then return nil end
  return list[place]
end

return results

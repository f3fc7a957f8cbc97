--- gnuplot: titles, labels, axes, and gnuplot's own commands for these.
-- @module gnuplot_settings

local gnuplot, set = ...
local errors = import 'core.errors'

local print = print

for name in ('title xlabel ylabel zlabel'):gmatch('%S+') do
  gnuplot[name] = function(text) set(name, text) end
end

function gnuplot.grid(toggle)
  if toggle then set('grid', '') else set('grid') end
end

function gnuplot.logscale(toggle)
  if toggle then set('logscale', 'y') else set('logscale') end
end

local ACROSS = { left = true, right = true, center = true }
local DOWN = { bottom = true, top = true, middle = true }

--- Sets the place of the legend.
function gnuplot.movelegend(across, down)
  if not ACROSS[across] or not DOWN[down] then
    errors.fail('horizontal location is unknown : plot.movelegend expects 2 strings as location '
      .. '{left|right|center}{bottom|top|middle}')
  end
  set('key', across, down)
end

--- The limits {xmin, xmax, ymin, ymax}, of which '' is found by itself; 'auto', 'equal', 'image'
-- or 'fill'.
function gnuplot.axis(axis)
  if axis == 'auto' then
    for _, name in ipairs{ 'equal', 'xrange', 'yrange' } do set(name) end
  elseif axis == 'image' or axis == 'equal' then
    set('equal', '')
  elseif axis == 'fill' then
    set('equal')
  elseif type(axis) == 'table' then
    if #axis ~= 4 then return print('axis should have 4 componets {xmin,xmax,ymin,ymax}') end
    set('xrange', axis[1] .. ':' .. axis[2])
    set('yrange', axis[3] .. ':' .. axis[4])
  end
end

-- --------------------------------------------------------------------- commands

-- Patterns of commands of gnuplot, and what does the same; it returns false if it could not.
local COMMANDS = {
  { '^set (%l+) ["\'](.*)["\']$', function(name, text)
    if name ~= 'title' and not (name:find('label$') and gnuplot[name]) then return false end
    set(name, text)
  end },
  { '^set ([xy]range) %[(.*)%]$', function(name, text)
    set(name, text)
  end },
  { '^(u?n?set) grid', function(word)
    gnuplot.grid(word == 'set')
  end },
  { '^(u?n?set) logscale ?([xyz]*)$', function(word, axes)
    if word == 'set' then set('logscale', axes == '' and 'xy' or axes) else set('logscale') end
  end },
  { '^set key (%l+) (%l+)$', function(first, second)
    if DOWN[first] then first, second = second, first end
    if not ACROSS[first] or not DOWN[second] then return false end
    set('key', first, second)
  end },
  { '^unset key$', function()
    set('nokey', '')
  end },
  { '^set xtics %((.*)%)$', function(text)
    local values = {}
    for label, at in text:gmatch('["\'](.-)["\']%s+([%d.eE+-]+)') do
      values[#values + 1], values[#values + 2] = label, at
    end
    if #values == 0 then return false end
    set('xtics', unpack(values))
  end },
}

local function run(command)
  for _, entry in ipairs(COMMANDS) do
    local first, second = command:match(entry[1])
    if first and entry[2](first, second) ~= false then return true end
  end
end

--- Runs commands of gnuplot: those for titles, labels, ranges, ticks, the grid, the legend and
-- logarithmic axes. Of others, tells that they have no effect.
function gnuplot.raw(commands)
  for line in commands:gmatch('[^\n;]+') do
    local command = line:match('^%s*(.*%S)') or ''
    if command ~= '' and not run(command) then
      print(("gnuplot.raw: without effect here: '%s'"):format(command))
    end
  end
end

--- gnuplot: plots, with the interface of Torch7's package. The program gnuplot is not needed:
-- matplotlib draws them (runtime/packages/gnuplot).
--
-- A figure is a table: what was plotted last, and settings such as its title, which also hold for
-- what is plotted next. It is shown when something is plotted or set: at a prompt as a picture
-- (there not for settings alone), else in a PNG file, whose name is printed. A figure for a file is
-- written when something is set, and by plotflush.
-- @module gnuplot

local bridge, compat, errors = import('core.bridge', 'core.compat', 'core.errors')
local front_end, new_picture_file = import('core.front_end', 'packages.picture_file')

local print = print

local gnuplot = {}
_G.gnuplot = gnuplot

local python = bridge.python_half 'gnuplot'

-- Pixels of pictures, and of files, a hundred for an inch.
local SCREEN, PRINTED = { 640, 480 }, { 1024, 768 }
local SIZES = { png = SCREEN, svg = { 600, 480 }, eps = { 500, 350 }, pdf = { 500, 300 } }

compat.before_commands(python.draw_what_waits)

local figures = {} -- number -> figure
local current -- the number of the figure that is plotted in

-- ---------------------------------------------------------------------- showing

-- The lines that describe a figure to Python, and the tensors of its series.
local function described(figure)
  local lines, tensors = { figure.kind }, {}
  for name, values in pairs(figure.settings) do
    lines[#lines + 1] = table.concat({ name, unpack(values) }, '\t')
  end
  for _, series in ipairs(figure.series) do
    lines[#lines + 1] = ('series\t%s\t%s'):format(series.legend, series.style)
    for _, tensor in ipairs(series) do tensors[#tensors + 1] = tensor end
  end
  return table.concat(lines, '\n'), tensors
end

-- Writes a figure to a file: 'now', 'soon' or at the 'end' (told in the Python half).
local function save_figure(figure, file, kind, size, when)
  local text, tensors = described(figure)
  python.save(text, tensors, file, kind, size[1], size[2], when)
end

local function save_file(figure, when)
  save_figure(figure, figure.file, figure.file_kind, SIZES[figure.file_kind], when)
end

-- Shows a figure that is not for a file.
local function show(figure, number)
  local text, tensors = described(figure)
  local notebook = package.preload.jupyter and require 'jupyter'
  if notebook and notebook.plots == 'svg' then
    return notebook.display{
      ['image/svg+xml'] = python.file(text, tensors, 'svg', SCREEN[1], SCREEN[2]),
    }
  elseif front_end.show_picture then
    return front_end.show_picture(python.picture(text, tensors, SCREEN[1], SCREEN[2]))
  end
  local is_new = not figure.shown
  figure.shown = figure.shown or new_picture_file()
  save_figure(figure, figure.shown, 'png', SCREEN, 'soon')
  if is_new then print(('gnuplot: figure %d: %s'):format(number, figure.shown)) end
end

local function refresh(figure, number)
  if #figure.series == 0 then return end
  if figure.file then save_file(figure, 'soon') else show(figure, number) end
end

-- ---------------------------------------------------------------------- figures

-- Makes a figure current, and new where there is none of the number; a new one without a number.
local function use(number)
  number = number or #figures + 1
  figures[number] = figures[number] or { settings = {}, series = {}, kind = 'plot' }
  current = number
  return figures[number]
end

local function current_figure()
  return figures[current] or use()
end

-- Calls a function that shows what was changed; if it cannot be drawn, calls `undo`.
local function try(undo, f, ...)
  errors.finally(function(ok) if not ok then undo() end end, f, ...)
end

-- Plots series of a kind in the current figure.
local function draw(kind, series)
  local figure = current_figure()
  local old_kind, old_series = figure.kind, figure.series
  figure.kind, figure.series = kind, series
  if figure.file then return save_file(figure, 'end') end
  try(function() figure.kind, figure.series = old_kind, old_series end, show, figure, current)
end

-- Sets what a figure has: values as Python takes them; nil takes the setting away.
local function set(name, ...)
  local settings = current_figure().settings
  local values, old = { ... }, settings[name]
  for i, value in ipairs(values) do values[i] = tostring(value):gsub('[\t\n]', ' ') end
  settings[name] = ... ~= nil and values or nil
  if front_end.show_picture and not figures[current].file then return end
  try(function() settings[name] = old end, refresh, figures[current], current)
end

--- Makes a figure current; a new one without a number.
function gnuplot.figure(number)
  use(number)
  return current
end

local function file_figure(file, kind, number)
  local folder = paths.dirname(file)
  if folder ~= '' and not paths.dirp(folder) then
    errors.fail(('cannot save to %s: directory does not exist'):format(file))
  end
  local figure = use(number)
  figure.file, figure.file_kind = paths.concat(file), kind -- wherever the program goes meanwhile
  return current
end

for kind in pairs(SIZES) do
  gnuplot[kind .. 'figure'] = function(file, number) return file_figure(file, kind, number) end
end

--- Writes the current figure to a file: png, eps or pdf.
function gnuplot.figprint(file)
  local kind = file:match('.+%.(.+)')
  if kind ~= 'png' and kind ~= 'eps' and kind ~= 'pdf' then
    errors.fail('only eps and png and pdf for figprint')
  end
  save_figure(current_figure(), file, kind, kind == 'png' and PRINTED or SIZES[kind], 'now')
end

--- Writes a figure to its file, or shows it again.
function gnuplot.plotflush(number)
  number = number or current
  if not number or not figures[number] then
    return print('no figure ' .. tostring(number))
  end
  refresh(figures[number], number)
end

--- Ends a figure; one for a file is written.
function gnuplot.close(number)
  number = number or current
  local figure = figures[number]
  if not figure then return end
  figures[number], current = nil, nil
  if figure.file then refresh(figure, number) end
end

function gnuplot.closeall()
  for number in pairs(figures) do gnuplot.close(number) end
end

-- ------------------------------------------------------- what gnuplot itself has

local TERMINALS = {}
for name in ('wxt qt x11 aqua windows png pngcairo svg pdf pdfcairo postscript'):gmatch('%S+') do
  TERMINALS[name] = true
end

--- Torch7: what gnuplot draws on. Here figures are shown as they can be.
function gnuplot.setterm(name)
  if type(name) ~= 'string' or not TERMINALS[name:match('%S*')] then
    errors.fail('gnuplot does not seem to have this term')
  end
end

--- Torch7: where the program gnuplot is, which is not used here.
function gnuplot.setgnuplotexe(file)
  if not paths.filep(file) then errors.fail(file .. ' does not exist') end
end

-- --------------------------------------------------------------------------------------- settings

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

-- --------------------------------------------------------------------- compat

-- Patterns of compat of gnuplot, and what does the same; it returns false if it could not.
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

--- Runs gnuplot's commands for titles, labels, ranges, ticks, the grid, the legend and logarithmic
-- axes. For any other command it prints that it has no effect.
function gnuplot.raw(text)
  for line in text:gmatch('[^\n;]+') do
    local command = line:match('^%s*(.*%S)') or ''
    if command ~= '' and not run(command) then
      print(("gnuplot.raw: without effect here: '%s'"):format(command))
    end
  end
end

import.instance('packages.gnuplot.series', gnuplot, draw)
errors.make_public(gnuplot)

return gnuplot

--- gnuplot: what is plotted; histograms, and their text.
-- @module gnuplot_series

local gnuplot, draw = ...
local bridge, errors = import('core.bridge', 'core.errors')
local fail = errors.fail
local python = bridge.python_half 'gnuplot'

local typename = torch.typename
local concat, format = table.concat, string.format

-- The kinds of some values: s for a string, t for a tensor, ? for another.
local function kinds_of(values)
  local kinds = {}
  for i, value in ipairs(values) do
    local name = typename(value)
    kinds[i] = type(value) == 'string' and 's' or name and name:find('Tensor$') and 't' or '?'
  end
  return concat(kinds)
end

local function clean(text)
  return (text or ''):gsub('[\t\n]', ' ')
end

-- A series: its tensors as copies, its legend and its style.
local function series_of(tensors, legend, style)
  local series = { legend = clean(legend), style = clean(style) }
  for i, tensor in ipairs(tensors) do series[i] = tensor:double():clone() end
  return series
end

-- A function that plots: its arguments are those of one series, or a table for each, or a table of
-- such tables.
local function plotter(kind, what, read)
  return function(...)
    local given = { ... }
    if select('#', ...) == 0 then fail(('no inputs, expecting at least a %s'):format(what)) end
    local series = {}
    if type(given[1]) == 'table' then
      if type(given[1][1]) == 'table' then given = given[1] end
      for i, values in ipairs(given) do series[i] = read(values) end
    else
      series[1] = read(given)
    end
    draw(kind, series)
  end
end

-- ------------------------------------------------------------------------- lines

local PLOT = 'expecting [string,] tensor [,tensor] [,string]'

-- The legend, x, y and style of the arguments for one line; y is nil where it is in x.
local function line_arguments(values)
  local kinds = kinds_of(values)
  if kinds == '' then fail('empty argument list') end
  if not kinds:find('^s?tt?s?$') then fail(PLOT) end
  local first = kinds:sub(1, 1) == 's' and 2 or 1
  local style = first + 1 <= #kinds and kinds:sub(-1) == 's' and values[#kinds] or ''
  local y = kinds:sub(first + 1, first + 1) == 't' and values[first + 1] or nil
  return first == 2 and values[1] or '', values[first], y, style
end

-- x and y of a tensor that has both, or only y.
local function split(x, style)
  local columns = x:dim() == 2 and x:size(2) or 1
  if columns == 4 and style == 'v' then
    return torch.cat(x:narrow(2, 1, 1), x:narrow(2, 3, 1), 2),
      torch.cat(x:narrow(2, 2, 1), x:narrow(2, 4, 1), 2)
  elseif columns == 2 then
    return x:select(2, 1), x:select(2, 2)
  elseif columns > 1 then
    return x:select(2, 1), x:narrow(2, 2, columns - 1)
  end
  return torch.range(1, x:size(1)), x
end

local function line(values)
  local legend, x, y, style = line_arguments(values)
  python.check_style(style)
  if not y then x, y = split(x, style) end
  if x:dim() < 1 or x:dim() > 2 or y:dim() < 1 or y:dim() > 2
    or y:size(1) ~= x:size(1) then
    fail(('x and y dims are wrong :  x = %dD y = %dD'):format(x:nDimension(), y:nDimension()))
  end
  return series_of({ x, y }, legend, style)
end

--- Plots lines: plot(y), plot(x, y), plot('name', x, y, 'style'), or a table of such for each.
gnuplot.plot = plotter('plot', 'vector', line)

--- Plots boxes: bar(y) or bar(x, y).
function gnuplot.bar(...)
  local values = { ... }
  values[#values + 1] = '|'
  gnuplot.plot(values)
end

-- ----------------------------------------------------------------- histograms

local HEIGHT, EVERY = 10, 6 -- lines of the text, and columns from one label to the next
local DEFAULT_BINS = 72

-- The character for the top of a column that ends within a line, by how far below the line's top.
local function top(depth)
  return depth > 0.66 and '|' or depth > 0.33 and ':' or '.'
end

-- The lines of the columns: each from `upper` to `lower`.
local function column_lines(histogram, height)
  local upper = histogram[histogram.max].nb
  local step = upper / (height + 1)
  local lines, begun = {}, {}
  for at = 1, height do
    local lower, row = upper - step, {}
    for i, bin in ipairs(histogram) do
      if begun[i] then
        row[i] = '|'
      elseif bin.nb < lower then
        row[i] = ' '
      else
        begun[i], row[i] = true, top((upper - bin.nb) / step)
      end
    end
    lines[at] = format('%1.2e:', lower) .. concat(row) .. '\n'
    upper = lower
  end
  return concat(lines)
end

local function text_of(histogram, height)
  local function extreme(name, at)
    local bin = histogram[at]
    return format('  %s:(bin:%d/#%d/cntr:%2.2f)', name, at, bin.nb, bin.val)
  end
  local marks, labels = {}, {}
  for i, bin in ipairs(histogram) do
    local is_marked = (i - 2) % EVERY == 0
    marks[i] = is_marked and '^' or '-'
    if is_marked then
      labels[#labels + 1] = (bin.val < 0 and '-' or '+') .. format('%1.2f ', math.abs(bin.val))
    end
  end
  return 'nsamples:' .. extreme('min', histogram.min) .. extreme('max', histogram.max)
    .. '\n--------:' .. ('-'):rep(#histogram) .. '\n' .. column_lines(histogram, height or HEIGHT)
    .. '--------:' .. concat(marks) .. '\ncenters ' .. concat(labels)
end

--- Counts the elements in each of some ranges of equal width.
-- @return a table with a table for each range: `val`, its middle, and `nb`; or a tensor if `raw`
function gnuplot.histc(tensor, bins, min, max, raw)
  if not tensor then errors.fail('usage: gnuplot.histc (tensor [, nBins] [, min] [, max]') end
  bins, min, max = bins or DEFAULT_BINS, min or tensor:min(), max or tensor:max()
  local counts = torch.histc(tensor:double(), bins, min, max)
  if raw then return counts end
  local _, most = torch.max(counts, 1)
  local _, least = torch.min(counts, 1)
  local width = (max - min) / bins
  local histogram = {
    raw = counts, bins = bins, binwidth = width, max = most[1], min = least[1],
  }
  for i = 1, bins do histogram[i] = { val = min + (i - 0.5) * width, nb = counts[i] } end
  return setmetatable(histogram, { __tostring = text_of })
end

--- Plots the histogram of a tensor's elements, and returns it.
function gnuplot.hist(tensor, bins, min, max)
  local histogram = gnuplot.histc(tensor, bins, min, max)
  local centres = torch.DoubleTensor(#histogram)
  for i, bin in ipairs(histogram) do centres[i] = bin.val end
  gnuplot.bar(centres, histogram.raw)
  return histogram
end

-- ---------------------------------------------------------------------- surfaces

-- The legend and the tensors of the arguments for points or a surface.
-- @param kinds what the arguments are, as `kinds_of` tells
local function solid_arguments(values, kinds)
  if kinds:sub(1, 1) == 's' then return values[1], unpack(values, 2) end
  return '', unpack(values)
end

-- x and y of a surface of which only z is given: the row and the column.
local function grid(z)
  local x, y = torch.DoubleTensor(z:size()), torch.DoubleTensor(z:size())
  for i = 1, z:size(1) do x:select(1, i):fill(i) end
  for i = 1, z:size(2) do y:select(2, i):fill(i) end
  return x, y
end

gnuplot.splot = plotter('splot', 'matrix', function(values)
  local kinds = kinds_of(values)
  if kinds == '' then fail('empty argument list') end
  if kinds ~= 't' and kinds ~= 'st' and kinds ~= 'ttt' and kinds ~= 'sttt' then
    fail('expecting [string,] tensor [,tensor] [,tensor]')
  end
  local legend, x, y, z = solid_arguments(values, kinds)
  if not z then
    z = x
    if z:dim() == 2 then x, y = grid(z) else y = z end
  end
  if x:dim() ~= 2 or y:dim() ~= 2 or z:dim() ~= 2 then
    fail(('x and y and z are expected to be matrices x = %dD y = %dD z = %dD')
      :format(x:dim(), y:dim(), z:dim()))
  end
  return series_of({ x, y, z }, legend)
end)

--- Plots points in three dimensions: scatter3(x, y, z), or a table of such for each.
gnuplot.scatter3 = plotter('scatter3', 'matrix', function(values)
  local kinds = kinds_of(values)
  if kinds ~= 'ttt' and kinds ~= 'sttt' then fail('expecting [string,] tensor, tensor, tensor') end
  local legend, x, y, z = solid_arguments(values, kinds)
  if x:dim() ~= 1 or y:dim() ~= 1 or z:dim() ~= 1 then fail('x, y and z must be 1D') end
  if not x:isSameSizeAs(y) or not x:isSameSizeAs(z) then
    fail('x, y and z must be the same size')
  end
  return series_of({ x, y, z }, legend)
end)

-- ------------------------------------------------------------------------ images

--- Plots a matrix as an image, with the palette 'gray' or 'color'.
function gnuplot.imagesc(...)
  local values = { ... }
  if select('#', ...) == 0 then fail('no inputs, expecting at least a matrix') end
  local kinds = kinds_of(values)
  if kinds ~= 't' and kinds ~= 'ts' then fail('expecting tensor [,string]') end
  local x, palette = unpack(values)
  if x:dim() ~= 2 then fail(('x is expected to be matrices x = %dD'):format(x:dim())) end
  draw('image', { series_of({ x }, '', palette or 'gray') })
end

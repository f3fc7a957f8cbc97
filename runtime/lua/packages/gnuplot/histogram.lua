--- gnuplot: histograms, and their text.
-- @module gnuplot_histogram

local th, gnuplot = ...
local torch = th.torch
local concat, format = table.concat, string.format

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
    local lower, line = upper - step, {}
    for i, bin in ipairs(histogram) do
      if begun[i] then
        line[i] = '|'
      elseif bin.nb < lower then
        line[i] = ' '
      else
        begun[i], line[i] = true, top((upper - bin.nb) / step)
      end
    end
    lines[at] = format('%1.2e:', lower) .. concat(line) .. '\n'
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

--- How many elements there are in each of some ranges of equal width.
-- @return a table with a table for each range: `val`, its middle, and `nb`; or a tensor if `raw`
function gnuplot.histc(tensor, bins, min, max, raw)
  if not tensor then th.fail('usage: gnuplot.histc (tensor [, nBins] [, min] [, max]') end
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

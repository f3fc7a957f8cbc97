--- The package itorch: what Torch7's kernel of notebooks shows, by the packages image and gnuplot
-- and by the kernel of th. At a prompt pictures are shown as there; a script writes them to files.
-- @module itorch

local errors = import 'core.errors'

local itorch = {}
_G.itorch = itorch

--- Shows an image, or images in a table side by side; returns its window.
-- @param picture a tensor, a table of tensors, or the name of a file
function itorch.image(picture, options)
  local image = require 'image'
  if type(picture) == 'string' then picture = image.load(picture) end
  local window = type(options) == 'table' and options.win or options
  return image.display{ image = picture, win = type(window) == 'table' and window or nil }
end

--- Shows HTML in a notebook; elsewhere prints it.
function itorch.html(text)
  if type(text) ~= 'string' then errors.type_error(1, 'string', text, text == nil) end
  if package.preload.jupyter then
    require('jupyter').display{ ['text/html'] = text }
  else
    print(text)
  end
end

-- Makes a function that plays a file in a notebook, by an element of HTML.
local function plays(element)
  return function(file)
    local handle = io.open(file, 'rb')
    if not handle then error(('cannot open <%s> in mode r'):format(file), 2) end
    handle:close()
    itorch.html(('<%s controls src="%s"></%s>'):format(element, file, element))
  end
end

itorch.audio, itorch.video = plays 'audio', plays 'video'

-- ------------------------------------------------------------------------------------------- plots

local Plot = {}
Plot.__index = Plot

local function flat(values)
  return torch.isTensor(values) and values:double():view(-1) or torch.DoubleTensor(values)
end

-- Makes a method that adds one curve of gnuplot's, in a style of gnuplot's.
local function adds(style)
  return function(self, x, y, _, legend)
    self.curves[#self.curves + 1] = { legend or '', flat(x), flat(y), style }
    return self
  end
end

for _, mark in ipairs{ 'circle', 'triangle', 'square', 'diamond', 'cross', 'asterisk', 'glyph' } do
  Plot[mark] = adds '+'
end
Plot.line = adds '-'

--- Adds segments from points to others.
function Plot:segment(x0, y0, x1, y1, _, legend)
  local from_x, from_y = flat(x0), flat(y0)
  local arrows = torch.cat({ from_x, from_y, flat(x1) - from_x, flat(y1) - from_y }, 2)
  self.curves[#self.curves + 1] = { legend or '', arrows, 'v' }
  return self
end

--- Adds rectangles, by two opposite corners.
function Plot:quad(x0, y0, x1, y1, colour, legend)
  self:segment(x0, y0, x1, y0, colour, legend):segment(x1, y0, x1, y1)
  return self:segment(x1, y1, x0, y1):segment(x0, y1, x0, y0)
end

--- Adds an arrow for each row and column of two matrices, which have its parts.
function Plot:quiver(u, v, colour, legend, scale)
  local rows, columns = u:size(1), u:size(2)
  local x = torch.repeatTensor(torch.range(1, rows), columns, 1):t():double():clone()
  local y = torch.repeatTensor(torch.range(1, columns), rows, 1):double()
  scale = scale or 40
  return self:segment(x, y, x + u:double() / scale, y + v:double() / scale, colour, legend)
end

--- Adds the counts of values in bins.
function Plot:histogram(values, bins)
  self.histograms[#self.histograms + 1] = { flat(values), bins }
  return self
end

--- Adds points in groups, which their labels tell apart.
function Plot:gscatter(x, y, labels)
  x, y = flat(x), flat(y)
  local groups = {}
  for i = 1, labels and x:size(1) or 0 do
    local label = tostring(labels[i])
    groups[label] = groups[label] or {}
    table.insert(groups[label], i)
  end
  if not labels then return self:circle(x, y) end
  for label, indices in pairs(groups) do
    local at = torch.LongTensor(indices)
    self:circle(x:index(1, at), y:index(1, at), nil, label)
  end
  return self
end

-- Makes a method that keeps a text for one of gnuplot's functions.
local function names(part)
  return function(self, text)
    self.texts[part] = text
    return self
  end
end

Plot.title, Plot.xaxis, Plot.yaxis = names 'title', names 'xlabel', names 'ylabel'

-- What the original's plots have and these do not: they stay as they are.
local function unchanged(self) return self end
Plot.legend, Plot.text, Plot.hover_tool, Plot.data = unchanged, unchanged, unchanged, unchanged

--- Shows the plot.
function Plot:draw()
  local gnuplot = require 'gnuplot'
  if #self.curves > 0 then gnuplot.plot(self.curves) end
  for _, histogram in ipairs(self.histograms) do gnuplot.hist(unpack(histogram)) end
  for part, text in pairs(self.texts) do gnuplot[part](text) end
  return self
end
Plot.redraw = Plot.draw

--- Writes the plot to a file, as a picture; in place of HTML, which is not written, it says so.
function Plot:save(file)
  local gnuplot = require 'gnuplot'
  local picture = file:gsub('%.html?$', '.png')
  if picture ~= file then print('itorch.Plot: ' .. picture) end
  gnuplot.pngfigure(picture)
  self:draw()
  gnuplot.plotflush()
  gnuplot.close()
  return self
end

--- Makes an empty plot, to which methods add: `itorch.Plot():line(x, y):title('t'):draw()`.
function itorch.Plot() return setmetatable({ curves = {}, histograms = {}, texts = {} }, Plot) end

errors.make_public(itorch, 'image html audio video Plot')
errors.make_public(Plot)
return itorch

--- image: showing images, at the prompt or as files.
-- @module image_display

local th, image = ...
local fail, dok = xlua.error, _G.dok -- luacheck: ignore 113
local new_file = th.chunk('packages/picture_file')(th)

local type, unpack, print = type, unpack, print

local shared = th.grid_parameters
local PARAMETERS = {
  shared.image,
  { arg = 'zoom', type = 'number', help = 'how many times as large', default = 1 },
  shared.min, shared.max,
  { arg = 'legend', type = 'string', help = 'title', default = 'image.display' },
  { arg = 'win', type = 'table', help = 'what an earlier call has returned' },
  { arg = 'x', type = 'number', help = 'not used', default = 0 },
  { arg = 'y', type = 'number', help = 'not used', default = 0 },
  shared.scaleeach,
  { arg = 'gui', type = 'boolean', help = 'not used', default = true },
  { arg = 'offscreen', type = 'boolean', help = 'shows nothing', default = false },
  shared.padding, shared.symmetric, shared.nrow, shared.saturate,
}

local function zoomed(picture, zoom)
  if zoom == 1 then return picture end
  local dims = picture:dim()
  return image.scale(picture, picture:size(dims) * zoom, picture:size(dims - 1) * zoom, 'simple')
end

-- Writes a picture to a file of its own, whose name a caller has for further pictures.
local function write(picture, file)
  file = file or new_file()
  image.savePNG(file, picture)
  return file
end

--- Shows an image or many: at a prompt as pictures are shown there, else in a PNG file, whose name
-- is printed.
-- @return a table: image, what is shown, and file; given as `win`, its file is written again
function image.display(...)
  local given = dok.unpack({ ... }, 'image.display', 'Shows an image.', unpack(PARAMETERS))
  local picture = image.toDisplayTensor{ input = given.image, padding = given.padding,
    nrow = given.nrow, saturate = given.saturate, scaleeach = given.scaleeach, min = given.min,
    max = given.max, symmetric = given.symmetric }
  local window = type(given.win) == 'table' and given.win or {}
  window.image = picture
  if given.offscreen then return window end
  if th.show_picture then
    th.show_picture(picture)
  else
    window.file = write(zoomed(picture, given.zoom), window.file)
    print(given.legend .. ': ' .. window.file)
  end
  return window
end

--- Torch7: opens a window of Qt. There are no windows here.
function image.window()
  fail('there are no windows here: image.display shows a picture at the prompt, or writes a file',
    'image.window')
end

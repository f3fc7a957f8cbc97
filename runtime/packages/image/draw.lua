--- image: text and rectangles in images.
-- @module image_draw

local image = ...

local RED, NO_COLOUR = { 255, 0, 0 }, { -1, -1, -1 }

-- The image to draw in: a copy, unless the options say otherwise.
local function canvas(source, options)
  assert(torch.isTensor(source) and source:dim() == 3 and source:size(1) == 3,
    'input image has to be a 3D tensor of shape 3 x H x W ')
  return options.inplace and source or source:clone()
end

--- An image with a text, in letters of 6 x 8 pixels.
-- @param x the column to the left of the text; y the row above it
-- @param options a table: color and bg of red, green and blue up to 255, size, wrap, inplace
function image.drawText(source, text, x, y, options)
  options = options or {}
  local result = canvas(source, options)
  if not text or not text:find('%S') then return result end
  local colour, ground = options.color or RED, options.bg or NO_COLOUR
  if options.wrap == nil then options.wrap = true end -- Torch7: in the caller's table
  source.image.text(result, text, x or 1, y or 1, options.size or 1, colour[1], colour[2],
    colour[3], ground[1], ground[2], ground[3], options.wrap and 1 or 0)
  return result
end

--- An image with the outline of a rectangle between two corners.
-- @param options a table: color, lineWidth, inplace
function image.drawRect(source, x1, y1, x2, y2, options)
  options = options or {}
  local result = canvas(source, options)
  if not (x1 and x2 and y1 and y2) then return result end
  local colour = options.color or RED
  source.image.drawRect(result, x1, y1, x2, y2, options.lineWidth or 1, colour[1], colour[2],
    colour[3])
  return result
end

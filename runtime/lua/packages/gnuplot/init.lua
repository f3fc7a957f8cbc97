--- gnuplot: plots, with the interface of Torch7's package. The program gnuplot is not needed:
-- matplotlib draws them (runtime/packages/gnuplot).
--
-- A figure is a table: what was plotted last, and settings such as its title, which also hold for
-- what is plotted next. It is shown when something is plotted or set: at a prompt as a picture
-- (there not for settings alone), in a window where there are windows, else in a PNG file, whose
-- name is printed. A figure for a file is written when something is set, and by plotflush.
-- @module gnuplot

local th = ...

local gnuplot = {}
_G.gnuplot = gnuplot

for part in ('figures settings series'):gmatch('%S+') do
  th.chunk('packages/gnuplot/' .. part)(th, gnuplot)
end
th.make_public(gnuplot)

return gnuplot

--- gnuplot: plots, with the interface of Torch7's package. The program gnuplot is not needed:
-- matplotlib draws them (runtime/packages/gnuplot).
--
-- A figure is a table: what was plotted last, and settings such as its title, which also hold for
-- what is plotted next. It is shown when something is plotted or set: at a prompt as a picture
-- (there not for settings alone), in a window where there are windows, else in a PNG file, whose
-- name is printed. A figure for a file is written when something is set, and by plotflush.
-- @module gnuplot

local errors = import 'core.errors'

local gnuplot = {}
_G.gnuplot = gnuplot

local drawing = import.instance('packages.gnuplot.figures', gnuplot)
import.instance('packages.gnuplot.settings', gnuplot, drawing.set)
import.instance('packages.gnuplot.series', gnuplot, drawing.draw)
errors.make_public(gnuplot)

return gnuplot

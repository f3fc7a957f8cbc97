--- The jobs of nn's backend. Threads load them at their start, the engine's state with nn.THNN: so
-- a job has the same index in each.
-- @module all_jobs

local jobs = import 'parallel.jobs'

for _, name in ipairs{ 'loops', 'index', 'pooling', 'columns', 'convolution', 'softmax',
  'channels', 'classes' } do
  jobs.part('thnn.' .. name)
end

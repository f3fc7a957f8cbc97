"""How a test runs finalizers at a step of Lua's that it chooses: a hook does what they would do."""

from tests.data_files import data

#: Lua's hook as it was, which sees functions of th's, too; and `let_wait(functions)`: each
#: does its work from then on when th lets the collector's finalizers run.
FINALIZING = data(__file__, "FINALIZING")

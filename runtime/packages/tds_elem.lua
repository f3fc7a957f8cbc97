--- The module tds.elem: the types that tds keeps. Here its values are no data of C, which the
-- original sets and gets by this module.
-- @module tds_elem

local errors = import 'core.errors'

local function no_data() errors.fail('the elements of tds are no data of C here') end

return { type = torch.typename, addctype = function() end, set = no_data, get = no_data }

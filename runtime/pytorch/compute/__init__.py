"""How elements are computed: types in which operands meet, loops, order."""

"""Element types, rules of shapes, named results, warnings: what is no tensor yet."""

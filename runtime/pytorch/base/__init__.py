"""Element types, devices, rules of shapes, named results, warnings: what is no tensor yet."""

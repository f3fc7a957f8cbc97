"""Sessions: splitting text into inputs, and running them."""

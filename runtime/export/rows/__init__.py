"""What the classes of nn and its fellows become: a module for each family of the manual."""

"""Commands of the prompt that begin with %: what a session does with its own inputs."""

"""Files: bytes on disks, in memory and in pipes, behind the interface of torch.File.

Owns opening, buffering, seeking and closing. What the bytes mean, numbers as text included,
is read and written in Lua, straight in the file's window (see ``window.py``).
"""

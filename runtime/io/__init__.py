"""Files: bytes on disks, in memory and in pipes, behind the interface of torch.File.

Owns opening, buffering, seeking and closing, and the conversion of whole storages. Single numbers,
strings and numbers written as text are read and written by Lua in the file's buffer (see
``file.py``).
"""

"""The worker's Python half: compiles and runs cells inside a live asyncio loop. Users do not see it.

Every module of the package begins by copying the builtins: its functions then go on working when a cell empties or
replaces names in `builtins`. For the same reason modules keep references to what they need instead of looking it up in
`sys.modules` when a cell runs.
"""

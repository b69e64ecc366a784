"""Begins a script of tests without Python's collector of cycles, which goes through all that is imported several times before the first
test begins, and once more as the script ends. Usage: begin.py SCRIPT [its arguments]"""
import atexit
import gc
import os
import sys

gc.disable()
atexit.register(gc.freeze)
sys.argv.pop(0)
__file__ = sys.argv[0]
sys.path[0] = os.path.dirname(__file__)
with open(__file__, encoding="utf-8") as script:
    text = script.read()
exec(compile(text, __file__, "exec"))

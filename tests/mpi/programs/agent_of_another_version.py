#!/usr/bin/env python3
"""An agent whose memory is laid out as no version of ours has it: what a rank of this version meets where several are installed. It goes
into the background as a real one does, and ends since no rank joins."""
import fcntl
import os
import pathlib
import struct
import sys
import time

MAGIC, VERSION, SIZE = 0x65766177656C6469, 0xFFFFFFFF, 1 << 20
session = sys.argv[sys.argv.index("--session") + 1]
folder = pathlib.Path(os.environ["IDLEWAVE_DIR"]) / session

memory = os.memfd_create("idlewave", os.MFD_ALLOW_SEALING)
os.truncate(memory, SIZE)
os.pwrite(memory, struct.pack("<QIIII", MAGIC, VERSION, 1, 64, 1), 0)
fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
if os.fork() > 0:
    deadline = time.monotonic() + 4
    while not (folder / "agent").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    os._exit(0)
os.setsid()
start = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
draft = folder / "agent.draft"
draft.write_text(f"pid {os.getpid()}\nstart {start}\nmemory {memory}\nendpoint ipc://{folder}/nobody.sock\n")
draft.rename(folder / "agent")
time.sleep(3)

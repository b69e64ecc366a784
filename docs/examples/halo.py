"""A ring exchange that says what it does, through ctypes; needs mpi4py.

    build/release/bin/idlewave run -- mpirun -n 4 python3 docs/examples/halo.py build/release/lib/libidlewave-probe.so
"""
import ctypes
import sys
import time

from mpi4py import MPI

COMPUTE, WAIT, COMMUNICATE, DELAY = 1, 2, 3, 4  # as in idlewave/probe.h
STEPS = 100


def load_probe(path):
    """The calls of probe.h for languages that link to symbols end with an underscore."""
    probe = ctypes.CDLL(path)
    probe.idlewave_step_.argtypes = [ctypes.c_int64]
    probe.idlewave_traffic_.argtypes = [ctypes.c_uint64]
    return probe


def work(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def main():
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    probe = load_probe(sys.argv[1])
    token = rank
    before, after = ctypes.c_int((rank - 1) % size), ctypes.c_int((rank + 1) % size)
    probe.idlewave_start(rank, size)
    for step in range(STEPS):
        probe.idlewave_step_(step)
        probe.idlewave_switch_(COMPUTE)
        work(0.002)
        probe.idlewave_switch_(WAIT)
        probe.idlewave_partners_(0, ctypes.byref(before), 1, ctypes.byref(after), 1, 0)
        token = world.sendrecv(token, dest=(rank + 1) % size, source=(rank - 1) % size)
    probe.idlewave_stop()
    if rank == 0:
        print(f"the token of rank {token} came round")


if __name__ == "__main__":
    main()

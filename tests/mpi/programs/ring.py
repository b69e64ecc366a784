"""A ring in Python. Usage: ring.py STEPS SEED"""
import os
import random
import sys
import time
from array import array

import mpi4py

mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI  # noqa: E402

steps, seed = int(sys.argv[1]), int(sys.argv[2])
MPI.Init()
world = MPI.COMM_WORLD
begun, in_mpi = MPI.Wtime(), 0.0
rank, ranks = world.rank, world.size
dice = random.Random(seed + 7919 * rank)
mine, other, total = array("i", [rank]), array("i", [0]), array("i", [0])
for step in range(steps):
    time.sleep(dice.uniform(0.0002, 0.003))
    at = MPI.Wtime()
    world.Sendrecv(mine, (rank + 1) % ranks, recvbuf=other, source=(rank - 1) % ranks)
    world.Allreduce(other, total)
    in_mpi += MPI.Wtime() - at
    mine, other = other, mine
whole = MPI.Wtime() - begun
MPI.Finalize()
if rank == 0:
    print("sum", total[0])
if "OWN_SUMS" in os.environ:
    with open(f"{os.environ['OWN_SUMS']}/{rank}", "w") as file:
        file.write(f"{in_mpi:.9f} {whole:.9f}\n")

"""Programs of ours that are built once for each MPI, as tests start them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
LAUNCHERS = {
    "openmpi": [shutil.which("mpirun.openmpi") or "mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"],
    "mpich": [shutil.which("mpirun.mpich") or "mpirun"],
}


def call(words, folder):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": "/tmp",
                   "IDLEWAVE_DIR": f"{folder}/sessions"}
    environment.pop("IDLEWAVE_SESSION", None)
    if "YIELDING" in environment:
        environment["LD_PRELOAD"] = environment["YIELDING"]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL,
                          env=environment)


class OfEachMpi(unittest.TestCase):
    PROGRAM = ""  # Without its MPI.

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix=f"{self.PROGRAM}-")))
        self.mpis = [mpi for mpi in LAUNCHERS if self.program(mpi).exists()]
        self.assertTrue(self.mpis, f"no {self.PROGRAM} of any MPI in {BIN}")

    def program(self, mpi):
        return BIN / f"{self.PROGRAM}-{mpi}"

    def job(self, mpi, ranks, *options):
        return [*LAUNCHERS[mpi], "-n", ranks, self.program(mpi), *options]

    def call(self, words):
        return call(words, self.folder)

    def json_of(self, mpi, ranks, *options):
        done = self.call(self.job(mpi, ranks, "--json", *options))
        self.assertEqual(done.returncode, 0, f"{mpi} {ranks} {options}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def refuse(self, mpi, ranks, *options):
        """The line of the program's own."""
        done = self.call(self.job(mpi, ranks, *options))
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        own = [line for line in done.stderr.splitlines() if line.startswith(f"{self.PROGRAM}-")]
        self.assertEqual(len(own), 1, done.stderr)
        return own[0]

    def watch(self, mpi, ranks, *options, flags=()):
        """What the program printed, and the report of the session, under `idlewave run`, which has `flags`."""
        report = self.folder / f"{mpi}.json"
        done = self.call([BIN / "idlewave", "run", "--headless", "--report", report, *flags, "--", *self.job(mpi, ranks, *options)])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, json.loads(report.read_text())

    def report_of(self, mpi, ranks, *options):
        return self.watch(mpi, ranks, *options)[1]

#!/usr/bin/env python3
"""Runs of real MPI ranks on virtual sockets, simulated again from their recordings, are as long, and as many ranks are at work.
Usage: from_life_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from surroundings import environment

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
LAUNCHER = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
CLOSE = 0.05


class FromLife(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-life-")))

    def call(self, *words):
        done = subprocess.run([BIN / "idlewave", *words], capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL,
                              env=environment(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, ranks, *options):
        recording = str(self.folder / "s.iw")
        self.call("run", "--headless", "--record", recording, "--", LAUNCHER, "-n", str(ranks), str(BIN / "iw-ring"), "--kernel", "virtual",
                  *options)
        found = json.loads(self.call("sim", "--from", recording, "--json"))
        life, model = found["measured"], found["simulated"]
        self.assertEqual(len(model["active_means"]), len(life["active_means"]))
        pairs = [(model["makespan_s"], life["makespan_s"]), *zip(model["active_means"], life["active_means"])]
        if max(abs(here / there - 1) for here, there in pairs) > CLOSE:
            # On cores that others use as well a run may be none of its program's; then that is said.
            self.assertIn("of all waiting is not explained", " ".join(found["not_told"]), found)
        return found

    def test_a_memory_bound_ring_with_a_delay(self):
        found = self.check(12, "--volume", "150MB", "--ranks-per-domain", "6", "--domain-bandwidth", "30GB/s", "--steps", "80",
                           "--delay", "3:20:300ms")
        self.assertIn("rank = 3\nstep = 20\n", found["scenario"])

    def test_a_core_bound_ring_with_noise(self):
        found = self.check(8, "--time", "20ms", "--noise", "exp:1ms", "--steps", "100", "--ranks-per-domain", "8", "--delay", "2:30:200ms")
        self.assertGreater(found["noise"]["mean_s"], 0.5e-3)

    def test_many_ranks_that_nobody_delays(self):
        self.check(24, "--volume", "200MB", "--ranks-per-domain", "12", "--steps", "60")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""iw-selfish measures noise that the others can play.
Usage: noise_programs_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
LAUNCHER = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
ENOUGH_RANKS = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": "/tmp"}

SCENARIO = """
[machine]
ranks = 4
ranks_per_domain = 4
[program]
steps = 40
kernel = "core"
time = "10 ms"
[noise]
distribution = "trace"
file = "{trace}"
"""


def call(*words, folder="/tmp"):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL,
                          env={**os.environ, **ENVIRONMENT, "IDLEWAVE_DIR": f"{folder}/sessions"})


class OwnFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-noise-")))

    def succeed(self, *words):
        done = call(*words, folder=self.folder)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def on_ranks(self, ranks, *words):
        return self.succeed(LAUNCHER, *ENOUGH_RANKS, "-n", ranks, *words)


def detours_in(path):
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]


class Selfish(OwnFolder):
    def test_without_a_launcher_it_measures_one_rank(self):
        text = self.succeed(BIN / "iw-selfish", "--duration", "200ms")
        for word in ("1 rank,", "an iteration takes", "% of the time"):
            self.assertIn(word, text)

    def test_what_it_prints_is_what_the_trace_holds(self):
        trace = self.folder / "noise.txt"
        found = json.loads(self.succeed(BIN / "iw-selfish", "--duration", "300ms", "--threshold", "100ns", "--trace", trace, "--json"))
        *detours, (end, nothing) = detours_in(trace)
        (rank,) = found["of_ranks"]
        self.assertEqual((found["detours"], nothing), (len(detours), 0))
        self.assertEqual(sum(row["detours"] for row in found["histogram"]), len(detours))
        self.assertAlmostEqual(rank["share"], sum(duration for _, duration in detours) / end, places=9)
        self.assertAlmostEqual(rank["duration_s"], end * 1e-9, places=9)
        self.assertGreaterEqual(rank["duration_s"], 0.3)
        shortest = rank["shortest_s"] * 1e9
        self.assertTrue(all(duration + shortest > 100 for _, duration in detours))

    def test_a_simulation_plays_its_trace(self):
        trace = self.folder / "noise.txt"
        self.succeed(BIN / "iw-selfish", "--duration", "300ms", "--trace", trace)
        scenario = self.folder / "s.toml"
        scenario.write_text(SCENARIO.format(trace=trace.name))
        *detours, (end, _) = detours_in(trace)
        share = sum(duration for _, duration in detours) / end
        makespan = json.loads(self.succeed(BIN / "idlewave", "sim", scenario, "--json"))["makespan_s"]
        self.assertGreaterEqual(makespan, 0.4)
        if share > 0.01:  # a run of 0.4 s sees one round of the trace at least, on average
            self.assertGreater(makespan, 0.4)

    def test_ranks_of_the_ring_play_its_trace(self):
        trace = self.folder / "noise.txt"
        self.on_ranks(2, BIN / "iw-selfish", "--duration", "200ms", "--trace", trace)
        for rank in range(2):
            self.on_ranks(2, BIN / "iw-ring", "--time", "2ms", "--steps", "5", "--noise", f"trace:{trace}.{rank}", "--json")

    def test_a_file_that_cannot_be_written_is_one_line_and_two(self):
        done = call(BIN / "iw-selfish", "--duration", "1ms", "--trace", self.folder / "none" / "noise.txt")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^iw-selfish: --trace: can't write .*\n$")

    def test_bad_input_is_one_line_and_two(self):
        done = call(BIN / "iw-selfish", "--duration", "5")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^iw-selfish: --duration.*\n$")


if __name__ == "__main__":
    unittest.main()

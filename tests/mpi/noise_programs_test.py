#!/usr/bin/env python3
"""iw-selfish measures noise that the others can play; iw-collectives, what noise does to collectives.
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


class EachProgram(OwnFolder):
    def test_ends_where_one_rank_alone_cannot_take_its_command_line(self):
        if call(LAUNCHER, *ENOUGH_RANKS, "-n", 1, "true", ":", "-n", 1, "true").returncode != 0:
            self.skipTest(f"{LAUNCHER} can't start two programs, as that of Open MPI 5.0.7 ends by signal 11")
        for program in ("iw-ring", "iw-selfish", "iw-collectives", "iw-progress", "iw-contention"):
            for place in (0, 1):
                with self.subTest(program=program, place=place):
                    lines = [[] if rank != place else ["--nonsense"] for rank in range(2)]
                    words = [word for rank in (0, 1) for word in ([":"] * rank + ["-n", 1, BIN / program] + lines[rank])]
                    done = call(LAUNCHER, *ENOUGH_RANKS, *words, folder=self.folder)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertEqual(done.stdout, "")
                    ours = [line for line in done.stderr.splitlines() if line.startswith(program + ": ")]
                    self.assertEqual(len(ours), 1, done.stderr)
                    self.assertIn("--nonsense", ours[0])


def detours_in(path):
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]


class Selfish(OwnFolder):
    def test_without_a_launcher_it_measures_one_rank(self):
        text = self.succeed(BIN / "iw-selfish", "--duration", "200ms")
        for word in ("1 rank,", "an iteration takes", "% of the time"):
            self.assertIn(word, text)

    def test_what_it_prints_is_what_the_trace_holds(self):
        trace = self.folder / "noise.txt"
        found = json.loads(self.succeed(BIN / "iw-selfish", "--duration", "300ms", "--threshold", "2us", "--trace", trace, "--json"))
        *detours, (end, nothing) = detours_in(trace)
        (rank,) = found["of_ranks"]
        self.assertEqual((found["detours"], nothing), (len(detours), 0))
        self.assertEqual(sum(row["detours"] for row in found["histogram"]), len(detours))
        self.assertAlmostEqual(rank["share"], sum(duration for _, duration in detours) / end, places=9)
        self.assertAlmostEqual(rank["duration_s"], end * 1e-9, places=9)
        self.assertGreaterEqual(rank["duration_s"], 0.3)
        shortest = rank["shortest_s"] * 1e9
        self.assertTrue(all(duration + shortest > 2000 for _, duration in detours))

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


class Collectives(OwnFolder):
    EACH = ["allreduce", "allgather", "gather", "scatter"]

    def measure(self, ranks, *options):
        return json.loads(self.on_ranks(ranks, BIN / "iw-collectives", "--steps", "5", "--work", "2ms", "--json", *options))

    def test_each_is_right_both_ways_and_with_each_profile(self):
        found = self.measure(5)
        rows = found["comparisons"]
        self.assertEqual([(row["collective"], row["noise"]) for row in rows],
                         [(each, noise) for each in self.EACH for noise in ("none", "system", "daemon", "checkpoint")])
        for row in rows:
            self.assertEqual(row["wrong"], 0)
            for time in ("blocking_s", "nonblocking_s"):
                self.assertGreaterEqual(row[time], 5 * 2e-3)
            self.assertTrue(1 <= row["speedup_bound"] <= 2, row)
            self.assertAlmostEqual(row["speedup"], row["blocking_s"] / row["nonblocking_s"])

    def test_large_blocks_are_right_when_ranks_poll(self):
        for row in self.measure(2, "--size", "2 MB", "--waiting", "polling", "--tests", "0", "--noise", "none")["comparisons"]:
            self.assertEqual(row["wrong"], 0)

    def test_one_rank_is_enough(self):
        found = json.loads(self.succeed(BIN / "iw-collectives", "--steps", "2", "--work", "1ms", "--noise", "none", "--json"))
        self.assertEqual((found["ranks"], [row["wrong"] for row in found["comparisons"]]), (1, [0] * 4))

    def test_one_rank_is_counted_as_one(self):
        self.assertTrue(self.succeed(BIN / "iw-collectives", "--steps", "2", "--work", "1ms").startswith("1 rank, 2 steps"))

    def test_noise_makes_a_program_longer_by_what_one_rank_has_of_it_at_least(self):
        """Of three sums of five exponential numbers of the same seed the largest is well above half of what it is on average."""
        (silent, noisy) = self.measure(3, "--collectives", "allreduce", "--noise", "exp:20ms", "--seed", "1")["comparisons"]
        self.assertGreaterEqual(noisy["blocking_s"], 10e-3 + 50e-3)
        self.assertGreaterEqual(noisy["nonblocking_s"], 10e-3 + 50e-3)
        self.assertAlmostEqual(noisy["slowdown_blocking"], noisy["blocking_s"] / silent["blocking_s"])

    def test_a_session_shows_its_steps_and_its_waits(self):
        report = self.folder / "r.json"
        self.succeed(BIN / "idlewave", "run", "--headless", "--report", report, "--", LAUNCHER, *ENOUGH_RANKS, "-n", "4",
                     BIN / "iw-collectives", "--steps", "6", "--work", "5ms", "--noise", "daemon")
        found = json.loads(report.read_text())
        # of each collective: two noises, both ways, and two steps that nobody counts before each
        self.assertEqual((found["ranks"], found["steps"], found["complete"]), (4, 4 * 2 * 2 * (6 + 2), True))
        self.assertEqual(found["partners"], "declared")
        for quarter in found["step_time"]:
            self.assertGreater(quarter["wait_mean_s"], 0)

    def test_bad_input_is_one_line_and_two(self):
        for words in (["--size", "7 B"], ["--noise", "trace:/nowhere/noise.txt"]):
            done = call(LAUNCHER, *ENOUGH_RANKS, "-n", "2", BIN / "iw-collectives", *words)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len([line for line in done.stderr.splitlines() if line.startswith("iw-collectives: ")]), 1, done.stderr)

    def test_what_does_not_fit_into_memory_is_said_before_it_is_taken(self):
        for collectives in ("allgather", "allgather,gather"):
            done = call(LAUNCHER, *ENOUGH_RANKS, "-n", "2", "/bin/sh", "-c", 'ulimit -Sv 850000; exec "$0" "$@"', BIN / "iw-collectives",
                        "--size", "300MB", "--collectives", collectives)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("this run needs 1.8 GB of memory, and there are 1.74 GB: give a smaller --size", done.stderr)


if __name__ == "__main__":
    unittest.main()

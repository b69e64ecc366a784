#!/usr/bin/env python3
"""Calls `idlewave calibrate` on this machine, and what reads its file. Usage: calibrate_test.py FOLDER-OF-PROGRAMS"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = None
LESSON = pathlib.Path(__file__).resolve().parents[3] / "workloads" / "scenarios" / "memory-bound.toml"
MACHINE = """[machine]
ranks_per_domain = 4
curve = ["10 GB/s", "19 GB/s", "24 GB/s", "25 GB/s"]
"""


def call(*arguments, **options):
    return subprocess.run([BIN / "idlewave", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, **options)


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.machine = self.path / "machine.toml"

    def refuses(self, *arguments, says):
        done = call(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def report_of_simulation(self):
        recording = self.path / "s.iw"
        done = call("sim", LESSON, "--machine", self.machine, "--record", recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(call("report", recording, "--json").stdout)

    def test_this_machine_is_measured_or_said_to_be_busy(self):
        done = call("calibrate", "--size", "32MB", "--time", "2ms", "--repeats", "5", "--no-likwid", "--json", "-o", self.machine)
        if done.returncode == 3:
            self.assertEqual(done.stdout, "")
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("the machine is busy", done.stderr)
            self.assertFalse(self.machine.exists())
            return
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        for loop in found["kernels"]:
            curve = loop["curve_gbs"]
            self.assertEqual(len(curve), found["ranks_per_domain"])
            self.assertGreater(min(curve), 0)
            self.assertAlmostEqual(loop["core_gbs"]["value"], curve[0])
            self.assertAlmostEqual(loop["saturated_gbs"]["value"], max(curve))
            enough = [n for n, bandwidth in enumerate(curve, 1) if bandwidth >= 0.95 * max(curve)]
            self.assertEqual(loop["saturation_point"]["value"], enough[0])
        domain = self.report_of_simulation()["domains"][0]
        first = found["kernels"][0]
        self.assertEqual((domain["ranks"], domain["saturation_point"]), (found["ranks_per_domain"], first["saturation_point"]["value"]))
        self.assertEqual(len(domain["curve_gbs"]), len(first["curve_gbs"]))
        for theirs, ours in zip(domain["curve_gbs"], first["curve_gbs"]):
            self.assertAlmostEqual(theirs, ours)

    def test_a_machine_that_is_busy_keeps_no_file(self):
        spin = "import os\nwhile os.getppid() == %d: pass" % os.getpid()
        for _ in range(len(os.sched_getaffinity(0))):
            spinning = subprocess.Popen([sys.executable, "-c", spin])
            self.addCleanup(spinning.wait)
            self.addCleanup(spinning.kill)
        done = call("calibrate", "--size", "32MB", "--time", "2ms", "--repeats", "5", "-o", self.machine)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("other programs took", done.stderr)
        self.assertFalse(self.machine.exists())

    def test_the_simulator_runs_on_the_machine_of_the_file(self):
        self.machine.write_text(MACHINE)
        plain = call("sim", LESSON, "--json", "--set", "machine.ranks_per_domain=4", "--set", "machine.core_bandwidth=", "--set",
                     "machine.domain_bandwidth=", "--set", 'machine.curve=["10 GB/s", "19 GB/s", "24 GB/s", "25 GB/s"]')
        done = call("sim", LESSON, "--json", "--machine", self.machine)
        self.assertEqual((plain.returncode, done.returncode), (0, 0), plain.stderr + done.stderr)
        plain, done = json.loads(plain.stdout), json.loads(done.stdout)
        self.assertEqual(done["makespan_s"], plain["makespan_s"])
        for domain in self.report_of_simulation()["domains"]:
            self.assertEqual((domain["ranks"], domain["curve_gbs"], domain["saturation_point"]), (4, [10, 19, 24, 25], 3))

    def test_a_setting_counts_more_than_the_file_wherever_it_stands(self):
        self.machine.write_text(MACHINE)
        setting = ("--set", "machine.ranks_per_domain=2")
        for words in ((*setting, "--machine", self.machine), ("--machine", self.machine, *setting)):
            done = call("sim", LESSON, "--json", *words)
            self.assertEqual(json.loads(done.stdout)["domains"][0]["ranks"], 2)

    def test_a_sweep_runs_on_the_machine_of_the_file(self):
        self.machine.write_text(MACHINE)
        rows = call("sim", LESSON, "--json", "--machine", self.machine, "--sweep", "machine.ranks=8,12")
        self.assertEqual([len(row["active_means"]) for row in json.loads(rows.stdout)], [2, 3], rows.stderr)

    def test_a_lesson_is_played_on_the_machine_of_the_file(self):
        self.machine.write_text(MACHINE)
        done = call("demo", "--simulated", "--machine", self.machine, "--ranks", "8", "--steps", "20", "--headless", "--json",
                    env={**os.environ, "IDLEWAVE_DIR": str(self.path / "d")})
        self.assertEqual(done.returncode, 0, done.stderr)
        for domain in json.loads(done.stdout)["domains"]:
            self.assertEqual((domain["ranks"], domain["curve_gbs"], domain["saturation_point"]), (4, [10, 19, 24, 25], 3))

    @unittest.skipUnless(os.access("/usr/bin/mpirun", os.X_OK), "real ranks need mpirun")
    def test_real_ranks_play_a_lesson_on_the_machine_of_the_file(self):
        if not (BIN / "iw-ring").exists():
            self.skipTest("built without MPI")
        self.machine.write_text(MACHINE)
        # Open MPI keeps memory to its end, which is no leak of ours.
        done = call("demo", "--machine", self.machine, "--ranks", "4", "--steps", "5", "--headless", "--json",
                    env={**os.environ, "IDLEWAVE_DIR": str(self.path / "d"), "ASAN_OPTIONS": "detect_leaks=0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["domains"][0]["curve_gbs"], [10, 19, 24, 25])

    def test_bad_calls_are_refused(self):
        self.refuses("calibrate", "--kernel", "copy", says="triad, triad-nt, slow-triad")
        self.refuses("calibrate", "--size", "32", says="no unit")
        self.refuses("calibrate", "--size", "1kB", says="at least 1 MB")
        self.refuses("calibrate", "--time", "1us", says="1ms to 10s")
        self.refuses("calibrate", "--repeats", "2", says="3 to 1000")
        self.refuses("calibrate", "--frobnicate", says="--frobnicate")
        self.refuses("calibrate", "frobnicate", says="frobnicate")
        self.refuses("calibrate", "-o", self.path / "no" / "folder", says="can't be written")
        self.machine.write_text("mine")
        self.refuses("calibrate", "-o", self.machine, says="exists")
        self.assertEqual(self.machine.read_text(), "mine")
        self.refuses("sim", LESSON, "--machine", self.machine, says=str(self.machine))
        self.refuses("demo", "--machine", self.path / "nothing", says="machine file")

    def test_help_names_paper_section_and_figure(self):
        text = " ".join(call("calibrate", "--help").stdout.split())
        for words in ("Fig. 3a", "section 4.2", "Afzal", "2020", "Exit codes"):
            self.assertIn(words, text)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)

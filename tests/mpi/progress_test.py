#!/usr/bin/env python3
"""iw-progress as it is used: two real ranks, alone and watched. Usage: progress_test.py FOLDER-OF-PROGRAMS [unittest options]"""
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
PROGRAM = str(BIN / "iw-progress")
QUICK = ["--message-size", "1kB,300kB", "--points", "3", "--repetitions", "3"]
VERDICTS = {"by itself", "inside MPI calls", "partly", "can't be told"}


def call(*words, folder="/nowhere"):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "IDLEWAVE_DIR": str(folder)}
    environment.pop("IDLEWAVE_SESSION", None)
    if "YIELDING" in environment:
        environment |= {"LD_PRELOAD": environment["YIELDING"], "OMPI_MCA_mpi_yield_when_idle": "1"}
    return subprocess.run(words, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, env=environment)


LITTLE_MEMORY = ["/bin/sh", "-c", 'ulimit -Sv 700000; exec "$0" "$@"']


def ranks(number, *options, under=()):
    return call(LAUNCHER, "--oversubscribe", "-n", str(number), *under, PROGRAM, *options)


class Progress(unittest.TestCase):
    def measurements(self, *options):
        done = ranks(2, *QUICK, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertRegex(found["mpi"], "MPI")
        return found["measurements"]

    def test_each_size_is_judged_in_each_direction(self):
        found = self.measurements()
        self.assertEqual([(m["direction"], m["message_size"]) for m in found],
                         [("receive", 1000), ("receive", 300000), ("send", 1000), ("send", 300000)])
        for m in found:
            self.assertIn(m["verdict"], VERDICTS)
            self.assertLessEqual(0, m["hidden_least"])
            self.assertLessEqual(m["hidden_least"], m["hidden_most"])
            self.assertLessEqual(m["hidden_most"], 1)

    def test_a_total_is_never_shorter_than_its_work(self):
        for m in self.measurements("--direction", "send"):
            self.assertEqual(len(m["points"]), 3)
            self.assertEqual(m["points"][0]["work_s"], 0)
            for point in m["points"]:
                self.assertGreater(point["total_s"], point["work_s"])
                self.assertAlmostEqual(point["inside_calls_s"], point["work_s"] + m["communication_s"], delta=1e-12)
                self.assertAlmostEqual(point["by_itself_s"], max(point["work_s"], m["communication_s"]), delta=1e-12)

    def test_its_table_says_it_in_words(self):
        done = ranks(2, *QUICK, "--direction", "receive")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\nreceive of 1 kB: (progresses|can't be told)")
        self.assertRegex(done.stdout, r"\nreceive of 300 kB: (progresses|can't be told)")

    def test_a_message_of_odd_size_arrives(self):
        done = ranks(2, "--message-size", "1B,7B,100001B", "--points", "2", "--repetitions", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["measurements"]), 6)

    def test_bad_input_is_one_line_of_its_own(self):
        for number, options, word in ((2, ["--message-size", "1000"], "--message-size"), (3, [], "mpirun -n 2")):
            done = ranks(number, *options)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stdout, "")
            own = [line for line in done.stderr.splitlines() if line.startswith("iw-progress: ")]
            self.assertEqual(len(own), 1, done.stderr)
            self.assertIn(word, own[0])

    def test_what_does_not_fit_into_memory_is_said_before_it_is_taken(self):
        few = ["--points", "2", "--repetitions", "1"]
        done = ranks(2, "--message-size", "1kB,1GB", *few, under=LITTLE_MEMORY)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("this run needs 4 GB of memory, and there are 1.43 GB: give a smaller --message-size", done.stderr)
        # more together than each of them may have, in one direction, as either takes the same
        done = ranks(2, "--message-size", "1kB,200MB", "--direction", "send", *few, under=LITTLE_MEMORY)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_monitor_sees_its_steps_and_its_waiting(self):
        with tempfile.TemporaryDirectory(prefix="iw-progress-") as folder:
            report = pathlib.Path(folder) / "report.json"
            done = call(BIN / "idlewave", "run", "--headless", "--report", report, "--", LAUNCHER, "--oversubscribe", "-n", "2", PROGRAM,
                        "--message-size", "5MB", folder=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("send of 5 MB: ", done.stdout)
            found = json.loads(report.read_text())
            self.assertEqual(found["ranks"], 2)
            self.assertGreater(found["steps"], 50)


if __name__ == "__main__":
    unittest.main()

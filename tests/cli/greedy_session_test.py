#!/usr/bin/env python3
"""Small recordings that declare much: what is made of them takes no more memory than was given.
Usage: greedy_session_test.py FOLDER_OF_PROGRAMS"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = None
# Programs, libraries, and what is taken while a block of a recording is read.
BESIDES = 96 << 20


@unittest.skipIf(pathlib.Path(sys.argv[1]).resolve().parent.name in ("asan", "tsan"), "a sanitizer takes its own memory")
class GreedySession(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def session(self, what):
        path = self.path / f"{what}.iw"
        subprocess.run([PROGRAMS / "iw-write-greedy-session", what, path], check=True, timeout=60)
        self.assertLess(path.stat().st_size, 100_000)
        return path

    def stays_small(self, *arguments, budget=64):
        """With so many megabytes. Returns what it printed."""
        out = self.path / "out"
        with open(out, "wb") as printed:
            program = subprocess.Popen([PROGRAMS / "idlewave", *arguments, "--memory", f"{budget}MB"],
                                       stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        text = out.read_text()
        self.assertEqual(program.returncode, 0, text)
        self.assertLess(used.ru_maxrss << 10, (budget << 20) + BESIDES, arguments)
        return text

    def test_with_a_step_of_a_million_waits(self):
        path = self.session("waits")
        self.stays_small("report", path, "--ghost")
        self.stays_small("replay", path, "--once")

    def test_with_ranks_that_each_wait_for_many_who_are_not_there(self):
        path = self.session("partners")
        left_out = "whom ranks say that they wait for is more than fits into the memory for the history: left out"
        self.assertEqual(self.stays_small("report", path).count(left_out), 1)
        self.assertEqual(json.loads(self.stays_small("report", path, "--json"))["partners"], "left out")
        self.stays_small("replay", path, "--once")

    def test_with_a_program_of_millions_of_whom_one_is_there(self):
        path = self.session("world")
        refused = "declares more ranks or domains than fit into the memory for the history: left out"
        self.assertEqual(self.stays_small("report", path, "--json").count(refused), 1)
        self.stays_small("replay", path, "--once")

    def test_with_a_program_of_millions_for_which_there_is_room(self):
        path = self.session("world")
        self.assertIn("4194304 ranks", self.stays_small("report", path, budget=512))
        self.stays_small("replay", path, "--once", budget=512)

    def test_with_hundreds_of_thousands_of_ranks_that_all_report(self):
        path = self.session("ranks")
        told = self.stays_small("report", path)
        self.assertIn("ranks 12800-299999 left out for want of memory", told)
        self.assertIn("left out: --memory has room for 12800 ranks", told)
        self.stays_small("replay", path, "--once")
        self.assertNotIn("left out", self.stays_small("report", path, budget=1500))


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

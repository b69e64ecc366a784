#!/usr/bin/env python3
"""The examples of docs/examples do what they say when their first lines are followed.
Usage: examples_test.py ROOT BUILD [unittest options]"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from any_program import python_with_mpi
from surroundings import environment

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
RANKS = 2


def command_lines(example):
    """Those of the comment that the example begins with, continued lines as one."""
    text = (ROOT / "docs/examples" / example).read_text().replace("\\\n", " ")
    lines = [re.sub(r"\s*\*/$", "", line).lstrip("*! ") for line in text.splitlines()[:12]]
    return [re.sub(r"[*!]", " ", line).split() for line in lines if re.match(r"(mpi|build/release/bin/idlewave)", line)]


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-examples-")))
        self.report = self.folder / "report.json"

    def here(self, word):
        if word in ("halo", "./halo"):
            return str(self.folder / "halo")
        return re.sub(r"(\$PWD/)?build/release", lambda _: str(BUILD), word)

    def follow(self, example, replaced):
        """Every line, with the report of a run without a screen."""
        for line in command_lines(example):
            words = [replaced.get(word, self.here(word)) for word in line]
            if "run" in words:
                words[words.index("run") + 1:words.index("run") + 1] = ["--headless", "--report", str(self.report)]
                words[words.index("-n") + 1] = str(RANKS)
            if words[0] == "mpifort":
                words += ["-J", str(self.folder)]  # a module file in the tree is in the way of other compilers
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL,
                                  env=environment(self.folder))
            self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout, json.loads(self.report.read_text())

    def check(self, example, steps, says, replaced=None):
        said, report = self.follow(example, replaced or {})
        self.assertIn(says, said)
        self.assertEqual((report["ranks"], report["steps"], report["complete"]), (RANKS, steps, True))
        rank_steps = sum(quarter["rank_steps"] for quarter in report["step_time"])
        self.assertEqual(rank_steps, RANKS * steps)
        # On a busy machine one rank may begin so late that no step ends in the first quarter of the run.
        for quarter in (quarter for quarter in report["step_time"] if quarter["rank_steps"] > 0):
            self.assertGreater(quarter["compute_mean_s"], 0)
            self.assertGreater(quarter["wait_mean_s"], 0)

    def test_the_one_in_c(self):
        self.check("halo.c", 200, "change of the last step")

    def test_the_one_in_fortran(self):
        if not shutil.which("mpifort"):
            self.skipTest("mpifort is not here")
        self.check("halo.f90", 200, "the peak is now")

    def test_the_one_in_python(self):
        python = python_with_mpi()
        if not python:
            self.skipTest("no python3 here has mpi4py (Debian: python3-mpi4py)")
        self.check("halo.py", 100, "came round", {"python3": python})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

#!/usr/bin/env python3
"""iw-chebfd as it is used: the same with any number of ranks, whatever the MPI.
Usage: chebfd_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import os
import unittest

from each_mpi import OfEachMpi


class OfChebfd(OfEachMpi):
    PROGRAM = "iw-chebfd"


class Filters(OfChebfd):
    def test_each_is_right_however_it_is_done(self):
        """Plane waves are eigenvectors, of which the result is known; one that is not so ends the program with 1."""
        for mpi in self.mpis:
            for ranks, size, options in ((1, "5x4x6", ["--block", "1"]), (3, "5x4x6", ["--block", "8", "--vectors", "16"]),
                                         (5, "7x1x2", ["--reduce", "step", "--block", "4"]), (4, "3x2x1", ["--repeat", "2"])):
                with self.subTest(mpi=mpi, ranks=ranks, size=size, options=options):
                    found = self.json_of(mpi, ranks, "--size", size, "--degree", "40", *options)
                    self.assertLess(found["wave_error"], 1e-12)
                    self.assertLess(found["moment_error"], 1e-11)
                    self.assertEqual(sum(rank["rows"] for rank in found["ranks"]), found["rows"])

    def test_moments_are_those_of_one_process(self):
        """With disorder, of which no closed form is known."""
        for mpi in self.mpis:
            options = ["--size", "6x3x3", "--disorder", "2", "--degree", "30"]
            alone = self.json_of(mpi, 1, *options, "--block", "2")
            for ranks, more in ((2, ["--block", "2"]), (7, ["--block", "2", "--reduce", "step"]), (3, ["--block", "4"])):
                with self.subTest(mpi=mpi, ranks=ranks, more=more):
                    found = self.json_of(mpi, ranks, *options, *more)
                    self.assertIsNone(found["wave_error"])
                    self.assertLess(found["symmetry_error"], 1e-12)
                    for name in ("eta", "mu"):
                        self.assertEqual(len(found[name]), 29)
                        for own, expected in zip(found[name], alone[name]):
                            self.assertAlmostEqual(own, expected, places=12)

    def test_threads_share_a_process(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        for mpi in self.mpis:
            self.assertLess(self.json_of(mpi, 2, "--threads", "2", "--size", "6x6x6")["wave_error"], 1e-12)

    def test_virtual_sockets_take_as_long_as_eq_3_says(self):
        """Two processes share a socket that gives 10 MB/s, which is less than either wants."""
        for mpi in self.mpis:
            found = self.json_of(mpi, 2, "--kernel", "virtual", "--domain-bandwidth", "10MB/s", "--size", "8x4x4", "--degree", "10",
                                 "--vectors", "2")
            self.assertAlmostEqual(found["code_balance_bytes_per_flop"], (260 / 2 + 80) / 146)
            moved = found["rows"] * (260 + 2 * 80) * found["steps"]
            self.assertGreaterEqual(found["filter_s"], 0.999 * moved / 10e6)


class Use(OfChebfd):
    def test_bad_input_is_one_line_of_its_own(self):
        for mpi in self.mpis:
            for options, message in ((["--threads", "1000"], "--threads: 1000 are asked for"), (["--size", "1x1x1"], "1 sites are fewer"),
                                     (["--size", "90000x90000x90000"], "of memory, and there are"), (["--nonsense"], "--nonsense"),
                                     (["--vectors", "3"], "no multiple of the 2")):
                with self.subTest(mpi=mpi, options=options):
                    self.assertIn(message, self.refuse(mpi, 2, *options))

    def test_without_a_launcher_it_is_one_process(self):
        for mpi in self.mpis:
            done = self.call([self.program(mpi), "--size", "4x4x4"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Topi-4-4-4: 256 rows, 3328 nonzeros", done.stdout)
            self.assertIn("Plane waves are off by", done.stdout)

    def test_a_session_shows_steps_waits_and_partners(self):
        for mpi in self.mpis:
            for reduction in ("end", "step"):
                with self.subTest(mpi=mpi, reduction=reduction):
                    found = self.report_of(mpi, 4, "--kernel", "virtual", "--size", "8x4x4", "--degree", "12", "--reduce", reduction)
                    self.assertEqual((found["ranks"], found["steps"], found["complete"], found["partners"]), (4, 24, True, "declared"))


if __name__ == "__main__":
    unittest.main()

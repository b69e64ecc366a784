#!/usr/bin/env python3
"""iw-hybrid as it is used: right in all modes, with any number of ranks and threads, whatever the MPI.
Usage: hybrid_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import json
import unittest

from each_mpi import OfEachMpi


class OfHybrid(OfEachMpi):
    PROGRAM = "iw-hybrid"
    VIRTUAL = ["--kernel", "virtual", "--size", "9x6x5", "--point-time", "10us", "--message-bandwidth", "1MB/s", "--steps", "20"]


class Modes(OfHybrid):
    def test_each_point_is_right(self):
        """One that is not ends the program with 1."""
        for mpi in self.mpis:
            for ranks, threads, modes in ((1, 3, ["masteronly", "multiple"]), (2, 2, ["funneled"]), (9, 2, ["funneled", "masteronly"]),
                                          (5, 3, ["masteronly", "funneled", "multiple"])):
                with self.subTest(mpi=mpi, ranks=ranks, threads=threads):
                    found = self.json_of(mpi, ranks, *self.VIRTUAL, "--threads", threads, "--modes", ",".join(modes))
                    self.assertEqual([run["mode"] for run in found["runs"]], modes)
                    for run in found["runs"]:
                        self.assertLess(run["error"], 1e-12)
                        compared = run["mode"] != "masteronly" and "masteronly" in modes
                        self.assertEqual((run["ratio"] is not None, run["theory_ratio"] is not None), (compared, compared))

    def test_a_step_takes_at_least_what_its_points_and_messages_do(self):
        """Of two processes the one with 25 of 49 planes; each has one message a step."""
        for mpi in self.mpis:
            (run,) = self.json_of(mpi, 2, "--kernel", "virtual", "--size", "49x4x5", "--point-time", "20us", "--steps", "10",
                                  "--message-bandwidth", "50kB/s", "--threads", "2", "--modes", "masteronly")["runs"]
            self.assertGreaterEqual(run["step_s"], 25 * 20 / 2 * 20e-6 + 160 / 50e3)
            self.assertGreaterEqual(run["communication_s"], 160 / 50e3)

    def test_reserved_threads_share_out_the_messages(self):
        """Of m threads each has an m-th of the message, which takes 3.2 ms on one."""
        for mpi in self.mpis:
            runs = self.json_of(mpi, 3, "--kernel", "virtual", "--size", "12x4x5", "--point-time", "1us", "--steps", "10",
                                "--message-bandwidth", "50kB/s", "--threads", "8", "--modes", "funneled,multiple", "--reserved",
                                "2,3,7")["runs"]
            self.assertEqual([run["reserved"] for run in runs], [1, 2, 3, 7])
            for run in runs:
                self.assertLess(run["error"], 1e-12)
                self.assertGreaterEqual(run["step_s"], 2 * 160 / 50e3 / run["reserved"] * 0.999)

    def test_one_thread_is_pure_mpi(self):
        for mpi in self.mpis:
            (run,) = self.json_of(mpi, 4, "--threads", "1", "--steps", "30")["runs"]
            self.assertEqual(run["mode"], "masteronly")


class Use(OfHybrid):
    def test_bad_input_is_one_line_of_its_own(self):
        for mpi in self.mpis:
            for options, message in ((["--threads", "1000"], "--threads: 1000 are asked for"),
                                     (["--modes", "multiple"], "nobody is left to work"),
                                     (["--size", "90000x90000x90000"], "of memory, and there are"),
                                     (["--nonsense"], "--nonsense")):
                with self.subTest(mpi=mpi, options=options):
                    self.assertIn(message, self.refuse(mpi, 2, *options))

    def test_a_session_shows_steps_and_partners(self):
        for mpi in self.mpis:
            found = self.report_of(mpi, 3, *self.VIRTUAL, "--threads", "2")
            self.assertEqual((found["ranks"], found["steps"], found["complete"], found["partners"]), (3, 40, True, "declared"))

    def test_a_session_shows_how_many_threads_sleep_while_one_communicates(self):
        """Against what the program measures of itself."""
        for mpi in self.mpis:
            printed, found = self.watch(mpi, 2, "--kernel", "virtual", "--size", "12x8x8", "--point-time", "50us", "--steps", "40",
                                        "--message-bandwidth", "50kB/s", "--threads", "5", "--modes", "masteronly", "--json")
            (run,) = json.loads(printed)["runs"]
            use, share = found["threads"], run["communication_s"] / run["step_s"]
            with self.subTest(mpi=mpi, share=share, use=use):
                self.assertGreater(share, 0.3)
                self.assertEqual((use["ranks"], use["most"]), (2, 10))
                self.assertAlmostEqual(use["calling"] / 2, share, delta=0.1)
                self.assertAlmostEqual(use["asleep"] / 8, share, delta=0.1)
                self.assertAlmostEqual(use["working"] + use["calling"] + use["asleep"], 10)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""iw-heat as it is used: right by messages and by pages, whatever the MPI. Usage: heat_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import os
import unittest

from each_mpi import OfEachMpi


class OfHeat(OfEachMpi):
    PROGRAM = "iw-heat"


class Plates(OfHeat):
    def test_each_point_is_right(self):
        """One that is not ends the program with 1."""
        for mpi in self.mpis:
            for ranks, sizes in ((1, "20"), (3, "37,100,3")):
                with self.subTest(mpi=mpi, ranks=ranks):
                    found = self.json_of(mpi, ranks, "--sizes", sizes, "--steps", "12")
                    kinds = [(run["size"], run["memory"]) for run in found["runs"]]
                    self.assertEqual(kinds, [(int(size), memory) for size in sizes.split(",") for memory in ("messages", "pages")])
                    for run in found["runs"]:
                        self.assertLess(run["error"], 1e-12)
                        self.assertTrue(0 < run["communication_share"] < 1)

    def test_pages_carry_more_than_rows(self):
        """Of two processes each sends a row a step, or fetches what pages the other one has changed."""
        for mpi in self.mpis:
            messages, pages = self.json_of(mpi, 2, "--sizes", "100", "--steps", "8")["runs"]
            self.assertEqual((messages["transfers_per_step"], messages["bytes_per_step"]), (1, 102 * 8))
            self.assertGreater(pages["bytes_per_step"], 4096)
            self.assertIsNone(messages["communication_ratio"])
            took = [run["step_s"] * run["communication_share"] for run in (messages, pages)]
            self.assertAlmostEqual(pages["communication_ratio"], took[1] / took[0])
            self.assertIsNone(self.json_of(mpi, 2, "--sizes", "100", "--steps", "8", "--memory", "pages")["runs"][0]["communication_ratio"])

    def test_threads_share_a_process(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        for mpi in self.mpis:
            for run in self.json_of(mpi, 2, "--threads", "2", "--sizes", "30", "--steps", "8")["runs"]:
                self.assertLess(run["error"], 1e-12)


class Use(OfHeat):
    def test_bad_input_is_one_line_of_its_own(self):
        for mpi in self.mpis[:1]:
            for options, message in ((["--threads", "1000"], "--threads: 1000 are asked for"), (["--sizes", "1"], "fewer than the 2 ranks"),
                                     (["--sizes", "100000"], "or --memory messages, which needs less"), (["--nonsense"], "--nonsense")):
                with self.subTest(mpi=mpi, options=options):
                    self.assertIn(message, self.refuse(mpi, 2, *options))

    def test_a_session_shows_steps_partners_and_messages(self):
        for mpi in self.mpis[:1]:
            found = self.report_of(mpi, 3, "--sizes", "20", "--steps", "9", "--memory", "messages")
            self.assertEqual((found["ranks"], found["steps"], found["complete"], found["partners"]), (3, 9, True, "declared"))
            self.assertEqual((found["matrix"]["messages"], found["matrix"]["bytes"]), (4 * 9, 4 * 9 * 22 * 8))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""iw-orthogonal and iw-topology as they are used, whatever the MPI. Usage: internode_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import json
import unittest

from each_mpi import OfEachMpi


class Orthogonal(OfEachMpi):
    PROGRAM = "iw-orthogonal"
    QUICK = ["--ranks-per-node", "2", "--rounds", "2", "--sizes", "8B,20001B"]

    def test_messages_arrive_in_all_ways(self):
        """One that does not ends the program with 1."""
        for mpi in self.mpis:
            found = self.json_of(mpi, 4, *self.QUICK)
            self.assertEqual((found["nodes"], found["ranks_per_node"], found["wrong"]), (2, 2, 0))
            ways = [(point["size"], point["way"], point["communicating"]) for point in found["points"]]
            self.assertEqual(ways, [(size, *way) for size in (8, 20001)
                                    for way in (("pure_mpi", 2), ("masteronly", 1), ("several", 2))])

    def test_a_virtual_network_takes_at_least_what_its_figures_say(self):
        for mpi in self.mpis:
            found = self.json_of(mpi, 4, "--ranks-per-node", "2", "--rounds", "2", "--sizes", "50kB", "--network", "virtual")
            for point in found["points"]:
                self.assertGreaterEqual(point["exchange_s"], point["theory_s"] * 0.999)
            pure, masteronly, _ = found["points"]
            self.assertLess(pure["theory_s"] - masteronly["theory_s"], 50e3 / 5e6 + 2.5e-3)
            self.assertIsNone(pure["ratio"])
            self.assertAlmostEqual(masteronly["ratio"], masteronly["exchange_s"] / pure["exchange_s"])

    def test_bad_input_is_one_line_of_its_own(self):
        for mpi in self.mpis[:1]:
            for options, message in (([], "all there is, 2 ranks, is on one node"),
                                     (["--ranks-per-node", "1", "--communicating", "2"], "--communicating"),
                                     (["--nonsense"], "--nonsense")):
                with self.subTest(mpi=mpi, options=options):
                    self.assertIn(message, self.refuse(mpi, 2, *options))


class Topology(OfEachMpi):
    PROGRAM = "iw-topology"

    def test_the_lectures_example_has_its_links(self):
        for mpi in self.mpis[:1]:
            found = self.json_of(mpi, 16, "--ranks-per-node", "8", "--steps", "3")
            across = [(run["mapping"], run["links"]["across_nodes"], run["messages"]["across_nodes"]) for run in found["runs"]]
            self.assertEqual(across, [("round-robin", 14, 84), ("sequential", 8, 48), ("best", 2, 12)])

    def test_a_session_sees_the_messages_that_were_counted(self):
        """Nodes and sockets of one machine are the monitor's virtual sockets."""
        jobs = [(mpi, 4, "2x2", ["--ranks-per-node", "2"]) for mpi in self.mpis]
        for mpi, ranks, grid, options in [*jobs, (self.mpis[0], 8, "2x4", ["--ranks-per-node", "4", "--ranks-per-socket", "2"])]:
            with self.subTest(mpi=mpi, options=options):
                printed, report = self.watch(mpi, ranks, "--json", "--grid", grid, "--steps", "4", "--message-size", "1kB", *options)
                sent = [run["messages"] for run in json.loads(printed)["runs"]]
                crossing = sum(messages["across_nodes"] + messages["across_sockets"] for messages in sent)
                matrix = report["matrix"]
                self.assertEqual(matrix["messages"], sum(messages["all"] for messages in sent))
                self.assertEqual(matrix["bytes"], matrix["messages"] * 1000)
                self.assertLess(crossing, matrix["messages"])
                self.assertEqual(matrix["across_domains"], {"messages": crossing, "bytes": crossing * 1000})
                self.assertEqual((report["partners"], report["steps"]), ("declared", 12))

    def test_bad_input_is_one_line_of_its_own(self):
        for mpi in self.mpis[:1]:
            for options, message in ((["--grid", "3x3"], "start it with mpirun -n 9"),
                                     (["--grid", "2x2", "--ranks-per-socket", "3"], "does not divide"),
                                     (["--grid", "2x2", "--ranks-per-node", "3"], "does not divide"), (["--nonsense"], "--nonsense")):
                with self.subTest(mpi=mpi, options=options):
                    self.assertIn(message, self.refuse(mpi, 4, *options))


if __name__ == "__main__":
    unittest.main()

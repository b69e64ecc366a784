#!/usr/bin/env python3
"""Programs with MPI sessions, whose communicators have the ranks of the world backwards: what is shown is held against what they do.
Usage: sessions_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import sys
import unittest

from any_program import AnyProgram, PROGRAMS, launcher_of
from partners_test import OfPartners

STEPS = 20
# Of the MPIs here those that have sessions; Open MPI 4.1 has none.
ALL = "mpich", "mpich5", "standard"
# MPICH 4.0 ends by a signal where one session follows the last.
AGAIN = "mpich5", "standard"


def backwards(rank, ranks):
    return (rank - 1) % ranks


def forwards(rank, ranks):
    return (rank + 1) % ranks


class Sessions(AnyProgram):
    def setUp(self):
        super().setUp()
        self.ranks = 4

    def watch_mode(self, mpi, mode):
        command = [launcher_of(mpi), "-n", str(self.ranks), str(PROGRAMS / f"sessions.{mpi}"), mode, str(STEPS)]
        alone = self.call(command)
        done, report = self.watch(command)
        self.assertEqual((alone.returncode, done.returncode, done.stdout), (0, 0, alone.stdout), done.stderr)
        self.assertEqual((report["ranks"], report["complete"], report["dropped"], report["losses"]), (self.ranks, True, 0, []))
        return done, report

    def check(self, mode, *rings, mpis=ALL, sessions=1):
        """`rings`: each a loop of STEPS, by the way in which it goes round."""
        here = [mpi for mpi in mpis if (PROGRAMS / f"sessions.{mpi}").exists() and launcher_of(mpi)]
        if not here:
            self.skipTest(f"none of {', '.join(mpis)} is here")
        for mpi in here:
            with self.subTest(mpi=mpi):
                _, report = self.watch_mode(mpi, mode)
                expected = {}
                for rank in range(self.ranks):
                    for to in rings:
                        messages, size = expected.get((rank, to(rank, self.ranks)), (0, 0))
                        expected[rank, to(rank, self.ranks)] = (messages + STEPS, size + 4 * STEPS)
                self.assertEqual(self.pairs(report), expected)
                calls, times = self.calls(report), STEPS * len(rings)
                self.assertEqual(calls["MPI_Allreduce"], {rank: (times, 4 * times) for rank in range(self.ranks)})
                self.assertEqual(calls["MPI_Session_finalize"], {rank: (sessions, None) for rank in range(self.ranks)})
                self.check_times_of(report)
                self.report = report

    def check_times_of(self, report):
        """A rank waits in its calls alone; before, between and behind its sessions it does nothing that is shown."""
        inside = sum(function["time_s"] for function in report["functions"])
        self.assertAlmostEqual(inside, sum(report["time_by_rank"]["wait_s"]), delta=1e-7)

    def test_alone(self):
        self.check("alone", backwards)
        self.assertEqual((self.report["steps"], self.report["partners"]), (STEPS, "declared"))

    def test_two_of_which_the_first_ends_in_the_middle(self):
        self.check("two", backwards, backwards, sessions=2)
        self.assertEqual(self.report["steps"], 2 * STEPS)

    def test_one_after_the_other(self):
        """Of one rank: some processes of MPICH 5.0 never come out of a second beginning, with or without us."""
        self.ranks = 1
        self.check("again", backwards, backwards, mpis=AGAIN, sessions=2)
        self.assertEqual(self.report["steps"], 2 * STEPS)

    def test_that_begins_before_mpi_init(self):
        self.check("around", backwards, forwards)

    def test_that_ends_after_mpi_finalize(self):
        self.check("across", backwards, forwards, backwards)

    def test_that_begins_after_mpi_finalize_is_said_to_be_not_seen(self):
        self.ranks = 1
        if not launcher_of("standard"):
            self.skipTest("no mpicc_abi was found: of the MPIs here its alone begins once more")
        done, report = self.watch_mode("standard", "behind")
        self.assertEqual(self.pairs(report), {(0, 0): (STEPS, 4 * STEPS)})
        self.assertEqual(done.stderr.count(b"MPI has begun once more in a rank whose MPI had ended"), 1, done.stderr)


class Partners(OfPartners):
    def test_are_told_as_ranks_of_the_world(self):
        for mpi in ALL:
            if not (PROGRAMS / f"sessions.{mpi}").exists():
                continue
            with self.subTest(mpi=mpi):
                ranks = range(4)
                expected = [f"from {forwards(rank, 4)} to {backwards(rank, 4)}|collective from {self.numbers(*set(ranks) - {rank})}"
                            for rank in ranks]
                self.assertEqual(self.said_by(mpi, PROGRAMS / f"sessions.{mpi}", "alone", "40", ranks=4), expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

#!/usr/bin/env python3
"""`idlewave run` with programs whose ranks have threads: teams of OpenMP, and threads that call MPI.
Usage: threads_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import sys
import unittest

from any_program import BIN, PROGRAMS, RANKS, SHARE_TOLERANCE, TRIES_OF_EXACTNESS, AnyProgram


class Threads(AnyProgram):
    """Of programs whose OpenMP runtime tells how many there are."""
    THREADS = 6

    def team(self, mpi, *words, threads=THREADS, **options):
        command = [*self.launcher(mpi), self.program(f"team.{mpi}"), "60", str(threads), *words]
        done, report = self.watch(command, **options)
        self.assertEqual((done.returncode, report["ranks"], report["complete"]), (0, RANKS, True), done.stderr)
        return list(map(float, done.stdout.split())), report

    def check_team(self, mpi, *words, threads=THREADS):
        """`busy`: of all threads in regions. The main one counts as working until a region ends."""
        (in_region, alone, in_mpi, busy), report = self.team(mpi, *words, threads=threads)
        use = report["threads"]
        if threads > self.THREADS:
            busy = threads * in_region  # those of a team without lanes count until the last one is done
        whole = in_region + alone + in_mpi
        self.assertEqual((use["ranks"], use["most"]), (RANKS, RANKS * threads), "of the outermost region")
        self.assertGreater(in_mpi, 0)
        working = (busy + alone) / whole
        asleep = (threads * whole - busy - alone - in_mpi) / whole
        print(f"{use['working'] / RANKS:.3f} work, by itself {working:.3f}; {use['asleep'] / RANKS:.3f} sleep, by itself {asleep:.3f}",
              file=sys.stderr)
        self.assertAlmostEqual(use["working"] / RANKS, working, delta=threads / 30)
        self.assertAlmostEqual(use["asleep"] / RANKS, asleep, delta=threads / 30)
        self.assertAlmostEqual(use["working"] + use["calling"] + use["asleep"], use["most"])
        return report

    def check_lanes(self, report):
        lanes = report["time_by_thread"]
        self.assertEqual(list(zip(lanes["rank"], lanes["thread"])),
                         [(rank, thread) for rank in range(RANKS) for thread in range(1, self.THREADS)])

    def test_are_counted_open_mpi(self):
        self.check_lanes(self.check_team("openmpi"))

    def test_are_counted_mpich(self):
        self.check_lanes(self.check_team("mpich"))

    def test_that_wait_for_each_other_sleep_open_mpi(self):
        self.check_lanes(self.check_team("openmpi", "uneven"))

    def test_that_wait_for_each_other_sleep_mpich(self):
        self.check_lanes(self.check_team("mpich", "uneven"))

    def test_of_a_team_that_is_too_large_for_lanes_are_counted(self):
        self.environment.pop("OMP_WAIT_POLICY", None)  # Threads that sleep begin late, each at a moment of its own.
        self.assertIsNone(self.check_team("openmpi", threads=20)["time_by_thread"])

    def test_are_not_counted_where_the_user_has_a_tool_of_his_own(self):
        self.assertIsNone(self.team("openmpi", OMP_TOOL_LIBRARIES="/nowhere.so")[1]["threads"])


class CallsOfThreads(AnyProgram):
    """With MPI_THREAD_MULTIPLE."""
    ROUNDS = 12
    FEW_ROUNDS = 4  # of many threads, each of which waits by looking again and again
    FUNCTIONS = ("MPI_Sendrecv", "MPI_Isend", "MPI_Recv", "MPI_Wait", "MPI_Barrier")

    def threads(self, mpi, count, rounds=ROUNDS, *more):
        command = [*self.launcher(mpi), self.program(f"threads.{mpi}"), str(count), str(rounds), *more]
        self.assertEqual(self.call(command).returncode, 0)
        self.recording = str(self.folder / "threads.iw")
        done, report = self.watch(command, "--record", self.recording)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        seen = {function["name"]: function["calls"] for function in report["functions"]}
        return done, report, sum(seen.get(name, 0) for name in self.FUNCTIONS), seen

    def own_sums(self, rank):
        """A line for each thread: seconds in MPI and in all, bytes to the rank after it and to the one before."""
        return [tuple(map(float, line.split())) for line in (self.sums / str(rank)).read_text().splitlines()]

    def messages_and_bytes(self, report, count):
        """What was seen, and what the threads have sent by their own account, for each pair of ranks."""
        messages = count * self.ROUNDS
        expected = {}
        for rank in range(RANKS):
            sums = self.own_sums(rank)
            for to, column in (((rank + 1) % RANKS, 2), ((rank - 1) % RANKS, 3)):
                known = expected.get((rank, to), (0, 0))
                expected[rank, to] = (known[0] + messages, known[1] + sum(int(thread[column]) for thread in sums))
        seen = {(pair["from"], pair["to"]): (pair["messages"], pair["bytes"]) for pair in report["matrix"]["pairs"]}
        return seen, expected

    def check_types_that_come_and_go(self, mpi):
        """Of a type that may have been freed by another thread nobody asks: then its bytes are not known, and that is said."""
        _, report, _, _ = self.threads(mpi, 3, self.ROUNDS, "own")
        seen, expected = self.messages_and_bytes(report, 3)
        self.assertEqual({pair: messages for pair, (messages, _) in seen.items()},
                         {pair: messages for pair, (messages, _) in expected.items()})
        for pair, (_, size) in seen.items():
            self.assertLessEqual(size, expected[pair][1], pair)
        self.assertEqual(report["matrix"]["complete"], seen == expected)

    def test_free_types_while_others_send_open_mpi(self):
        self.check_types_that_come_and_go("openmpi")

    def test_free_types_while_others_send_mpich(self):
        self.check_types_that_come_and_go("mpich")

    def check_lanes(self, mpi):
        """Each thread's time in MPI is what it measured itself, but where one loses its core for longer between its look at the clock and
        ours: not always. Its calls are summed; one that the library makes within another, once."""
        for _ in range(TRIES_OF_EXACTNESS):
            if self.greatest_difference(self.report_of_lanes(mpi)) < SHARE_TOLERANCE:
                return
        self.fail("threads are shown in MPI for another share than their own, each time")

    def report_of_lanes(self, mpi):
        count = 3
        done, report, _, seen = self.threads(mpi, count)
        self.assertEqual((report["complete"], report["missing"]["unseen_calls"], report["dropped"]), (True, [], 0), done.stderr)
        self.assertNotIn(b"idlewave: ", done.stderr)
        self.assertEqual({name: seen[name] for name in self.FUNCTIONS},
                         {name: RANKS * count * self.ROUNDS for name in self.FUNCTIONS})
        # What they send is counted with their rank's, to the byte.
        sent, expected = self.messages_and_bytes(report, count)
        self.assertEqual(sent, expected)
        self.assertTrue(report["matrix"]["complete"])
        by_name = {function["name"]: function["bytes"] for function in report["functions"]}
        self.assertEqual(by_name["MPI_Sendrecv"] + by_name["MPI_Isend"], sum(size for _, size in expected.values()))
        lanes, use = report["time_by_thread"], report["threads"]
        self.assertEqual(list(zip(lanes["rank"], lanes["thread"])),
                         [(rank, thread) for rank in range(RANKS) for thread in range(1, count + 1)])
        self.assertEqual((use["ranks"], use["most"]), (RANKS, RANKS * (count + 1)))
        in_mpi = sum(lanes["wait_s"]) / report["duration_s"]
        print(f"{in_mpi:.2f} threads in MPI, {use['calling']:.2f} shown", file=sys.stderr)
        self.assertGreater(use["calling"], 0.8 * in_mpi)
        return report

    def greatest_difference(self, report):
        """Of the shares of a rank's threads in MPI, shown and their own: which thread came first is not known."""
        lanes, differences = report["time_by_thread"], []
        for rank in range(RANKS):
            own = [thread[:2] for thread in self.own_sums(rank)]
            shown = [wait for its, wait in zip(lanes["rank"], lanes["wait_s"]) if its == rank]
            whole = sum(in_all for _, in_all in own)
            differences.append(abs(sum(shown) - sum(in_mpi for in_mpi, _ in own)) / whole)
        print(f"shares differ by {max(differences):.4f}", file=sys.stderr)
        return max(differences)

    def test_have_lanes_open_mpi(self):
        self.check_lanes("openmpi")

    def test_have_lanes_mpich(self):
        self.check_lanes("mpich")

    def check_short_lives(self, mpi):
        """More than there are places, four at a time: no call is lost."""
        waves, messages = 30, 10
        command = [*self.launcher(mpi), self.program(f"waves.{mpi}"), str(waves), str(messages)]
        self.assertEqual(self.call(command).returncode, 0)
        done, report = self.watch(command)
        seen = {function["name"]: function["calls"] for function in report["functions"]}
        self.assertEqual((done.returncode, seen["MPI_Sendrecv"]), (0, RANKS * waves * 4 * messages), done.stderr)
        self.assertEqual((report["complete"], report["missing"]["unseen_calls"], report["dropped"]), (True, [], 0), done.stderr)
        self.assertNotIn(b"idlewave: ", done.stderr)

    def test_that_live_shortly_leave_their_places_to_others_open_mpi(self):
        self.check_short_lives("openmpi")

    def test_that_live_shortly_leave_their_places_to_others_mpich(self):
        self.check_short_lives("mpich")

    def check_more_than_places(self, mpi):
        """What finds no place is counted, and nothing twice."""
        count = 20
        done, report, seen, _ = self.threads(mpi, count, self.FEW_ROUNDS)
        unseen = {entry["rank"]: entry["calls"] for entry in report["missing"]["unseen_calls"]}
        self.assertEqual(seen + sum(unseen.values()), RANKS * count * self.FEW_ROUNDS * len(self.FUNCTIONS))
        self.assertEqual(sorted(unseen), list(range(RANKS)))
        self.assertEqual([(loss["kind"], loss["rank"], loss["count"]) for loss in report["losses"]],
                         [("unseen_calls", rank, unseen[rank]) for rank in range(RANKS)])
        self.assertEqual((report["complete"], report["matrix"]["complete"]), (False, False))
        self.assertIn(b"more threads call MPI at a time than are watched", done.stderr)
        words = self.call([BIN / "idlewave", "report", self.recording])
        self.assertIn(b"not counted among them: some of what other threads of a rank may have sent\n", words.stdout)
        self.assertIn(f"INCOMPLETE: {sum(unseen.values())} calls of other threads on {RANKS} ranks not seen\n", words.stdout.decode())
        self.assertEqual(self.call([BIN / "idlewave", "info", "--check", self.recording]).returncode, 1)

    def test_beyond_the_places_are_counted_open_mpi(self):
        self.check_more_than_places("openmpi")

    def test_beyond_the_places_are_counted_mpich(self):
        self.check_more_than_places("mpich")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

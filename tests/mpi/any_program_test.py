#!/usr/bin/env python3
"""`idlewave run` with programs that know nothing of it: real ones, under each MPI that is here. What is shown is held against what the
program measures of itself; results, output and exit code against the same program without us.
Usage: any_program_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BIN, PROGRAMS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
RANKS = 4
PATIENCE = 90
# Of the time between MPI_Init and MPI_Finalize, absolutely: on a loaded machine a rank may lose the processor between the program's look
# at its clock and ours, on either side of a call.
SHARE_TOLERANCE = 0.02


def launcher_of(mpi):
    """Beside the programs is a link to that of an MPI which has none of such a name. It looks for its own kin where it lies."""
    link = PROGRAMS / f"mpirun.{mpi}"
    return str(link.resolve()) if link.exists() else shutil.which(f"mpirun.{mpi}")


def python_with_mpi():
    for name in ("/usr/bin/python3", "python3"):
        if shutil.which(name) and subprocess.run([name, "-c", "import mpi4py"], capture_output=True).returncode == 0:
            return name
    return None


class AnyProgram(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-any-")))
        self.sums = self.folder / "sums"
        self.sums.mkdir()
        self.environment = {**os.environ, "IDLEWAVE_DIR": str(self.folder / "sessions"), "OWN_SUMS": str(self.sums), "TMPDIR": "/tmp",
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}", file=sys.stderr)
        self.seed = str(seed)

    def program(self, name):
        path = PROGRAMS / name
        if not path.exists():
            self.skipTest(f"{name} was not built: its MPI or compiler is not here")
        return str(path)

    def launcher(self, mpi):
        found = launcher_of(mpi)
        if not found:
            self.skipTest(f"mpirun.{mpi} is not here")
        return [found, "-n", str(RANKS)]

    def call(self, words, **options):
        return subprocess.run(words, capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                              env={**self.environment, **options})

    def watch(self, command, *flags, **options):
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        done = self.call([BIN / "idlewave", "run", "--headless", "--window", "0:1", "--report", report, *flags, "--", *command], **options)
        return done, json.loads(report.read_text())

    def share_by_itself(self):
        """Of the ranks' time, in MPI calls."""
        sums = [tuple(map(float, path.read_text().split())) for path in self.sums.iterdir()]
        self.assertEqual(len(sums), RANKS)
        return sum(inside for inside, _ in sums) / sum(whole for _, whole in sums)

    def check(self, command, *flags):
        """Same results, and the true share of waiting; the report."""
        alone = self.call(command)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        done, report = self.watch(command, *flags)
        self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
        self.assertEqual((report["ranks"], report["complete"], report["dropped"]), (RANKS, True, 0), done.stderr)
        shown = 1 - report["efficiency"]["parallel"]
        own = self.share_by_itself()
        print(f"in MPI calls: {own:.4f} by the program, {shown:.4f} shown", file=sys.stderr)
        self.assertAlmostEqual(shown, own, delta=SHARE_TOLERANCE)
        self.check_times(report)
        return report

    def check_times(self, report):
        """What functions took of a rank's time is what it spent in phases of waiting and communicating: the same moments make both."""
        in_functions = [0] * RANKS
        for function in report["functions"]:
            by_rank = function["by_rank"]
            for rank, time_s in zip(by_rank["rank"], by_rank["time_s"]):
                in_functions[rank] += time_s
            self.assertAlmostEqual(sum(by_rank["time_s"]), function["time_s"], delta=1e-9)
            self.assertEqual(max(by_rank["longest_s"]), function["longest_s"])
        times = report["time_by_rank"]
        self.assertEqual(times["rank"], list(range(RANKS)))
        for rank in times["rank"]:
            self.assertAlmostEqual(in_functions[rank], times["wait_s"][rank], delta=1e-7)
        self.assertAlmostEqual(sum(function["share"] for function in report["functions"]), 1, delta=1e-9)

    def calls(self, report):
        """Function -> (calls, bytes) of each rank that has called it."""
        seen = {}
        for function in report["functions"]:
            columns = function["by_rank"]
            self.assertEqual((sum(columns["calls"]), len(columns["rank"])), (function["calls"], len(set(columns["rank"]))))
            seen[function["name"]] = dict(zip(columns["rank"], zip(columns["calls"], columns["bytes"])))
        return seen

    def pairs(self, report):
        """(from, to) -> (messages, bytes); that their sums are what is said of all is checked."""
        matrix = report["matrix"]
        pairs = {(pair["from"], pair["to"]): (pair["messages"], pair["bytes"]) for pair in matrix["pairs"]}
        self.assertEqual(len(pairs), len(matrix["pairs"]))
        sums = [sum(column) for column in zip(*pairs.values())] or [0, 0]
        self.assertEqual(sums, [matrix["messages"], matrix["bytes"]])
        self.assertEqual((matrix["others"], matrix["complete"]), ({"messages": 0, "bytes": 0}, True))
        return pairs


class OfPrograms(AnyProgram):
    """What three programs that know themselves are shown as, under one MPI."""
    def halo(self, mpi):
        report = self.check([*self.launcher(mpi), self.program(f"halo.{mpi}"), "60", self.seed])
        self.assertGreater(report["steps"], 50)
        everybody = range(RANKS)
        self.assertEqual(self.calls(report), {
            "MPI_Cart_create": {rank: (1, None) for rank in everybody},
            "MPI_Bcast": {rank: (1, 8 if rank == 0 else 0) for rank in everybody},
            "MPI_Irecv": {rank: (26 * 60, None) for rank in everybody},
            "MPI_Isend": {rank: (26 * 60, 8 * 26 * 60) for rank in everybody},
            "MPI_Waitall": {rank: (60, None) for rank in everybody},
            "MPI_Allreduce": {rank: (60, 8 * 60) for rank in everybody},
            "MPI_Comm_free": {rank: (1, None) for rank in everybody}})
        # Four ranks on a periodic grid of 2 x 2 x 1: of 26 neighbours 2 are the rank itself, 6 lie behind each face, 12 behind the edge.
        met = [2, 6, 6, 12]
        self.assertEqual(self.pairs(report), {(a, b): (60 * met[a ^ b], 8 * 60 * met[a ^ b]) for a in everybody for b in everybody})

    def transpose(self, mpi):
        report = self.check([*self.launcher(mpi), self.program(f"transpose.{mpi}"), "40", self.seed])
        everybody = range(RANKS)
        self.assertEqual(self.calls(report), {
            "MPI_Alltoall": {rank: (40, 8 * RANKS * 40) for rank in everybody},
            "MPI_Ialltoall": {rank: (40, 8 * RANKS * 40) for rank in everybody},
            "MPI_Wait": {rank: (40, None) for rank in everybody},
            "MPI_Allreduce": {rank: (1, 8) for rank in everybody}})
        self.assertEqual(self.pairs(report), {})

    def farm(self, mpi):
        tasks, workers = 100, range(1, RANKS)
        report = self.check([*self.launcher(mpi), self.program(f"farm.{mpi}"), str(tasks), self.seed])
        calls, pairs = self.calls(report), self.pairs(report)
        asked = tasks + len(workers)  # each worker is told once that nothing is left
        self.assertEqual(calls["MPI_Send"], {0: (asked, 4 * asked)})
        self.assertEqual(calls["MPI_Probe"], {0: (asked, None)})
        self.assertEqual(calls["MPI_Recv"][0], (asked, None))
        self.assertEqual(set(calls["MPI_Isend"]), set(workers))
        self.assertEqual(sum(count for count, _ in calls["MPI_Isend"].values()), asked)
        expected = {}
        for worker in workers:
            count, size = calls["MPI_Isend"][worker]
            self.assertEqual((size, calls["MPI_Recv"][worker]), (8 * count, (count, None)))
            expected[worker, 0], expected[0, worker] = (count, 8 * count), (count, 4 * count)
        self.assertEqual(pairs, expected)

    def fortran(self, interface, mpi):
        steps = 60
        report = self.check([*self.launcher(mpi), self.program(f"ring.{interface}.{mpi}"), str(steps), self.seed])
        everybody = range(RANKS)
        self.assertEqual(self.calls(report), {
            "MPI_Irecv": {rank: (2 * steps, None) for rank in everybody},
            "MPI_Isend": {rank: (2 * steps, 2 * 32 * steps) for rank in everybody},
            "MPI_Waitall": {rank: (steps, None) for rank in everybody},
            "MPI_Sendrecv": {rank: (steps, 32 * steps) for rank in everybody},
            "MPI_Allreduce": {rank: (steps, 8 * steps) for rank in everybody}})
        expected = {(rank, (rank + 1) % RANKS): (2 * steps, 2 * 32 * steps) for rank in everybody}
        expected |= {(rank, (rank - 1) % RANKS): (steps, 32 * steps) for rank in everybody}
        self.assertEqual(self.pairs(report), expected)


class Programs(OfPrograms):
    def test_halo_open_mpi(self):
        self.halo("openmpi")

    def test_halo_mpich(self):
        self.halo("mpich")

    def test_transpose_open_mpi(self):
        self.transpose("openmpi")

    def test_transpose_mpich(self):
        self.transpose("mpich")

    def test_farm_open_mpi(self):
        self.farm("openmpi")

    def test_farm_mpich(self):
        self.farm("mpich")

    def test_mpif_h_open_mpi(self):
        self.fortran("MPIF_H", "openmpi")

    def test_mpif_h_mpich(self):
        self.fortran("MPIF_H", "mpich")

    def test_use_mpi_open_mpi(self):
        self.fortran("USE_MPI", "openmpi")

    def test_use_mpi_mpich(self):
        self.fortran("USE_MPI", "mpich")

    def test_use_mpi_f08_open_mpi(self):
        self.fortran("USE_F08", "openmpi")

    def test_use_mpi_f08_mpich(self):
        self.fortran("USE_F08", "mpich")

    def test_python(self):
        python = python_with_mpi()
        if not python:
            self.skipTest("no python3 here has mpi4py (Debian: python3-mpi4py)")
        report = self.check([*self.launcher("openmpi"), python, str(SOURCES / "ring.py"), "60", self.seed])
        calls = self.calls(report)
        for name in "MPI_Sendrecv", "MPI_Allreduce":
            self.assertEqual(calls[name], {rank: (60, 4 * 60) for rank in range(RANKS)})
        self.assertEqual(self.pairs(report), {(rank, (rank + 1) % RANKS): (60, 4 * 60) for rank in range(RANKS)})


class OfHandles(AnyProgram):
    TIMES = 8

    def expected_calls(self):
        times, counts, everybody = self.TIMES, [1, 2, 0, 1], range(RANKS)  # counts as in sums.c

        def each(amount):
            return {rank: (times, times * amount(rank)) for rank in everybody}

        calls = {"MPI_Rsend": each(lambda rank: 0), "MPI_Bsend": each(lambda rank: 8), "MPI_Gather": each(lambda rank: 8),
                 "MPI_Scatter": each(lambda rank: 8 * RANKS if rank == 1 else 0), "MPI_Gatherv": each(lambda rank: 4 * counts[rank]),
                 "MPI_Scatterv": each(lambda rank: 4 * sum(counts) if rank == 1 else 0), "MPI_Allgather": each(lambda rank: 8),
                 "MPI_Allgatherv": each(lambda rank: 4 * counts[rank]), "MPI_Alltoall": each(lambda rank: 8 * RANKS),
                 "MPI_Reduce_scatter": each(lambda rank: 4 * sum(counts)), "MPI_Reduce_scatter_block": each(lambda rank: 8 * RANKS)}
        calls["MPI_Sendrecv"] = {rank: (2 * times, (8 + 3) * times) for rank in everybody}
        calls["MPI_Ssend"] = {rank: (times, self.bytes_of_types()) for rank in everybody}
        calls["MPI_Alltoallv"] = {rank: (times, None) for rank in everybody}
        calls["MPI_Send"] = {rank: (2 * times, None) for rank in everybody}  # all have failed
        return calls

    def bytes_of_types(self):
        return sum(8 * (i % 7 + 1) for i in range(1, self.TIMES + 1))

    def expected_pairs(self):
        times, pairs = self.TIMES, {}
        for rank in range(RANKS):
            sent = [((rank - 1) % RANKS, 8 * times), (rank ^ 1, 3 * times),
                    ((rank + 2) % RANKS, 8 * times), ((rank + 2) % RANKS, self.bytes_of_types())]
            for to, size in sent:
                messages, before = pairs.get((rank, to), (0, 0))
                pairs[rank, to] = (messages + times, before + size)
        return pairs

    def handles(self, mpi):
        """Other communicators, types that are freed, sentinels, roots, groups of two sides, calls that fail: as the program knows them."""
        command = [*self.launcher(mpi), self.program(f"sums.{mpi}"), str(self.TIMES)]
        alone = self.call(command)
        done, report = self.watch(command)
        self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
        self.assertEqual(done.stdout, b"%d calls failed\n" % (2 * self.TIMES))
        self.assertEqual((report["complete"], report["dropped"]), (True, 0))
        self.check_times(report)
        calls = self.calls(report)
        expected = self.expected_calls()
        self.assertEqual({name: calls.get(name) for name in expected}, expected)
        self.assertEqual(self.pairs(report), self.expected_pairs())


class OfPersistent(AnyProgram):
    TIMES = 20

    def persistent(self, mpi):
        """What requests send that are made once and started often, by the next rank of a communicator that has them backwards."""
        done, report = self.watch([*self.launcher(mpi), self.program(f"persistent.{mpi}"), str(self.TIMES)])
        self.assertEqual((done.returncode, report["complete"]), (0, True), done.stderr)
        partitions = [4 * 2 * 4] if mpi != "openmpi" else []  # Open MPI 4.1 has none
        sizes = [3 * 4, 2 * 8, 7, *partitions]
        self.assertEqual(done.stdout, b"%d bytes to each\n" % (self.TIMES * sum(sizes)))
        self.assertEqual(self.pairs(report), {(rank, (rank - 1) % RANKS): (self.TIMES * len(sizes), self.TIMES * sum(sizes))
                                              for rank in range(RANKS)})
        self.assertEqual(report["matrix"]["not_counted"], [])


class Persistent(OfPersistent):
    def test_sends_count_as_others_open_mpi(self):
        self.persistent("openmpi")

    def test_sends_count_as_others_mpich(self):
        self.persistent("mpich")


class Handles(OfHandles):
    def test_open_mpi(self):
        self.handles("openmpi")

    def test_mpich(self):
        self.handles("mpich")


class Steps(AnyProgram):
    STEPS = 40

    def steps(self, program, *flags, arguments=(), source="found in MPI calls"):
        report = self.check([*self.launcher("openmpi"), self.program(program), *arguments, str(self.STEPS), self.seed], *flags)
        self.assertEqual(report["step_sources"], [{"source": source, "ranks": RANKS}])
        return report["steps"], sum(quarter["rank_steps"] for quarter in report["step_time"])

    def test_are_found(self):
        steps, seen = self.steps("halo.openmpi")
        self.assertEqual(steps, self.STEPS)  # the last call of the loop has returned so often
        self.assertGreaterEqual(seen, RANKS * (self.STEPS - 9))  # it is known after 16 calls, two in a step

    def test_are_found_where_one_has_several_phases(self):
        self.assertEqual(self.steps("transpose.openmpi")[0], self.STEPS)

    def test_are_where_the_user_says(self):
        self.assertEqual(self.steps("halo.openmpi", "--step-at", "MPI_Waitall", source="by --step-at"), (self.STEPS, RANKS * self.STEPS))
        self.assertEqual(self.steps("halo.openmpi", "--step-at", "MPI_Bcast", source="by --step-at"), (1, RANKS))

    def test_are_where_the_program_says(self):
        self.assertEqual(self.steps("odd.openmpi", arguments=["control"], source="by MPI_Pcontrol"), (self.STEPS, RANKS * self.STEPS))


class MillionsOfCalls(AnyProgram):
    """Nothing is lost of programs that call as often as they can: what is short is summed."""
    def poll(self, mpi, mode, times):
        command = [*self.launcher(mpi), self.program(f"poll.{mpi}"), mode, str(times), self.seed]
        alone = self.call(command)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        done, report = self.watch(command)
        self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
        self.assertEqual((report["ranks"], report["complete"], report["dropped"]), (RANKS, True, 0), done.stderr)
        calls = int((self.sums / "calls").read_text())
        print(f"{calls} calls, {report['summed']['phases']} of their phases in sums, {report['events']} events", file=sys.stderr)
        # A call is a phase, and so is what follows it. What is not in sums is an event, and so are steps and what agents say.
        self.assertLessEqual(report["summed"]["phases"], 2 * calls + RANKS)
        self.assertGreaterEqual(report["summed"]["phases"] + report["events"], 2 * calls)
        return report

    def test_that_test_open_mpi(self):
        self.poll("openmpi", "test", 100)

    def test_that_test_mpich(self):
        self.poll("mpich", "test", 100)

    def test_that_probe_open_mpi(self):
        self.poll("openmpi", "probe", 100)

    def test_that_probe_mpich(self):
        self.poll("mpich", "probe", 100)

    def test_that_send_to_themselves_open_mpi(self):
        self.assertGreater(self.poll("openmpi", "oneself", 200000)["summed"]["phases"], 0)

    def test_that_send_to_themselves_mpich(self):
        self.assertGreater(self.poll("mpich", "oneself", 200000)["summed"]["phases"], 0)


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
        self.assertIsNone(self.check_team("openmpi", threads=20)["time_by_thread"])

    def test_are_not_counted_where_the_user_has_a_tool_of_his_own(self):
        self.assertIsNone(self.team("openmpi", OMP_TOOL_LIBRARIES="/nowhere.so")[1]["threads"])


class CallsOfThreads(AnyProgram):
    """With MPI_THREAD_MULTIPLE."""
    ROUNDS = 12
    FEW_ROUNDS = 4  # of many threads, each of which waits by looking again and again
    FUNCTIONS = ("MPI_Sendrecv", "MPI_Isend", "MPI_Recv", "MPI_Wait", "MPI_Barrier")

    def threads(self, mpi, count, rounds=ROUNDS):
        command = [*self.launcher(mpi), self.program(f"threads.{mpi}"), str(count), str(rounds)]
        self.assertEqual(self.call(command).returncode, 0)
        self.recording = str(self.folder / "threads.iw")
        done, report = self.watch(command, "--record", self.recording)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        seen = {function["name"]: function["calls"] for function in report["functions"]}
        return done, report, sum(seen.get(name, 0) for name in self.FUNCTIONS), seen

    def check_lanes(self, mpi):
        """Each thread's time in MPI is what it measured itself. Its calls are summed; one that the library makes within another, once."""
        count = 3
        done, report, _, seen = self.threads(mpi, count)
        self.assertEqual((report["complete"], report["missing"]["unseen_calls"], report["dropped"]), (True, [], 0), done.stderr)
        self.assertNotIn(b"idlewave: ", done.stderr)
        self.assertEqual({name: seen[name] for name in self.FUNCTIONS},
                         {name: RANKS * count * self.ROUNDS for name in self.FUNCTIONS})
        # What they send is in no pair, and that is said.
        self.assertEqual((report["matrix"]["messages"], report["matrix"]["complete"]), (0, False))
        lanes = report["time_by_thread"]
        self.assertEqual(list(zip(lanes["rank"], lanes["thread"])),
                         [(rank, thread) for rank in range(RANKS) for thread in range(1, count + 1)])
        for rank in range(RANKS):
            own = [tuple(map(float, line.split())) for line in (self.sums / str(rank)).read_text().splitlines()]
            shown = [wait for its, wait in zip(lanes["rank"], lanes["wait_s"]) if its == rank]
            whole = sum(in_all for _, in_all in own)
            # Which thread came first is not known.
            self.assertAlmostEqual(sum(shown) / whole, sum(in_mpi for in_mpi, _ in own) / whole, delta=SHARE_TOLERANCE)
        use = report["threads"]
        self.assertEqual((use["ranks"], use["most"]), (RANKS, RANKS * (count + 1)))
        in_mpi = sum(lanes["wait_s"]) / report["duration_s"]
        print(f"{in_mpi:.2f} threads in MPI, {use['calling']:.2f} shown", file=sys.stderr)
        self.assertGreater(use["calling"], 0.8 * in_mpi)

    def test_have_lanes_open_mpi(self):
        self.check_lanes("openmpi")

    def test_have_lanes_mpich(self):
        self.check_lanes("mpich")

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
        self.assertIn(b"not counted among them: what other threads of a rank sent\n", words.stdout)
        self.assertIn(f"INCOMPLETE: {sum(unseen.values())} calls of other threads on {RANKS} ranks not seen\n", words.stdout.decode())
        self.assertEqual(self.call([BIN / "idlewave", "info", "--check", self.recording]).returncode, 1)

    def test_beyond_the_places_are_counted_open_mpi(self):
        self.check_more_than_places("openmpi")

    def test_beyond_the_places_are_counted_mpich(self):
        self.check_more_than_places("mpich")


class Manners(AnyProgram):
    def odd(self, mode, mpi="openmpi"):
        return [*self.launcher(mpi), self.program(f"odd.{mpi}"), mode, "20", self.seed]

    def said(self, done):
        return [line for line in done.stderr.decode().splitlines() if line.startswith("idlewave: ")]

    def test_the_exit_code_is_the_programs(self):
        command = [*self.launcher("openmpi"), self.program("halo.openmpi"), "20", self.seed, "7"]
        alone = self.call(command)
        done, report = self.watch(command)
        self.assertEqual(alone.returncode, 7)
        self.assertEqual((done.returncode, done.stdout), (7, alone.stdout))
        self.assertEqual(report["ranks"], RANKS)

    def test_open_mpi_waits_and_refuses_as_it_does_alone(self):
        """A demo may have more ranks than slots, which wait politely; a program of the user's has what he asked for."""
        for variable in [name for name in self.environment if name.startswith("OMPI_MCA_")]:
            del self.environment[variable]
        shown = [*self.launcher("openmpi")[:1], "-n", "1", "env"]
        done = self.call([BIN / "idlewave", "run", "--headless", "--no-preload", "--", *shown])

        def settings(text):
            # The runtime's own names of jobs, processes and pipes differ from run to run.
            names = (line.split(b"=")[0] for line in text.splitlines())
            return {name for name in names if name.startswith((b"OMPI_", b"PMIX_MCA_"))}
        self.assertEqual(settings(done.stdout), settings(self.call(shown).stdout))
        many = [*self.launcher("openmpi")[:1], "-n", "100000", self.program("halo.openmpi"), "1", self.seed]
        alone = self.call(many)
        done = self.call([BIN / "idlewave", "run", "--headless", "--", *many])
        self.assertNotEqual(alone.returncode, 0)
        self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout))
        self.assertIn(b"not enough slots", done.stderr)

    def test_a_call_that_is_left_by_longjmp_hides_no_later_one(self):
        self.check(self.odd("leap"))

    def test_a_program_that_never_ends_mpi(self):
        alone = self.call(self.odd("unended"))
        done, report = self.watch(self.odd("unended"))
        self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout))
        self.assertEqual((report["ranks"], report["complete"]), (RANKS, True))

    def test_a_program_that_aborts(self):
        alone = self.call(self.odd("abort"))
        done, report = self.watch(self.odd("abort"))
        self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout))
        self.assertEqual(alone.returncode, 5)
        self.assertEqual(report["ranks"], RANKS)

    def ends_as_alone(self, mpi, *program):
        command = [*self.launcher(mpi), *program]
        alone = self.call(command)
        done = self.call([BIN / "idlewave", "run", "--headless", "--", *command])
        self.assertEqual(done.returncode, alone.returncode, done.stderr)
        # How far the others come before one has ended the job is not the same twice.
        if alone.returncode == 0:
            self.assertEqual(done.stdout, alone.stdout, done.stderr)
        return alone

    def test_what_mpi_takes_or_refuses_unseen_is_as_alone(self):
        for mpi in ("mpich", "openmpi"):
            for what in ("empty", "nothing", "between"):
                with self.subTest(mpi=mpi, what=what):
                    alone = self.ends_as_alone(mpi, self.program(f"unasked.{mpi}"), what)
                    # Open MPI refuses types that it is asked for nothing of.
                    if mpi == "mpich" or what == "nothing":
                        self.assertEqual(alone.returncode, 0, alone.stderr)

    def test_errors_that_fortran_leaves_out_are_as_alone(self):
        for mpi in ("mpich", "openmpi"):
            with self.subTest(mpi=mpi):
                alone = self.ends_as_alone(mpi, self.program(f"left_out.{mpi}"))
                self.assertIn(b"received        1000", alone.stdout)

    def test_who_looks_at_requests_has_steps(self):
        _, report = self.watch([*self.launcher("openmpi"), self.program("unasked.openmpi"), "asked"])
        self.assertGreater(report["steps"], 200)

    def test_a_tool_in_a_library_of_its_own_sees_what_it_sees_alone(self):
        tool = self.program("tool.openmpi")
        launcher = [*self.launcher("openmpi"), "-x", f"LD_PRELOAD={tool}"]
        report = self.check([*launcher, self.program("odd.openmpi"), "leap", "30", self.seed])
        self.assertEqual(report["steps"], 30)

    def test_calls_that_a_tool_in_the_program_takes_are_said_to_be_not_seen(self):
        command = [*self.launcher("openmpi"), self.program("odd_with_tool.openmpi"), "leap", "20", self.seed]
        alone = self.call(command)
        done, report = self.watch(command)
        self.assertEqual((done.returncode, done.stdout), (0, alone.stdout))
        self.assertIn(b"the tool saw 21 barriers", done.stdout)
        self.assertEqual(report["ranks"], RANKS)
        self.assertEqual(sum("has an MPI_Finalize of its own: such calls" in line for line in self.said(done)), 1, done.stderr)

    def test_a_program_that_reports_by_itself_reports_once(self):
        """Its own steps and phases, and none of those that the library would have seen."""
        seen = []
        for flags in (), ("--no-preload",):
            done, report = self.watch([*self.launcher("openmpi"), self.program("hand.openmpi")], *flags)
            self.assertEqual((done.returncode, report["complete"], report["steps"]), (0, True, 200), done.stderr)
            seen.append(report["events"])
        # Samples of bandwidth are events too, and as many as there is time for; MPI calls would be thousands.
        self.assertAlmostEqual(*seen, delta=100)

    def test_an_unknown_mpi_is_named_and_the_program_runs(self):
        done = self.call([BIN / "idlewave", "run", "--headless", "--", self.program("unknown_mpi")])
        self.assertEqual((done.returncode, done.stdout), (3, b"done\n"))
        self.assertEqual(sum("neither Open MPI nor of MPICH's kin" in line for line in self.said(done)), 1, done.stderr)

    def test_a_static_program_is_named_and_runs(self):
        done = self.call([BIN / "idlewave", "run", "--headless", "--", BIN / "static_program"])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.said(done), ["idlewave: the program ended without reporting anything: static_program is linked statically, "
                                           "so nothing can be loaded into it; let it call idlewave_start (probe.h)"])

    def test_without_it_nothing_is_seen(self):
        done = self.call([BIN / "idlewave", "run", "--headless", "--no-preload", "--", *self.odd("leap")])
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"is it linked with libidlewave-probe", done.stderr)

    def test_the_launcher_and_the_agent_do_not_load_it(self):
        for mpi in "openmpi", "mpich":
            if not shutil.which(f"mpirun.{mpi}"):
                continue
            with self.subTest(mpi=mpi):
                self.environment["IDLEWAVE_DIR"] = str(self.folder / f"sessions-{mpi}")  # The last one's agent may be going.
                command = [*self.launcher(mpi), self.program(f"odd.{mpi}"), "leap", "300", self.seed]
                with subprocess.Popen([BIN / "idlewave", "run", "--headless", "--", *command], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment) as run:
                    loaded = self.who_has_loaded(run)
                self.assertEqual(run.returncode, 0)
                self.assertEqual({name for name, has in loaded.items() if has}, {f"odd.{mpi}"})
                self.assertGreaterEqual(set(loaded), {"idlewave-agent", f"odd.{mpi}"})
                self.assertTrue(set(loaded) & {"orterun", "mpiexec.hydra"}, loaded)

    def who_has_loaded(self, run):
        """Program -> whether our library is in one of its processes; looked at until the agent has been seen beside all ranks."""
        loaded, sign = {}, f"IDLEWAVE_DIR={self.environment['IDLEWAVE_DIR']}\0".encode()
        while run.poll() is None and "idlewave-agent" not in loaded:
            loaded = {}
            for entry in pathlib.Path("/proc").iterdir():
                try:
                    if entry.name.isdigit() and sign in (entry / "environ").read_bytes():
                        name = os.readlink(entry / "exe").rpartition("/")[2]
                        loaded[name] = loaded.get(name, False) or "libidlewave-mpi" in (entry / "maps").read_text()
                except OSError:
                    pass
            time.sleep(0.05)
        return loaded


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

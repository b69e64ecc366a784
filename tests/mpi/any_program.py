"""Programs that know nothing of idlewave, and what is held against what they measure of themselves."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

from surroundings import environment

BIN, PROGRAMS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
RANKS = 4
PATIENCE = 90
TRIES_OF_ASKING = TRIES_OF_EXACTNESS = 3
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
        self.environment = environment(self.folder, OWN_SUMS=str(self.sums))
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
        """Of the ranks' time, in MPI calls; and of it the share that may be shown as work (own_sums.h)."""
        sums = [tuple(map(float, path.read_text().split())) for path in self.sums.iterdir()]
        self.assertEqual(len(sums), RANKS)
        whole = sum(its[1] for its in sums)
        return sum(its[0] for its in sums) / whole, sum(sum(its[2:]) for its in sums) / whole

    def check(self, command, *flags, asks=False):
        """Same results, and the true share of waiting; the report. `asks`: ranks wait in loops around tests and probes too."""
        alone = self.call(command)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        return self.exact(lambda: self.check_share(command, alone.stdout, flags, asks), asks)

    def exact(self, watch, asks=False):
        """The report of watch(), in which functions took as long as phases of waiting and communicating. A rank that loses its core for
        more than a millisecond between its look at the clock and its word has what it says moved on to what the agent has promised by then:
        by no more than it was off, and not always."""
        for _ in range(TRIES_OF_EXACTNESS):
            report = watch()
            self.check_functions(report)
            apart = self.apart(report, asks)
            self.assertLess(apart, SHARE_TOLERANCE * report["duration_s"])
            if apart < 1e-7:
                return report
        self.fail("functions took another time than was spent in phases of waiting and communicating, each time")

    def check_share(self, command, printed, flags, asks):
        # Ranks that hand their core on between two questions, on a machine that others use, look at times as if they worked: not always.
        for _ in range(TRIES_OF_ASKING if asks else 1):
            done, report = self.watch(command, *flags)
            self.assertEqual((done.returncode, done.stdout), (0, printed), done.stderr)
            self.assertEqual((report["ranks"], report["complete"], report["dropped"]), (RANKS, True, 0), done.stderr)
            shown = 1 - report["efficiency"]["parallel"]
            own, unsure = self.share_by_itself()
            print(f"in MPI calls: {own:.4f} by the program, {unsure:.4f} of it unsure, {shown:.4f} shown", file=sys.stderr)
            if own - unsure - SHARE_TOLERANCE < shown < own + SHARE_TOLERANCE:
                return report
        self.fail("shown is another share than the program's own, each time")

    def check_functions(self, report):
        for function in report["functions"]:
            by_rank = function["by_rank"]
            self.assertAlmostEqual(sum(by_rank["time_s"]), function["time_s"], delta=1e-9)
            self.assertEqual(max(by_rank["longest_s"]), function["longest_s"])
        self.assertAlmostEqual(sum(function["share"] for function in report["functions"]), 1, delta=1e-9)

    def apart(self, report, asks):
        """What functions took of a rank's time is what it spent in phases of waiting and communicating: the same moments make both. By how
        much it is not, in seconds, of the rank where it is most. Where it asks, it waits between two calls as well."""
        in_functions = [0] * RANKS
        for function in report["functions"]:
            for rank, time_s in zip(function["by_rank"]["rank"], function["by_rank"]["time_s"]):
                in_functions[rank] += time_s
        times = report["time_by_rank"]
        self.assertEqual(times["rank"], list(range(RANKS)))
        beyond = [in_function - wait for in_function, wait in zip(in_functions, times["wait_s"])]
        return max(max(beyond), 0 if asks else -min(beyond))

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
    """What four programs that know themselves are shown as, under one MPI."""
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

    def dynamics(self, mpi):
        """Also a step in which other messages take the place of one of two exchanges is one."""
        steps, every = 100, 10
        report = self.check([*self.launcher(mpi), self.program(f"dynamics.{mpi}"), str(steps), str(every), self.seed])
        self.assertEqual(report["steps"], 1 + steps)  # forces go back before the first one too
        built, everybody = 1 + steps // every, range(RANKS)
        self.assertEqual(self.calls(report), {
            "MPI_Irecv": {rank: (2 * (2 * steps + 2), None) for rank in everybody},
            "MPI_Send": {rank: (2 * (2 * steps + 2), 8 * 2 * (2 * steps + 2)) for rank in everybody},
            "MPI_Wait": {rank: (2 * (2 * steps + 2), None) for rank in everybody},
            "MPI_Sendrecv": {rank: (2 * built, 4 * 2 * built) for rank in everybody}})

    def farm(self, mpi):
        tasks, workers = 300, range(1, RANKS)
        report = self.check([*self.launcher(mpi), self.program(f"farm.{mpi}"), str(tasks), self.seed], asks=True)
        self.assertIsNone(report["steps_differ"])  # though each worker has taken fewer than all together
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
        self.assertEqual(alone.stdout, b"%d calls failed\n" % (2 * self.TIMES))

        def watch():
            done, report = self.watch(command)
            self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
            self.assertEqual((report["complete"], report["dropped"]), (True, 0))
            return report

        report = self.exact(watch)
        calls = self.calls(report)
        expected = self.expected_calls()
        self.assertEqual({name: calls.get(name) for name in expected}, expected)
        self.assertEqual(self.pairs(report), self.expected_pairs())


class OfErrors(AnyProgram):
    """Calls that return 0 and were refused, as a handler of the program has taken the error back."""
    def forgiven(self, program, mpi, *words):
        command = [*self.launcher(mpi), self.program(f"{program}.{mpi}"), *words]
        alone = self.call(command)
        done, report = self.watch(command)
        self.assertEqual((alone.returncode, done.returncode, done.stdout), (0, 0, alone.stdout), done.stderr)
        self.assertEqual((report["ranks"], report["complete"]), (RANKS, True), done.stderr)
        return report

    def forgiving(self, program, mpi, *words):
        """What the program sends at last, and nothing else, is a message."""
        report = self.forgiven(program, mpi, *words)
        self.assertEqual(self.pairs(report), {(rank, (rank + 1) % RANKS): (1, 4) for rank in range(RANKS)})

    def forgiving_with_many_handlers(self, mpi, what="all"):
        """More than are told apart: then no call is known to have gone well."""
        report = self.forgiven("forgiving", mpi, what, "many")
        self.assertEqual({function["bytes"] for function in report["functions"]}, {None})


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

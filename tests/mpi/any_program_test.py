#!/usr/bin/env python3
"""`idlewave run` with programs that know nothing of it: real ones, under each MPI that is here. What is shown is held against what the
program measures of itself; results, output and exit code against the same program without us.
Usage: any_program_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import json
import subprocess
import sys
import unittest

from any_program import (BIN, PATIENCE, PROGRAMS, RANKS, SOURCES, AnyProgram, OfErrors, OfHandles, OfPersistent, OfPrograms,
                         launcher_of, python_with_mpi)


class Programs(OfPrograms):
    def test_halo_open_mpi(self):
        self.halo("openmpi")

    def test_halo_mpich(self):
        self.halo("mpich")

    def test_transpose_open_mpi(self):
        self.transpose("openmpi")

    def test_transpose_mpich(self):
        self.transpose("mpich")

    def test_dynamics_open_mpi(self):
        self.dynamics("openmpi")

    def test_dynamics_mpich(self):
        self.dynamics("mpich")

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


class Errors(OfErrors):
    def each(self, test):
        for mpi in "openmpi", "mpich":
            with self.subTest(mpi=mpi):
                test(mpi)

    def test_that_a_handler_takes_back(self):
        self.each(lambda mpi: self.forgiving("forgiving", mpi, "all", "one"))

    def test_that_a_handler_in_fortran_takes_back(self):
        self.each(lambda mpi: self.forgiving("forgiving.MPIF_H", mpi))

    def test_that_a_handler_of_mpi_f08_takes_back(self):
        self.each(lambda mpi: self.forgiving("forgiving.USE_F08", mpi))

    def test_that_one_of_many_handlers_takes_back(self):
        self.each(self.forgiving_with_many_handlers)


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


class Sweeps(AnyProgram):
    """From all corners of a grid of ranks, until all meet: hundreds of calls, of which each rank has others."""
    SWEEPS = 40

    def check_steps(self, mpi, mode, *ranks):
        for size in ranks:
            with self.subTest(ranks=size):
                command = [launcher_of(mpi) or self.skipTest(f"mpirun.{mpi} is not here"), "-n", str(size),
                           self.program(f"octants.{mpi}"), mode, str(self.SWEEPS), self.seed]
                done, report = self.watch(command)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((report["steps"], report["steps_differ"]), (self.SWEEPS, None))
                # A rank sees by four sweeps that it has no steps of its own; or some more, where messages come in any order. Very
                # short ones may be told as sums.
                seen = sum(quarter["rank_steps"] for quarter in report["step_time"])
                self.assertLessEqual(seen, size * (self.SWEEPS - 3))
                self.assertGreaterEqual(seen, size * (self.SWEEPS - 10))

    def test_in_turn_say_whose_message_a_wait_was_for(self):
        """Each rank waits for others in each octant, and for all at the end: what it says of its steps tells no sender."""
        command = [*self.launcher("openmpi")[:-1], "4", self.program("octants.openmpi"), "in-turn", str(self.SWEEPS), self.seed]
        done, report = self.watch(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        waits = report["causes"]["ranks"]
        waited = sum(rank["waited_ns"] for rank in waits)
        self.assertGreater(sum(rank["waited_for_ns"]["late_sender"] for rank in waits), 0.05 * waited)
        self.assertLess(sum(rank["not_attributable_ns"]["unknown"] for rank in waits), 0.4 * waited)

    def test_in_turn_are_steps_open_mpi(self):
        self.check_steps("openmpi", "in-turn", 4, 6, 9, 12)

    def test_in_turn_are_steps_mpich(self):
        self.check_steps("mpich", "in-turn", 4, 6)

    def test_at_once_are_steps_open_mpi(self):
        self.check_steps("openmpi", "at-once", 4, 6)

    def test_at_once_are_steps_mpich(self):
        self.check_steps("mpich", "at-once", 4)


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
        self.assertEqual(sum(function["calls"] for function in report["functions"]), calls)
        # A call is a phase, and so is what follows it, but where one asks in vain and then again. What is not in sums is an event.
        self.assertLessEqual(report["summed"]["phases"], 2 * calls + RANKS)
        if mode == "oneself":
            self.assertGreaterEqual(report["summed"]["phases"] + report["events"], 2 * calls)
        else:
            self.assertEqual(report["steps"], times)
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


class Asking(AnyProgram):
    """Ranks that ask until their messages are there wait; those that ask while they work don't."""
    STEPS = 120

    def ask(self, mpi, *ways):
        for way in ways:
            with self.subTest(way=way):
                report = self.check([*self.launcher(mpi), self.program(f"asking.{mpi}"), way, str(self.STEPS), self.seed], asks=True)
                self.assertEqual((report["steps"], report["steps_differ"], report["partners"]), (self.STEPS, None, "declared"))

    def test_without_a_pause_open_mpi(self):
        self.ask("openmpi", "testall", "one-by-one", "in-turns", "testany", "testsome", "status", "iprobe")

    def test_without_a_pause_mpich(self):
        self.ask("mpich", "testall", "one-by-one", "in-turns", "testany", "testsome", "status", "iprobe")

    def test_with_pauses_open_mpi(self):
        self.ask("openmpi", "yielding", "sleeping")

    def test_with_pauses_mpich(self):
        self.ask("mpich", "yielding", "sleeping")

    def test_while_they_work_open_mpi(self):
        self.ask("openmpi", "progress", "until-done", "short-blocks")

    def test_while_they_work_mpich(self):
        self.ask("mpich", "progress", "until-done", "short-blocks")


class OrderedTrace(AnyProgram):
    """Ordered of a program that knows nothing of us, of all its ranks but one; of that one another."""
    def play(self, mpi):
        (self.folder / "half.txt").write_text("100000 400000\n500000 100000\n1000000 0\n")
        (self.folder / "third.txt").write_text("start, duration\n0 s, 1 ms\n3 ms, 0 s\n")
        command = [*self.launcher(mpi), self.program(f"halo.{mpi}"), "600", self.seed]
        alone = self.call(command)
        report = self.folder / "report.json"
        run = subprocess.Popen([BIN / "idlewave", "run", "--headless", "--allow-inject", "--session", "traced", "--window", "0:1",
                                "--report", report, "--", *command], env=self.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.kill)

        def inject(*words):
            return self.call([BIN / "idlewave", "inject", "--session", "traced", *words]).returncode

        while inject("--ranks", "0-2", "--noise", f"trace:{self.folder}/half.txt") != 0:
            self.assertIsNone(run.poll(), "it has ended before an order came through")
        self.assertEqual(inject("--ranks", "3", "--noise", f"trace:{self.folder}/third.txt"), 0)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, out), (0, alone.stdout), err)
        told = json.loads(report.read_text())
        half, third = [command for command in told["commands"] if command["outcome"] == "accepted"]
        figures = lambda command: [command[key] for key in ("distribution", "file", "detours", "busy_s", "length_s", "longest_s", "ranks")]
        self.assertEqual(figures(half), ["trace", "half.txt", 3, 5e-4, 1e-3, 4e-4, [0, 1, 2]])
        self.assertEqual(figures(third), ["trace", "third.txt", 2, 1e-3, 3e-3, 1e-3, [3]])
        self.assertIsNotNone(half["took_effect_s"])
        self.assertIsNotNone(third["took_effect_s"])
        for held in told["time_by_rank"]["delay_s"]:
            self.assertGreater(held, 0)

    def test_open_mpi(self):
        self.play("openmpi")

    def test_mpich(self):
        self.play("mpich")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

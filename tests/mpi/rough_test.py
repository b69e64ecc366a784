#!/usr/bin/env python3
"""Programs that behave badly, or as few do, with and without us: exit code, standard output and files are the same, what their ranks had
reported is there, and where we can't follow one line says so. Each under every MPI that is here.
Usage: rough_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import shutil
import sys
import unittest

from any_program import BIN, SOURCES
from rough import Rough, each_mpi

STEPS = 20


class Processes(Rough):
    def setUp(self):
        super().setUp()
        self.environment.pop("IDLEWAVE_LIKWID_GROUP", None)  # The reader of counters is a process beside them too.

    def rough(self, mpi, mode, *words, ranks=2, code=0, **options):
        """Each rank exchanges and reduces so many times, and again. With MPICH one rank does without a launcher."""
        launcher = [] if mpi == "mpich" and ranks == 1 else self.launcher(mpi, ranks)
        return self.both([*launcher, self.program(f"rough.{mpi}"), mode, str(STEPS), *words], code, **options)

    def check_steps(self, report, ranks=2, lives=1):
        calls = 2 * STEPS * ranks * lives
        self.check_sums(report, {"MPI_Sendrecv": calls, "MPI_Allreduce": calls}, ranks)

    def quiet(self, mpi, mode, *words):
        """Followed to its end, with nothing to say."""
        said, report = self.rough(mpi, mode, *words)
        self.check_steps(report)
        self.assertEqual((said, report["complete"], self.lost(report)), ([], True, []))

    @each_mpi
    def test_a_child_that_goes_on(self, mpi):
        self.quiet(mpi, "fork")

    @each_mpi
    def test_a_child_that_calls_exit(self, mpi):
        self.quiet(mpi, "fork-exit")

    @each_mpi
    def test_a_child_that_becomes_another_program(self, mpi):
        self.quiet(mpi, "fork-exec", "/bin/echo", "from the child")

    @each_mpi
    def test_another_program_before_mpi_begins(self, mpi):
        self.quiet(mpi, "exec-first", self.program(f"rough.{mpi}"), "plain", str(STEPS))

    def test_mpi_by_another_thread_when_the_first_has_ended(self):
        """MPICH can't begin then, alone either."""
        self.quiet("openmpi", "first-ends")

    @each_mpi
    def test_a_rank_that_is_stopped_and_goes_on(self, mpi):
        self.quiet(mpi, "stop")

    @each_mpi
    def test_a_rank_that_takes_in_orphans_and_waits_for_them(self, mpi):
        self.quiet(mpi, "adopt")

    @each_mpi
    def test_a_rank_that_ignores_how_its_children_end(self, mpi):
        self.quiet(mpi, "deaf")

    @each_mpi
    def test_no_more_descriptors(self, mpi):
        self.quiet(mpi, "nofile")

    @each_mpi
    def test_a_stack_that_is_just_enough_alone(self, mpi):
        command = lambda kilobytes: [*self.launcher(mpi), self.program(f"small_stack.{mpi}"), str(kilobytes), str(STEPS)]
        least = next(size for size in range(16, 256, 4) if all(self.call(command(size)).returncode == 0 for _ in range(4)))
        print(f"{least} kB", file=sys.stderr)
        said, report = self.both(command(least))
        self.check_sums(report, {"MPI_Allreduce": 2 * STEPS})
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_little_address_space(self, mpi):
        """What a rank has beyond what the program takes by itself is some megabytes: where a hundred more are there, it is watched."""
        room = self.files("room")
        alone = self.call([*self.launcher(mpi), self.program(f"rough.{mpi}"), "room", str(STEPS)], OWN_FILES=str(room))
        self.assertEqual(alone.returncode, 0, alone.stderr)
        taken = max(int(path.read_text()) for path in room.glob("room.*"))
        self.quiet(mpi, "memory", str(taken + (450 << 20)))

    @each_mpi
    def test_limits_of_the_program_are_not_the_agents(self, mpi):
        """Which a rank starts: with as much memory and as few descriptors it could not live."""
        limits = "ulimit -Sv 250000; ulimit -Sn 32; exec"
        said, report = self.both([*self.launcher(mpi), "/bin/bash", "-c", f"{limits} {self.program(f'rough.{mpi}')} plain {STEPS}"])
        self.check_steps(report)
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_another_program_after_mpi_began(self, mpi):
        said, report = self.rough(mpi, "exec", "/bin/sh", "-c", "echo gone; exit 6", ranks=1, code=None)
        self.check_steps(report, ranks=1)
        self.assertEqual(self.lost(report), [0])
        self.assertIn("whose process ended without saying so", said[0])

    def test_the_same_program_again_after_mpi_began(self):
        """Which MPICH takes. One process, but two lives of the rank."""
        said, report = self.rough("mpich", "exec", self.program("rough.mpich"), "plain", str(STEPS), ranks=1)
        self.assertEqual((report["ranks"], report["complete"], report["dropped"]), (1, True, 0), said)
        self.assertGreaterEqual(report["events"], 2 * 2 * 2 * 2 * STEPS)

    @each_mpi
    def test_abort(self, mpi):
        self.ends_badly(mpi, "abort")

    @each_mpi
    def test_a_rank_that_is_killed(self, mpi):
        self.ends_badly(mpi, "die")

    def ranks_that_end_alone(self, mpi):
        """Where ranks end without MPI_Finalize, MPICH's launcher may kill them, or lose what they print, with and without us."""
        return 2 if mpi == "openmpi" else 1

    def ends_badly(self, mpi, mode):
        ranks = self.ranks_that_end_alone(mpi)
        said, report = self.rough(mpi, mode, ranks=ranks, code=None)
        self.check_steps(report, ranks)
        self.assertIn(ranks - 1, self.lost(report))
        self.assertIn("whose process ended without saying so", said[0])

    @each_mpi
    def test_exit_in_place_of_finalize(self, mpi):
        ranks = self.ranks_that_end_alone(mpi)
        said, report = self.rough(mpi, "unended", ranks=ranks, code=3)
        self.check_steps(report, ranks)
        self.assertEqual((report["complete"], self.lost(report)), (True, []), said)

    @each_mpi
    def test_exit_by_another_thread(self, mpi):
        ranks = self.ranks_that_end_alone(mpi)
        said, report = self.rough(mpi, "other-exit", ranks=ranks, code=3)
        self.check_steps(report, ranks)
        self.assertEqual(sorted(self.lost(report)), list(range(ranks)), said)  # by when each died

    @each_mpi
    def test_descriptors_are_closed(self, mpi):
        ranks = self.ranks_that_end_alone(mpi)
        said, report = self.rough(mpi, "close", ranks=ranks, code=5)
        self.check_steps(report, ranks)
        self.assertEqual(sorted(self.lost(report)), list(range(ranks)), said)  # by when each died

    @each_mpi
    def test_a_filter_of_system_calls_that_kills(self, mpi):
        """After MPI_Init there are none of ours that it could meet."""
        ranks = self.ranks_that_end_alone(mpi)
        _, report = self.rough(mpi, "filter", ranks=ranks, code=None)
        self.check_steps(report, ranks)

    @each_mpi
    def test_a_filter_that_refuses_the_processor_time(self, mpi):
        """Which is asked for between two questions; errno is the program's."""
        self.quiet(mpi, "no-clock")

    @each_mpi
    def test_no_process_may_be_started(self, mpi):
        """The host starts the agent."""
        self.quiet(mpi, "no-start")

    @each_mpi
    def test_no_file_may_be_locked(self, mpi):
        """The host may, and has the agent started."""
        self.quiet(mpi, "no-lock")

    def test_nobody_may_be_connected_to(self):
        """An agent that the rank starts could say nothing to anybody. Open MPI does not begin."""
        self.mute("no-connect", 2)

    def test_nothing_may_be_sent(self):
        """Alone as a rank, which need not send anything."""
        self.mute("no-send", 1)

    def mute(self, mode, ranks):
        if not shutil.which("mpirun.mpich"):
            self.skipTest("no MPICH")
        said, report = self.rough("mpich", mode, ranks=ranks)
        self.assertEqual(report["ranks"], 0)
        why = "a rank is not watched: it may not speak to its host, nor might an agent that it starts: Operation not permitted"
        self.assertEqual(sum(why in line for line in said), 1, said)

    @each_mpi
    def test_no_file_may_be_locked_and_the_host_can_not_help(self, mpi):
        """As the ranks want another agent than its own."""
        of_ranks = ["/usr/bin/env", "IDLEWAVE_AGENT=/nowhere"]
        said, report = self.both([*self.launcher(mpi), *of_ranks, self.program(f"rough.{mpi}"), "no-lock", str(STEPS)])
        self.assertEqual(report["ranks"], 0)
        why = "a rank is not watched: the session's folder can't be locked: Operation not permitted"
        self.assertEqual(sum(why in line for line in said), 1, said)

    @each_mpi
    def test_somebody_above_the_ranks_who_takes_in_orphans(self, mpi):
        above = [sys.executable, str(SOURCES / "reaper.py")]
        program = [self.program(f"rough.{mpi}"), "plain", str(STEPS)]
        launcher = self.launcher(mpi)
        for command in [*above, *launcher, *program], [*launcher, *above, *program]:
            with self.subTest(command=command):
                said, report = self.both(command)
                self.check_steps(report)
                self.assertEqual((said, report["complete"]), ([], True))


class Sanitized(Rough):
    """Built with -fsanitize=address, whose library wants to be the first. The launcher's own leaks are no matter here."""

    def sanitized(self, command):
        said, report = self.both(command, ASAN_OPTIONS="detect_leaks=0")
        calls = 4 * STEPS
        self.check_sums(report, {"MPI_Sendrecv": calls, "MPI_Allreduce": calls})
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_by_the_launcher(self, mpi):
        self.sanitized([*self.launcher(mpi), self.program(f"rough_sanitized.{mpi}"), "plain", str(STEPS)])

    @each_mpi
    def test_by_a_script(self, mpi):
        words = " ".join([*self.launcher(mpi), self.program(f"rough_sanitized.{mpi}"), "plain", str(STEPS)])
        self.sanitized(["/bin/sh", "-c", words])

    def test_with_what_the_user_says_to_the_launcher(self):
        program = self.program("rough_sanitized.openmpi")
        launcher = self.launcher("openmpi")
        self.sanitized([launcher[0], "-x", "ASAN_OPTIONS=detect_leaks=0:verbosity=0", *launcher[1:], program, "plain", str(STEPS)])


class Variables(Rough):
    def test_in_open_mpis_list(self):
        """Beside which it refuses -x."""
        launcher = self.launcher("openmpi")
        program = [*launcher[1:], self.program("rough.openmpi"), "plain", str(STEPS)]
        for command, options in [([launcher[0], "--mca", "mca_base_env_list", "A=3;B", *program], {"B": "4"}),
                                 ([launcher[0], *program], {"OMPI_MCA_mca_base_env_list": "A=3"})]:
            with self.subTest(options):
                said, report = self.both(command, **options)
                self.check_sums(report, {"MPI_Allreduce": 4 * STEPS})
                self.assertEqual((said, report["complete"]), ([], True))


class Handlers(Rough):
    ROUNDS = 100  # of a hundred messages to oneself; then as many steps

    def handlers(self, mpi, mode):
        return self.both([*self.launcher(mpi), self.program(f"handlers.{mpi}"), mode, str(self.ROUNDS)])

    def at_the_end(self, mpi, mode):
        said, report = self.handlers(mpi, mode)
        self.check_sums(report, {"MPI_Sendrecv": 2 * 2 * self.ROUNDS, "MPI_Allreduce": 2 * 2 * self.ROUNDS})
        self.assertEqual((said, report["complete"], self.lost(report)), ([], True, []))

    @each_mpi
    def test_mpi_after_main(self, mpi):
        self.at_the_end(mpi, "atexit")

    @each_mpi
    def test_mpi_in_a_destructor(self, mpi):
        self.at_the_end(mpi, "destructor")

    def timer(self, mpi, mode):
        """It meets the rank wherever it is, also where we note a call: none is counted twice, none is left out."""
        said, report = self.handlers(mpi, mode)
        calls = 2 * 100 * self.ROUNDS
        self.check_sums(report, {"MPI_Irecv": calls, "MPI_Send": calls, "MPI_Wait": calls, "MPI_Sendrecv": 2 * self.ROUNDS})
        self.assertEqual((said, report["complete"], self.lost(report)), ([], True, []))

    @each_mpi
    def test_mpi_in_a_timers_handler(self, mpi):
        self.timer(mpi, "alarm")

    @each_mpi
    def test_mpi_in_a_timers_handler_on_a_stack_of_its_own(self, mpi):
        self.timer(mpi, "other-stack")

    @each_mpi
    def test_a_handler_that_leaps(self, mpi):
        self.timer(mpi, "leap")


class Groups(Rough):
    TIMES = 20

    def groups(self, mpi, mode, times, ranks):
        return self.both([*self.launcher(mpi, ranks), self.program(f"groups.{mpi}"), mode, str(times)])

    @each_mpi
    def test_two_groups(self, mpi):
        """Ranks of a side are numbered from the last on: 2 and 0 are 0 and 1 of theirs, 3 and 1 of the other."""
        said, report = self.groups(mpi, "inter", self.TIMES, 4)
        self.check_sums(report, {"MPI_Sendrecv": 4 * self.TIMES, "MPI_Allreduce": 4 * self.TIMES, "MPI_Barrier": 4 * self.TIMES}, 4)
        self.assertEqual((said, report["complete"]), ([], True))
        size = 8 * self.TIMES
        self.assertEqual(self.pairs(report), {pair: (self.TIMES, size) for pair in ((2, 3), (3, 2), (0, 1), (1, 0))})

    def test_children_of_a_world_of_their_own(self):
        """MPICH as Debian has it can't start them on one machine, with or without us."""
        spawn = [*self.launcher("openmpi", 1), self.program("groups.openmpi"), "spawn"]
        if self.call(["timeout", "20", *spawn, "1"]).returncode != 0:
            self.skipTest("Open MPI can't start them on this machine, with or without us: from 5 on it wants a network for it")
        said, report = self.groups("openmpi", "spawn", self.TIMES, 1)
        self.check_sums(report, {"MPI_Comm_spawn": 1, "MPI_Recv": 2, "MPI_Barrier": self.TIMES + 1}, 1)
        # Children that say the same at one moment may both be heard; then one line says that there is another one.
        self.assertIn(len(said), (1, 2), said)
        self.assertIn("a rank is not watched: it was started by MPI_Comm_spawn and has a world of its own", said[0])

    @each_mpi
    def test_a_communicator_that_is_freed_while_a_message_from_anybody_is_on_its_way(self, mpi):
        said, report = self.groups(mpi, "pending", self.TIMES, 2)
        each = 2 * self.TIMES
        self.check_sums(report, {"MPI_Comm_dup": each, "MPI_Comm_free": each, "MPI_Irecv": each, "MPI_Isend": each, "MPI_Wait": 2 * each})
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_handles_that_another_thread_frees_while_a_call_is_busy_with_them(self, mpi):
        said, report = self.groups(mpi, "busy", 4, 2)
        self.check_sums(report, {"MPI_Ssend": 4, "MPI_Recv": 4})
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_data_of_ones_own_that_no_library_looks_at(self, mpi):
        said, report = self.groups(mpi, "fetch", self.TIMES, 2)
        self.check_sums(report, {"MPI_Rget_accumulate": 2 * self.TIMES, "MPI_Wait": 2 * self.TIMES})
        read = [function["bytes"] for function in report["functions"] if function["name"] == "MPI_Rget_accumulate"]
        self.assertEqual((said, report["complete"], read), ([], True, [8 * 2 * self.TIMES]))

    @each_mpi
    def test_handles_that_are_freed_twice(self, mpi):
        said, report = self.groups(mpi, "twice", self.TIMES, 2)
        each = 2 * self.TIMES
        self.check_sums(report, {"MPI_Comm_dup": each, "MPI_Comm_free": 2 * each, "MPI_Send": each, "MPI_Start": 2 * each,
                                 "MPI_Wait": 3 * each, "MPI_Irecv": each, "MPI_Barrier": 2 * each})
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_communicators_without_end(self, mpi):
        times = 50000
        said, report = self.both_that_grow(mpi, times)
        self.check_sums(report, {"MPI_Comm_dup": times, "MPI_Comm_free": times, "MPI_Barrier": times}, 1)
        self.assertEqual((said, report["complete"]), ([], True))

    def both_that_grow(self, mpi, times):
        """The files say how much memory the loop has taken, which is the library's affair; ours is that it is not much more."""
        self.environment["OMPI_MCA_mpi_yield_when_idle"] = "0"  # to whom, and it sleeps then
        command = [*self.launcher(mpi, 1), self.program(f"groups.{mpi}"), "growth", str(times)]
        grown = []
        for name in "alone", "watched":
            files = self.files(name)
            if name == "alone":
                done = self.call(command, OWN_FILES=str(files))
            else:
                done, report = self.watch(command, OWN_FILES=str(files))
            self.assertEqual((done.returncode, self.output(done)), (0, [b"growth: %d" % times]), done.stderr)
            grown.append(int((files / "grown.0").read_text()))
        self.assertLess(grown[1] - grown[0], 4 << 20)
        return [line for line in done.stderr.decode().splitlines() if line.startswith("idlewave: ")], report


class Libraries(Rough):
    @each_mpi
    def test_a_library_that_is_loaded_late(self, mpi):
        for how, name in ("local", "late_plugin"), ("global", "late_plugin"), ("local", "late_plugin_by_jumps"):
            plugin = self.program(f"{name}.{mpi}.so")
            with self.subTest(how=how, plugin=name):
                said, report = self.both([*self.launcher(mpi), self.program("late"), how, plugin, str(STEPS)])
                self.check_sums(report, {"MPI_Allreduce": 2 * STEPS})
                self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_a_library_that_is_unloaded_and_loaded_again(self, mpi):
        """Without a launcher: with one neither MPI can begin a second time, alone either."""
        for how in "twice-local", "twice-global":
            with self.subTest(how=how):
                said, report = self.both([self.program("late"), how, self.program(f"late_plugin.{mpi}.so"), str(STEPS)])
                self.check_sums(report, {"MPI_Allreduce": STEPS}, 1)
                words = "MPI has begun once more in a rank whose MPI had ended: what it does then is not seen"
                self.assertEqual((len(said), words in said[0], report["complete"]), (1, True, True), said)

    @each_mpi
    def test_functions_that_are_looked_up_by_hand(self, mpi):
        plugin = self.program(f"late_plugin.{mpi}.so")
        said, _ = self.both([*self.launcher(mpi), self.program("late"), "by-hand", plugin, str(STEPS)])
        words = "the program ended without reporting anything: nobody has seen it call MPI_Init or idlewave_start"
        self.assertEqual([line.startswith(f"idlewave: {words}") for line in said], [True], said)

    @each_mpi
    def test_what_a_script_preloads_ahead_of_the_program(self, mpi):
        """In the place of ours: then it is said what helps, which is tried here."""
        tool, words = "libm.so.6", f"exec {self.program(f'rough.{mpi}')} plain {STEPS}"
        command = [*self.launcher(mpi), "/bin/sh", "-c"]
        said, report = self.both([*command, f"LD_PRELOAD={tool} {words}"])
        self.assertEqual((report["ranks"], len(said)), (0, 1), said)
        self.assertIn("LD_PRELOAD=its.so:$LD_PRELOAD", said[0])
        said, report = self.both([*command, f"LD_PRELOAD={tool}:$LD_PRELOAD {words}"])
        self.check_sums(report, {"MPI_Allreduce": 4 * STEPS})
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_a_tool_that_the_program_is_linked_with(self, mpi):
        """It takes barriers and counts them, and hands them on by their names for tools."""
        said, report = self.both([*self.launcher(mpi), self.program(f"odd_on_tool.{mpi}"), "leap", str(STEPS), self.seed])
        self.check_sums(report, {"MPI_Barrier": 2 * (STEPS + 1), "MPI_Comm_dup": 2})
        self.assertEqual((said, report["complete"]), ([], True))

    @each_mpi
    def test_functions_of_the_programs_own_by_names_of_the_c_library(self, mpi):
        command = [*self.launcher(mpi), self.program(f"own_names.{mpi}"), str(STEPS)]
        alone = self.call(command)
        if b"was called by others" in alone.stderr:
            self.skipTest(f"libraries of {mpi} call them without us: {alone.stderr.splitlines()[0].decode()}")
        said, report = self.both(command)
        self.check_sums(report, {"MPI_Sendrecv": 2 * STEPS})
        self.assertEqual((said, report["complete"]), ([], True))


    def opened(self, run, name):
        """The most that a rank has opened."""
        files = self.files(name)
        done = run(OWN_FILES=str(files))
        self.assertEqual(done.returncode, 0, done.stderr)
        return max(int(path.read_text()) for path in files.glob("opened.*"))

    @each_mpi
    def test_opens_few_objects(self, mpi):
        """Whenever one is opened the thread sanitizer's library reads the whole map of the process."""
        flag = {"openmpi": ["-x", "LD_PRELOAD="], "mpich": ["-genv", "LD_PRELOAD", ""]}[mpi]
        flag[-1] += self.program(f"opens.{mpi}")
        command = [*self.launcher(mpi), *flag, self.program(f"rough.{mpi}"), "plain", str(STEPS)]
        alone = self.opened(lambda **options: self.call(command, **options), "alone")
        watched = self.opened(lambda **options: self.watch(command, **options)[0], "watched")
        print(f"{alone} alone, {watched} watched", file=sys.stderr)
        self.assertGreater(alone, 0)
        self.assertLess(watched, alone + 100)


class Agents(Rough):
    @each_mpi
    def test_one_of_another_version(self, mpi):
        agent = str(SOURCES / "agent_of_another_version.py")
        of_ranks = ["/usr/bin/env", f"IDLEWAVE_AGENT={agent}"]
        said, report = self.both([*self.launcher(mpi), *of_ranks, self.program(f"rough.{mpi}"), "plain", str(STEPS)])
        self.assertEqual(report["ranks"], 0)
        self.assertEqual(sum("the agent is of another version of idlewave" in line for line in said), 1, said)


if __name__ == "__main__":
    assert BIN
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

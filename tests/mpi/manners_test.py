#!/usr/bin/env python3
"""How programs end that `idlewave run` watches, or cannot watch: as they would alone.
Usage: manners_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from any_program import BIN, PROGRAMS, RANKS, AnyProgram


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
        for variable in [name for name in self.environment if name.startswith(("OMPI_MCA_", "PRTE_MCA_"))]:
            del self.environment[variable]
        shown = [*self.launcher("openmpi")[:1], "-n", "1", "env"]
        done = self.call([BIN / "idlewave", "run", "--headless", "--no-preload", "--", *shown])

        def settings(text):
            # The runtime's own names of jobs, processes and pipes differ from run to run.
            names = (line.split(b"=")[0] for line in text.splitlines())
            return {name for name in names if name.startswith((b"OMPI_", b"PMIX_MCA_", b"PRTE_MCA_"))}
        self.assertEqual(settings(done.stdout), settings(self.call(shown).stdout))
        many = [*self.launcher("openmpi")[:1], "-n", "100000", self.program("halo.openmpi"), "1", self.seed]
        alone = self.call(many)
        done = self.call([BIN / "idlewave", "run", "--headless", "--", *many])
        self.assertNotEqual(alone.returncode, 0)
        self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout))
        self.assertIn(b"not enough slots", done.stderr)

    def test_a_launcher_that_is_given_no_program_says_what_it_says_alone(self):
        for mpi in ("mpich", "openmpi"):
            for flags in ((), ("--version",)):
                with self.subTest(mpi=mpi, flags=flags):
                    command = [*self.launcher(mpi)[:1], *flags]
                    alone = self.call(command)
                    done = self.call([BIN / "idlewave", "run", "--headless", "--", *command])
                    self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout), done.stderr)
                    self.assertTrue(done.stderr.startswith(alone.stderr), (alone.stderr, done.stderr))

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
                program = self.program(f"left_out.{mpi}")
                if self.call([*self.launcher(mpi), program]).returncode != 0:
                    self.skipTest(f"{mpi} itself takes no call that leaves them out, as MPI_Waitsome of MPICH 4.3.0 does not")
                alone = self.ends_as_alone(mpi, program)
                self.assertIn(b"received        1000", alone.stdout)

    def test_who_looks_at_requests_has_steps(self):
        _, report = self.watch([*self.launcher("openmpi"), self.program("unasked.openmpi"), "asked"])
        self.assertGreater(report["steps"], 200)

    def test_a_tool_in_a_library_of_its_own_sees_what_it_sees_alone(self):
        tool = self.program("tool.openmpi")
        launcher = [*self.launcher("openmpi"), "-x", f"LD_PRELOAD={tool}"]
        report = self.check([*launcher, self.program("odd.openmpi"), "leap", "30", self.seed])
        self.assertEqual(report["steps"], 30)

    def test_a_tool_is_told_the_numbers_that_the_program_says_to_it(self):
        flags = {"openmpi": lambda tool: ("-x", f"LD_PRELOAD={tool}"), "mpich": lambda tool: ("-genv", "LD_PRELOAD", tool)}
        for mpi in flags:
            with self.subTest(mpi=mpi):
                loading = flags[mpi](self.program(f"tool.{mpi}"))
                alone = self.ends_as_alone(mpi, *loading, self.program(f"odd.{mpi}"), "told", "20", self.seed)
                self.assertIn(b"the tool was told 0.5, 3 and 0.25\n", alone.stdout)
                self.assertIn(b"the tool was told 2.5, 4 and 1e+300\n", alone.stdout)

    def test_a_program_that_asks_for_a_function_of_large_counts_finds_that_of_its_mpi_or_none(self):
        """As mpi4py from PyPI asks. Open MPI has none."""
        for mpi, counts in (("openmpi", b"small"), ("mpich", b"large")):
            with self.subTest(mpi=mpi):
                command = [*self.launcher(mpi), self.program(f"large_if_there.{mpi}"), "30"]
                alone = self.call(command)
                done, report = self.watch(command)
                self.assertEqual((alone.returncode, done.returncode), (0, 0), done.stderr)
                self.assertEqual(sorted(done.stdout.splitlines()), sorted(alone.stdout.splitlines()))
                self.assertIn(counts + b" counts", done.stdout)
                self.assertEqual({function["name"]: function["calls"] for function in report["functions"]}, {"MPI_Sendrecv": 30 * RANKS})

    def test_alone_or_in_a_script_it_finds_some_only_where_the_mpirun_at_hand_has_them(self):
        for mpi, at_hand, counts in (("openmpi", "openmpi", b"small"), ("mpich", "mpich", b"large"), ("openmpi", None, b"small")):
            for script in ([], ["sh", "-c", 'exec "$@"', "sh"]):
                with self.subTest(at_hand=at_hand, script=script), tempfile.TemporaryDirectory() as first:
                    os.symlink(self.launcher(at_hand)[0] if at_hand else shutil.which("true"), f"{first}/mpirun")
                    done = self.call([BIN / "idlewave", "run", "--headless", "--", *script, self.program(f"large_if_there.{mpi}"), "30"],
                                     PATH=f"{first}:{os.environ['PATH']}")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(counts + b" counts", done.stdout)

    def test_behind_a_launcher_in_a_script_it_finds_those_of_that_ones_mpi_whichever_mpirun_is_at_hand(self):
        for mpi, at_hand, counts in (("openmpi", "mpich", b"small"), ("mpich", "openmpi", b"large")):
            for script in (["sh", "-c", '"$@"; exit $?', "sh"], ["env", "LD_PRELOAD="], ["env"]):
                with self.subTest(mpi=mpi, script=script), tempfile.TemporaryDirectory() as first:
                    os.symlink(self.launcher(at_hand)[0], f"{first}/mpirun")
                    command = [*self.launcher(mpi), self.program(f"large_if_there.{mpi}"), "30"]
                    done, report = self.watch([*script, *command], PATH=f"{first}:{os.environ['PATH']}")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(counts + b" counts", done.stdout)
                    self.assertEqual({each["name"]: each["calls"] for each in report["functions"]}, {"MPI_Sendrecv": 30 * RANKS})

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
                self.assertTrue(set(loaded) & {"orterun", "prte", "mpiexec.hydra"}, loaded)

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

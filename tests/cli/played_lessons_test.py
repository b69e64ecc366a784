#!/usr/bin/env python3
"""Lessons that another program than iw-ring plays, on real ranks. Usage: played_lessons_test.py FOLDER-OF-PROGRAMS FOLDER-OF-SCENARIOS"""
import json
import os
import shutil
import subprocess
import unittest

from lessons_test import BIN, PATIENCE, OfLessons

PLAYED = """[play]
program = "iw-hybrid"
ranks = 2
arguments = ["--threads", "3", "--kernel", "virtual", "--size", "8x4x4", "--steps", "40", "--modes", "masteronly"]
[lesson]
title = "T"
summary = "S"
[[lesson.page]]
text = "{ranks} ranks"
[lesson.page.until]
program = "ended"
[[lesson.page.check]]
path = "program.threads"
unit = "threads"
label = "threads of a process"
theory = "3 threads"
tolerance = "0 threads"
[[lesson.page.check]]
path = "program.runs.0.mode"
label = "the mode"
theory = "masteronly"
[lesson.page.say]
near = "Seen."
none = "Not seen."
"""


LAUNCHER = [shutil.which("mpirun.openmpi") or "mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def keys_of(value, path=""):
    """Paths of all that is no object and no list, with N for places."""
    if isinstance(value, dict):
        return set().union(*(keys_of(inner, f"{path}.{key}") for key, inner in value.items()))
    if isinstance(value, list):
        return set().union(*(keys_of(inner, f"{path}.N") for inner in value))
    return {path[1:]}


class Programs(OfLessons):
    def play(self, *changes, arguments=("--headless",), **variables):
        text = PLAYED
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        file = self.path / "p.toml"
        file.write_text(text)
        return self.demo(file, *arguments, **variables)

    def test_a_page_measures_what_the_program_says_of_itself(self):
        answers = self.path / "a.json"
        done = self.play(arguments=("--headless", "--answers", answers))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("page 1 of 1: Threads of a process: measured 3 threads, theory 3 threads. The mode: measured masteronly, theory "
                      "masteronly. Seen.", done.stdout)
        checks = json.loads(answers.read_text())["pages"][0]["checks"]
        self.assertEqual([(check["path"], check["measured"], check["holds"]) for check in checks],
                         [("program.threads", 3, True), ("program.runs.0.mode", "masteronly", True)])

    def test_what_the_program_does_not_say_is_not_seen(self):
        done = self.play(("program.runs.0.mode", "program.runs.5.mode"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("The mode: measured nothing, theory masteronly. ", done.stdout)
        self.assertIn("not every effect of the lesson was seen", done.stderr)

    def test_a_key_or_a_socket_that_the_program_never_has_is_refused_before_it_starts(self):
        number = PLAYED.splitlines().index('path = "program.threads"') + 1
        self.one_line(self.play(("program.threads", "program.thread")), 2,
                      f'p.toml:{number}: lesson.page.check.path: iw-hybrid tells no "thread"; accepted, with a place for N')
        played = PLAYED.split("[lesson]")[0]
        chebfd = (played, '[play]\nprogram = "iw-chebfd"\nranks = 20\n')
        self.one_line(self.play(chebfd, ('path = "program.runs.0.mode"\nlabel = "the mode"', 'path = "domains.7.state"'),
                                ('theory = "masteronly"', 'theory = "lockstep"')), 2,
                      "lesson.page.check.path: there is no socket 7: this scenario has sockets 0 to 1")

    def test_the_keys_that_are_accepted_are_those_that_each_program_prints(self):
        for program, ranks, *arguments in (
                ("iw-chebfd", 2, "--kernel", "virtual", "--size", "8x4x4", "--vectors", "2", "--block", "2", "--degree", "20"),
                ("iw-collectives", 2, "--work", "1ms", "--steps", "3", "--collectives", "gather", "--noise", "periodic:2ms@10Hz"),
                ("iw-contention", 4, "--kernel", "virtual", "--ranks-per-domain", "2", "--core-bandwidth", "100MB/s", "--domain-bandwidth",
                 "150MB/s", "--duration", "50ms", "--step-volumes", "1MB", "--steps", "3", "--message-size", "100kB"),
                ("iw-heat", 2, "--sizes", "20", "--steps", "5"),
                ("iw-hybrid", 2, "--threads", "3", "--kernel", "virtual", "--size", "8x4x4", "--steps", "5", "--modes", "masteronly"),
                ("iw-orthogonal", 2, "--ranks-per-node", "1", "--network", "virtual", "--sizes", "1kB", "--rounds", "2"),
                ("iw-progress", 2, "--message-size", "100kB", "--repetitions", "3"),
                ("iw-selfish", 2, "--duration", "200ms"),
                ("iw-spmv", 4, "--kernel", "virtual", "--core-bandwidth", "500MB/s", "--domain-bandwidth", "2500MB/s", "--products", "2"),
                ("iw-topology", 4, "--grid", "2x2", "--ranks-per-node", "2")):
            with self.subTest(program):
                built = next((BIN / name for name in (f"{program}-openmpi", program) if (BIN / name).exists()), None)
                if not built:
                    self.skipTest(f"{program} is not built for Open MPI")
                done = subprocess.run([*LAUNCHER, "-n", str(ranks), built, "--json", *arguments], capture_output=True, text=True,
                                      timeout=PATIENCE, env=os.environ | AS_ROOT, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stderr)
                lesson = PLAYED.replace('"iw-hybrid"', f'"{program}"').replace("program.threads", "program.no")
                (self.path / "k.toml").write_text(lesson)
                refusal = self.demo(self.path / "k.toml", "--headless").stderr
                accepted = refusal.strip().split("(-1 is the last): ")[1].split(", ")
                self.assertEqual(set(accepted), keys_of(json.loads(done.stdout)))

    def test_sockets_are_those_of_which_the_help_of_a_program_speaks(self):
        for program in ("iw-chebfd", "iw-collectives", "iw-spmv"):
            built = next(BIN / name for name in (f"{program}-openmpi", f"{program}-mpich", program) if (BIN / name).exists())
            done = subprocess.run([built, "--help"], capture_output=True, text=True, timeout=PATIENCE, env=os.environ | AS_ROOT)
            self.assertRegex(done.stdout, r"--ranks-per-domain N\s+[^\[]*\[10\]", program)

    def test_a_program_that_refuses_its_arguments_is_heard(self):
        done = self.play(('"3"', '"2"'), ("masteronly\"]", "multiple\"]"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("nobody is left to work", done.stderr)

    def test_it_is_played_on_as_many_ranks_as_are_asked_for(self):
        done = self.play(("program.threads", "program.processes"), arguments=("--headless", "--ranks", "3"))
        self.assertIn("Threads of a process: measured 3 threads", done.stdout)

    def test_with_a_time_it_is_played_for_so_long(self):
        done = self.play(('"40"', '"1000000"'), arguments=("--headless", "2s", "--json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["ranks"], 2)

    def test_what_goes_with_the_ring_alone_is_refused(self):
        for flags, says in ((["--simulated"], "--simulated: iw-hybrid has no simulation; leave it out, or play a lesson that has one"),
                            (["--steps", "5"], "--steps: goes with lessons that iw-ring plays; iw-hybrid is told by play.arguments in"),
                            (["--ranks-per-domain", "5"], "--ranks-per-domain: goes with lessons that iw-ring plays")):
            self.one_line(self.play(arguments=("--headless", *flags)), 2, says)

    def test_without_mpi_it_says_what_can_be_played(self):
        self.one_line(self.play(PATH="/nowhere"), 1, "MPI is not installed (no mpirun in PATH): install it with 'apt-get install "
                      "openmpi-bin'; 'idlewave demo memory-bound --simulated' needs none")

    def test_what_only_a_simulation_can_obey_is_refused_with_real_ranks(self):
        self.one_line(self.demo("lockstep-dissolves", "--headless"), 2, "communication.time: real messages take what MPI and the machine "
                      "take; leave it out, or simulate the scenario, with --simulated")

    def test_the_simulator_refuses_the_file(self):
        (self.path / "p.toml").write_text(PLAYED)
        done = subprocess.run([BIN / "idlewave", "sim", self.path / "p.toml"], capture_output=True, text=True, timeout=PATIENCE)
        self.one_line(done, 2, "p.toml:2: play.program: is played by `idlewave demo` alone; give a scenario without [play]")


class Shipped(OfLessons):
    """The lesson that IDLEWAVE_LESSON names: a test of its own for each (CMakeLists.txt)."""

    def it_shows_its_effect(self):
        answers = self.path / "answers.json"
        done = self.demo(os.environ["IDLEWAVE_LESSON"], "--headless", "--answers", answers)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        measured = [page for page in json.loads(answers.read_text())["pages"] if page["checks"]]
        self.assertEqual([page["verdict"] for page in measured], ["near"] * len(measured))
        self.assertNotRegex(done.stdout, r"[{}]")


if __name__ == "__main__":
    unittest.main()

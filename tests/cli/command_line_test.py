#!/usr/bin/env python3
"""Calls `idlewave` as users and scripts do: exit codes, one clear line on stderr, nothing but results on stdout.
Usage: command_line_test.py PROGRAM GOLDEN"""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM = GOLDEN = None


def call(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **options)


def on_terminal(columns, *arguments, **options):
    """What it prints on a terminal of so many columns."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    program = subprocess.Popen([PROGRAM, *arguments], stdin=theirs, stdout=theirs, **options)
    os.close(theirs)
    told = b""
    with contextlib.suppress(OSError):  # of a terminal that nobody is at any more
        while more := os.read(ours, 4096):
            told += more
    os.close(ours)
    program.wait(60)
    return told.decode().replace("\r", "")


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def refuses(self, *arguments, code=2, says="", **options):
        done = call(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("idlewave: "), done.stderr)
        self.assertIn(says, done.stderr)

    def test_unknown_verbs_flags_and_lessons_are_refused(self):
        self.refuses("frobnicate")
        self.refuses("--frobnicate", says="idlewave has no flag --frobnicate; 'idlewave --help' lists what can be done")
        self.refuses("report", "--frobnicate", str(GOLDEN))
        self.refuses("replay", says="replay: file is required; 'idlewave replay --help' says what that is")
        self.refuses("demo", "frobnicate", says="memory-bound")
        self.refuses()

    def test_what_was_probably_meant_is_suggested(self):
        for words, meant in ((["dmeo"], "demo"), (["repl"], "replay"), (["atach"], "attach"), (["simm"], "sim"),
                             (["demo", "memory-bond"], "memory-bound"), (["demo", "--headles"], "--headless"),
                             (["report", str(GOLDEN), "--jsno"], "--json"), (["replay", "--ones"], "--once")):
            self.refuses(*words, says=f"did you mean '{meant}'?")
        for words in (["frobnicate"], ["demo", "frobnicate"], ["report", "--frobnicate", str(GOLDEN)]):
            self.assertNotIn("did you mean", call(*words).stderr)

    def test_every_help_keeps_flags_and_their_texts_apart(self):
        verbs = re.findall(r"(?m)^  ([a-z]+) ", call("--help").stdout.split("Subcommands:")[1])
        for verb in verbs:
            shown = call(verb, "--help").stdout
            self.assertNotIn("Needs:", shown, verb)
            for line in re.findall(r"(?m)^  -.*$", shown):
                self.assertRegex(line, r"^  \S+( \S+){0,3}(  +[A-Z`].*)?$", verb)

    def test_every_verb_names_the_flag_that_was_meant(self):
        verbs = re.findall(r"(?m)^  ([a-z]+) ", call("--help").stdout.split("Subcommands:")[1])
        self.assertGreaterEqual(len(verbs), 15)
        self.refuses("--hlep", says="idlewave has no flag --hlep (did you mean '--help'?)")
        for verb in verbs:
            if verb == "agent":
                continue  # a program of its own, below
            self.refuses(verb, "--hlep", says=f"idlewave: {verb} has no flag --hlep (did you mean '--help'?)")
            self.refuses(verb, "--frobnicate", says=f"idlewave: {verb} has no flag --frobnicate")
            for flag in re.findall(r"(?m)^  (?:-[a-z],)?(--[a-z-]{3,})", call(verb, "--help").stdout):
                mistyped = flag[:-2] + flag[-1] + flag[-2]
                if flag[-1] != flag[-2] and flag != "--no-likwid":
                    self.refuses(verb, mistyped, says=f"{verb} has no flag {mistyped} (did you mean '--")
        for words in (["sim", "--jsno"], ["sim", "--goal", "f", "--jsno"], ["study", "--jsno"], ["calibrate", "--jsno"]):
            self.refuses(*words, says=f"{words[0]} has no flag --jsno (did you mean '--json'?)")
        self.refuses("sim", "--recrod", says="(did you mean '--record'?)")
        for words in (["study", "a", "b"], ["report", "a", "b"], ["calibrate", "b"]):
            self.refuses(*words, says=f"'b': is one word too many for {words[0]}")

    def test_every_program_names_the_flag_that_was_meant(self):
        names = "ring|collectives|contention|progress|selfish|spmv|chebfd|hybrid|heat|orthogonal|topology"
        for program in sorted(pathlib.Path(PROGRAM).parent.glob("iw-*")):
            found = re.fullmatch(rf"(iw-(?:{names}))(-openmpi|-mpich)?", program.name)
            if found:
                with self.subTest(program.name):
                    done = subprocess.run([program, "--jsno"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(f"{program.name} has no flag --jsno (did you mean '--json'?)", done.stderr)
                    for named in re.findall(r"(\S+) --help", done.stderr):
                        self.assertEqual(named.lstrip("("), program.name)
        agent = call("agent", "--lsiten", "x")
        self.assertEqual((agent.returncode, agent.stdout), (2, ""))
        self.assertEqual(agent.stderr, "idlewave-agent: idlewave-agent has no flag --lsiten (did you mean '--listen'?)\n")

    def test_a_program_of_its_own_that_is_not_there_is_named(self):
        alone = shutil.copy(PROGRAM, self.path)
        done = subprocess.run([alone, "agent"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("idlewave-agent does not lie beside", done.stderr)

    def test_the_flags_of_a_program_are_told_from_ours(self):
        self.refuses("run", "mpirun", "-n", "4", "./a.out", says="stand after --")

    def test_help_lists_every_verb(self):
        listed = call("--help").stdout
        for verb in ("demo", "run", "attach", "record", "carry", "inject", "replay", "report", "info", "sim", "study", "theory",
                     "calibrate", "doctor", "agent"):
            self.assertRegex(listed, rf"(?m)^  {verb} ")

    def test_headless_is_the_same_flag_for_every_verb_that_watches(self):
        helps = set()
        for verb in ("demo", "run", "attach", "replay"):
            lines = call(verb, "--help").stdout.split("--headless", 1)[1].splitlines()
            helps.add(" ".join(lines[0].split()))
            command = {"run": ["run", "--headless", "12", "--", "true"], "replay": ["replay", str(GOLDEN), "--headless", "12"],
                       "attach": ["attach", "nobody", "--headless=12"]}.get(verb, [verb, "--headless", "12"])
            self.refuses(*command, says="unit")
        self.assertEqual(len(helps), 1)

    def test_a_replay_without_a_terminal_ends_with_its_last_screen(self):
        done = call("replay", str(GOLDEN), "--headless", "--speed", "1000", "--size", "80x24")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 24)
        early = call("replay", str(GOLDEN), "--headless", "0.2s", "--speed", "0.01", "--size", "80x24")
        self.assertEqual(early.returncode, 0, early.stderr)

    def test_a_run_that_is_watched_for_a_while_goes_on_and_says_how_to_see_it(self):
        go, sign, sessions, heard = (self.path / name for name in ("go", "done", "d", "heard"))
        with open(heard, "w") as messages:  # and no pipe, which the program would keep open
            script = f"while [ ! -e {go} ]; do sleep 0.1; done; touch {sign}"
            done = subprocess.run([PROGRAM, "run", "--headless", "0.2s", "--", "sh", "-c", script],
                                  stdin=subprocess.DEVNULL, stdout=messages,
                                  stderr=messages, timeout=60, env={**os.environ, "IDLEWAVE_DIR": str(sessions)})
        self.assertEqual(done.returncode, 0, heard.read_text())
        self.assertIn("idlewave attach", heard.read_text())
        go.touch()
        for _ in range(600):
            if sign.exists() and not list(sessions.glob("*")):
                return
            time.sleep(0.1)
        self.fail("the program was not left alone, or its host did not end with it")

    def test_a_paper_is_named_beside_its_own_figures_alone(self):
        self.assertRegex(call("theory", "contention").stdout, r"memory +124.58ms .*Table II")
        self.assertNotIn("Table II", call("theory", "contention", "memory=3ms").stdout)

    def test_theories_go_by_the_names_of_the_contract_and_by_their_earlier_ones(self):
        listed, described = call("theory").stdout, call("theory", "--help").stdout
        for name, earlier in (("speed", "idle-wave"), ("noise-bound", "overlap"), ("hybrid-ratio", "reserved-threads"),
                              ("spmv-balance", "spmv")):
            self.assertRegex(listed, rf"(?m)^{name} .*; also {earlier}$")
            self.assertIn(name, described)
            self.assertEqual(json.loads(call("theory", earlier, "--json").stdout), json.loads(call("theory", name, "--json").stdout))
            self.assertEqual(json.loads(call("theory", earlier, "--json").stdout)["name"], name)

    def test_a_theory_says_which_figures_it_accepts(self):
        printed = call("theory", "hybrid-ratio", "threads=4").stdout
        self.assertRegex(printed, r"(?m)^  reserved +1 .*\(threads, 1 to 3\)$")
        self.assertRegex(call("theory", "noise-bound").stdout, r"(?m)^  beta +4\.37 .*\(times, from 1e-09\); LULESH")
        self.assertRegex(call("theory", "spmv-balance").stdout, r"(?m)^  gflops +2\.25 .*\(Gflop/s, from 1e-09\)$")
        self.assertRegex(call("theory", "spmv-balance").stdout, r"HMeP")

    def test_a_theory_tells_in_json_of_words_and_lists_that_it_was_given(self):
        told = json.loads(call("theory", "speed", "distances=1", "protocol=rendezvous", "--json").stdout)
        self.assertEqual([told["given"][key] for key in ("distances", "protocol", "wait", "noise")], [[1], "rendezvous", "all", 0])
        self.assertIsNone(told["told"]["reach_noise_up_ranks"])

    def test_less_memory_than_a_session_needs_is_refused(self):
        for verb in (["demo", "--headless", "1s"], ["replay", str(GOLDEN), "--once"], ["report", str(GOLDEN)], ["sim", "s.toml"]):
            self.refuses(*verb, "--memory", "999kB", says="at least 1 MB")

    def test_a_number_without_its_unit_is_refused(self):
        self.refuses("replay", str(GOLDEN), "--once", "--at", "5", says="5")
        self.refuses("inject", "--ranks", "5", "--delay", "250")
        self.refuses("demo", "--headless", "12")

    def test_a_moment_past_the_end_of_a_recording_is_refused_with_how_long_it_is(self):
        length = json.loads(call("report", str(GOLDEN), "--json").stdout)["duration_s"]
        for words in (["--once", "--at", "100h"], ["--once", "--from", "100h"], ["--headless", "--from", "100h"],
                      ["--once", "--at", f"{length + 0.1}s"]):
            self.refuses("replay", str(GOLDEN), *words, says=f"past the end; the recording goes to {length:.3f} s\n")
        for told_as in (f"{length}s", f"{length + 0.04}s"):
            self.assertEqual(call("replay", str(GOLDEN), "--once", "--at", told_as).returncode, 0, told_as)

    def test_a_call_that_does_not_wait_is_no_place_for_a_step(self):
        self.refuses("run", "--headless", "--step-at", "MPI_Alreduce", "--", "true", says="did you mean 'MPI_Allreduce'?")
        self.refuses("run", "--headless", "--likwid-group", "MEM DP", "--", "true", says="no name of a group of LIKWID")
        self.refuses("run", "--headless", "--step-at", "MPI_Isend", "--", "true", says="no MPI function that may wait")

    def test_values_out_of_range_are_refused(self):
        self.refuses("replay", str(GOLDEN), "--once", "--size", "0x0", says="COLUMNSxROWS")
        self.refuses("replay", str(GOLDEN), "--once", "--size", "160", says="160x48")
        self.refuses("report", str(GOLDEN), "--window", "0.9:0.1", says="0.6:0.9")
        self.refuses("replay", str(GOLDEN), "--speed", "-1")
        self.refuses("replay", str(GOLDEN), "--speed", "nan", says="--speed: nan is no number")
        self.refuses("inject", "--ranks", "5", "--delay", "1s", "--at-step", "99999999999999999999", says="--at-step")
        self.refuses("inject", "--ranks", "5", "--delay", "1s", "--at-step", "-1", says="--at-step")
        self.refuses("inject", "--delay", "1s", says="--ranks")
        self.refuses("inject", "--ranks", "5", says="--delay")
        self.refuses("inject", "--noise", "pink:1ms", says="exp:")
        self.refuses("inject", "--ranks", "5", "--delay", "1s", "--in-steps", "0", says="--in-steps")
        self.refuses("inject", "--noise", "exp:1ms", "--in-steps", "3", says="--delay")
        self.refuses("inject", "--clear", "--at-step", "3", says="--delay")
        self.refuses("inject", "--ranks", "5", "--delay", "1s", "--in-steps", "3", "--at-step", "7", says="say one of them")
        self.refuses("inject", "--delay", "2h", "--ranks", "5", says="at most 1 h")
        self.refuses("inject", "--noise", "periodic:200ms@10Hz", says="leaves no time to work")

    def test_a_range_is_said_in_words(self):
        self.refuses("replay", str(GOLDEN), "--speed", "0", says="--speed: 0 is not from 0.001 to 1000000\n")
        self.refuses("replay", str(GOLDEN), "--speed", "fast", says="--speed: fast is no number\n")
        self.refuses("demo", "--ranks", "many", says="--ranks: many is not a whole number from 1 to 100000\n")
        self.refuses("demo", "--ranks", says="--ranks: there is no value behind it\n")

    def test_a_value_that_is_given_twice_is_refused(self):
        self.refuses("replay", str(GOLDEN), "--once", "--at", "1s", "--at", "2s", says=" --at is given twice\n")
        self.refuses("sim", *["--goal", "f"] * 3, says=" --goal is given 3 times\n")
        self.refuses("demo", "--headless=1s", "--headless=2s", says=" --headless is given twice\n")
        self.refuses("theory", "speed", "ranks=20", "ranks=30", says=" ranks: is given twice, as 20 and 30\n")

    def test_a_figure_that_does_not_fit_and_that_nobody_gave_is_said_to_be_ours(self):
        self.refuses("theory", "speed", "ranks=5", says="from 1 to 5; it is 10 unless you say otherwise: active=...\n")
        self.refuses("theory", "speed", "ranks=5", "active=6", says="from 1 to 5\n")

    def test_a_flag_that_changes_another_is_refused_without_it(self):
        for words, says in ((["run", "--headless", "--turns", "3", "--", "true"], "--turns: goes with --selftest"),
                            (["replay", str(GOLDEN), "--colour"], "--colour: goes with --once"),
                            (["sim", "s.toml", "--session", "mine"], "--session: goes with --record"),
                            (["sim", "s.toml", "--memory", "1GB"], "--memory: goes with --json"),
                            (["inject", "--clear", "--at-step", "3"], "--at-step: goes with --delay")):
            self.refuses(*words, says=f" {says}\n")

    def test_a_word_before_the_program_is_named(self):
        for verb, word in ((["run", "nosuch"], "nosuch"), (["run", "one", "two"], "one"), (["record", "f.iw", "nosuch"], "nosuch")):
            self.refuses(*verb, "--", "true", says=f" '{word}': is one word too many for {verb[0]} before --\n")

    def test_of_what_is_no_scenario_it_is_said_what_it_is(self):
        self.refuses("sim", str(GOLDEN), says="is a recorded session and no scenario; 'idlewave sim --from' reads it\n")
        (self.path / "notes.txt").write_text("dear diary\n")
        self.refuses("sim", str(self.path / "notes.txt"), says="; is it TOML, as docs/scenario.md describes it?\n")

    def test_an_empty_name_is_refused(self):
        for words, what in ((["info", ""], "file"), (["report", ""], "file"), (["replay", "", "--once"], "file"),
                            (["run", "--headless", "--", ""], "command"), (["attach", ""], "endpoint")):
            self.refuses(*words, says=f" {what}: is empty\n")

    def test_of_a_session_name_that_can_not_be_one_it_is_said_why(self):
        self.refuses("run", "--session", ".x", "--headless", "--", "true", says="the first no '.'")

    def test_a_flag_whose_value_is_empty_takes_no_other_word(self):
        self.refuses("run", "--headless", "--record=", "--", "true", says="--record: there is no value behind the '='")
        self.refuses("run", "--session=", "--headless", "--", "true", says="--session: there is no value")
        self.refuses("inject", "--ranks=", "--clear", says="--ranks: there is no value")
        self.refuses("demo", "--headless=", says="--headless: there is no value")
        self.refuses("demo", "--headless=1s", "--headless=2s", says="--headless is given twice")
        self.assertEqual(list(self.path.iterdir()), [])

    def test_what_is_no_session_file_is_named(self):
        other = self.path / "notes.txt"
        other.write_text("dear diary")
        empty = self.path / "empty.iw"
        empty.touch()
        for path in (other, empty, self.path / "missing.iw", self.path):
            for verb in ("report", "info"):
                self.refuses(verb, str(path), says=str(path))
            self.refuses("replay", str(path), "--once", says=str(path))

    def test_what_can_not_be_printed_is_said(self):
        for words in (["--help"], ["theory", "--json", "speed"], ["demo", "--list"], ["info", GOLDEN], ["report", GOLDEN, "--json"]):
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"standard output could not be written", done.stderr)
                closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", PROGRAM, *words], stderr=subprocess.PIPE, timeout=60)
                self.assertEqual((closed.returncode, closed.stderr), (done.returncode, done.stderr))

    def test_help_and_version_go_to_stdout(self):
        for arguments in (["--help"], ["--version"], ["demo", "--help"]):
            done = call(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, "")
            self.assertIn("idlewave" if "demo" not in arguments else "--headless", done.stdout)

    def test_help_is_as_wide_as_the_terminal(self):
        verbs = ([], ["demo"], ["run"], ["attach"], ["record"], ["inject"], ["replay"], ["report"], ["sim"], ["study"], ["calibrate"])
        for verb in verbs:
            words = call(*verb, "--help").stdout.split()
            for columns in (50, 80, 110):
                with self.subTest(verb=verb, columns=columns):
                    told = on_terminal(columns, *verb, "--help")
                    self.assertEqual(told.split(), words)
                    too_wide = [line for line in told.splitlines() if len(line) > columns and len(line.split()) > 3]
                    self.assertEqual(too_wide, [])

    def test_lessons_are_listed(self):
        done = call("demo", "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("memory-bound", "core-bound", "triad"):
            self.assertIn(name, done.stdout)

    def test_a_scenario_put_into_the_folder_of_lessons_is_listed(self):
        programs, lessons = self.path / "bin", self.path / "share/idlewave/scenarios"
        programs.mkdir()
        lessons.mkdir(parents=True)
        shutil.copy(PROGRAM, programs / "idlewave")
        (lessons / "my-own.toml").write_text(
            'machine = {ranks = 4, ranks_per_domain = 2}\nprogram = {steps = 3, kernel = "core", time = "1 ms"}\n'
            '[lesson]\ntitle = "Mine"\nsummary = "A lesson of my own"\n')
        (lessons / "notes.txt").write_text("no scenario")
        done = subprocess.run([programs / "idlewave", "demo", "--list"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(maxsplit=1), ["my-own", "A lesson of my own\n"])

    def test_a_demo_refuses_by_its_key_what_real_ranks_cant_play(self):
        scenario = self.path / "slow.toml"
        scenario.write_text('machine = {ranks = 4, ranks_per_domain = 2}\nprogram = {steps = 3, kernel = "core", time = "1 ms"}\n'
                            'communication = {time = "5 us"}\n')
        self.refuses("demo", str(scenario), says="slow.toml: communication.time: ")

    def test_info_and_report_are_json_and_nothing_else(self):
        info = json.loads(call("info", str(GOLDEN), "--json").stdout)
        self.assertEqual(info["format_version"], 1)
        report = json.loads(call("report", str(GOLDEN), "--json").stdout)
        self.assertIn("domains", report)

    def test_info_and_report_agree_on_how_long_a_session_is(self):
        info, report = (json.loads(call(verb, str(GOLDEN), "--json").stdout) for verb in ("info", "report"))
        self.assertEqual([info[key] for key in ("from_s", "duration_s")], [report[key] for key in ("from_s", "duration_s")])
        self.assertGreater(info["received_s"], info["duration_s"])

    def test_info_counts_what_the_simulator_says_it_did(self):
        scenario, recording = self.path / "short.toml", self.path / "short.iw"
        scenario.write_text('machine = {ranks = 24, ranks_per_domain = 6, core_bandwidth = "10 GB/s", domain_bandwidth = "20 GB/s"}\n'
                            'program = {steps = 37, kernel = "memory", volume = "50 MB"}\n'
                            'communication = {topology = "ring", distances = [-1, 1]}\n'
                            'delay = [{rank = 5, step = 3, duration = "90 ms"}, {rank = 9, step = 20, duration = "1 s"}]\n')
        simulated = json.loads(call("sim", str(scenario), "--json", "--record", str(recording)).stdout)
        info = json.loads(call("info", "--json", str(recording)).stdout)
        self.assertEqual(info["rank_steps"], simulated["rank_steps"])
        self.assertEqual(info["rank_steps"], 24 * 37)
        self.assertEqual(info["delays"], 2)
        self.assertEqual(info["events"], json.loads(call("report", "--json", str(recording)).stdout)["events"])
        self.assertGreater(info["samples"], 0)

    def test_a_ghost_is_left_by_what_nobody_told_of(self):
        scenario, recording, stall = self.path / "short.toml", str(self.path / "s.iw"), 0.05
        scenario.write_text('machine = {ranks = 20, ranks_per_domain = 10, core_bandwidth = "10 GB/s", domain_bandwidth = "50 GB/s"}\n'
                            'program = {steps = 100, kernel = "memory", volume = "50 MB"}\n'
                            'communication = {topology = "ring", distances = [-1, 1]}\n'
                            'delay = [{rank = 5, step = 3, duration = "90 ms"}]\n'
                            f'noise = {{distribution = "rare", probability = 0.004, duration = "{stall} s", seed = 3}}\n')
        done = call("sim", str(scenario), "--record", recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        ghost = json.loads(call("report", "--ghost", "--json", recording).stdout)["ghost"]
        self.assertTrue(ghost["largest"])
        for departure in ghost["largest"]:
            self.assertAlmostEqual(departure["at_work_s"], stall, delta=1e-5)
            self.assertAlmostEqual(departure["waiting_s"], 0, delta=1e-5)
        by_rank = sum(rank["at_work_s"] for rank in ghost["ranks"])
        self.assertAlmostEqual(by_rank, stall * len(ghost["largest"]), delta=1e-3)
        self.assertAlmostEqual(by_rank, sum(step["at_work_s"] for step in ghost["steps"]), delta=1e-6)
        self.assertGreaterEqual(ghost["measured_s"], ghost["model_s"])
        self.assertGreater(ghost["model_error_s"], 0)
        self.assertLess(ghost["model_error_s"], ghost["model_s"])
        self.assertIn("later at work", call("report", "--ghost", recording).stdout)
        self.assertIn("as the model", call("replay", "--ghost", "--once", recording).stdout)
        self.assertNotIn("ghost", json.loads(call("report", "--json", recording).stdout))

    def test_a_session_without_whole_steps_has_no_ghost_and_says_why(self):
        done = call("report", "--ghost", str(GOLDEN))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no ghost: ", done.stdout)

    def test_once_prints_the_same_screen_every_time(self):
        screens = {call("replay", str(GOLDEN), "--once", "--size", "160x48").stdout for _ in range(3)}
        self.assertEqual(len(screens), 1)
        lines = screens.pop().splitlines()
        self.assertEqual(len(lines), 48)
        self.assertTrue(all(len(line) <= 160 for line in lines))

    def test_without_a_terminal_the_screen_says_what_to_do(self):
        for term in ("dumb", "", "no-such-terminal", "xterm-256color"):
            done = call("replay", str(GOLDEN), env={**os.environ, "TERM": term})
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_nobody_at_an_endpoint_is_told(self):
        done = call("attach", "--headless", f"ipc://{self.path}/nobody.sock")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nobody", done.stderr)

    def test_a_session_that_does_not_run_is_told(self):
        done = call("inject", "--session", "no-such-session", "--ranks", "5", "--delay", "1s",
                    env={**os.environ, "IDLEWAVE_DIR": str(self.path / "d")})
        self.assertEqual(done.returncode, 2)
        self.assertIn("session", done.stderr)

    def test_more_ranks_than_this_account_may_start_are_refused(self):
        few_files = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
        self.refuses("demo", "--ranks", "400", "--headless", "5s", says="use --ranks 20 or fewer", preexec_fn=few_files)

    def test_a_missing_launcher_is_named(self):
        done = call("run", "--headless", "--", "no-such-mpirun", "-n", "4", "true",
                    env={**os.environ, "IDLEWAVE_DIR": str(self.path / "d")})
        self.assertEqual(done.returncode, 127)  # as a shell would say it
        self.assertIn("no-such-mpirun", done.stderr)

    def test_a_program_that_knows_nothing_of_the_probe_is_told(self):
        done = call("run", "--headless", "--", "true", env={**os.environ, "IDLEWAVE_DIR": str(self.path / "d")})
        self.assertEqual(done.returncode, 0)  # it was fine
        self.assertIn("without reporting", done.stderr)
        self.assertEqual(list((self.path / "d").glob("*")) if (self.path / "d").exists() else [], [], "nothing is left behind")

    def test_recording_over_a_file_that_exists_is_refused(self):
        taken = self.path / "taken.iw"
        taken.write_bytes(b"precious")
        done = call("run", "--headless", "--record", str(taken), "--", "true", env={**os.environ, "IDLEWAVE_DIR": str(self.path / "d")})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(taken.read_bytes(), b"precious")

    def test_a_folder_of_path_that_can_not_be_read_is_passed_over(self):
        closed = self.path / "closed"
        closed.mkdir(mode=0)
        self.addCleanup(closed.chmod, 0o700)
        self.path.chmod(0o755)
        program = shutil.copy(PROGRAM, self.path)
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        for verb in (["doctor"], ["run", "--headless", "--", "no-such-launcher"]):
            done = subprocess.run([*user, program, *verb], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PATH": f"{closed}:{os.environ['PATH']}", "IDLEWAVE_DIR": str(self.path / "sessions")})
            self.assertGreaterEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("terminate", done.stderr)
            self.assertIn("MPI" if verb == ["doctor"] else "no-such-launcher", done.stdout + done.stderr)

    def test_a_lack_of_memory_is_a_line_and_no_abort(self):
        if pathlib.Path(PROGRAM).parent.parent.name in ("asan", "tsan"):
            self.skipTest("a sanitizer needs the whole address space")
        lacks = 0
        for quarters in range(4 * 8, 4 * 256):  # of a megabyte: there is a limit at which it is loaded and finds nothing more
            limit = quarters << 18
            done = call("inject", "--session", "nobody", "--ranks", "0-4194303", "--delay", "1s",
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            self.assertIn(done.returncode, (1, 2, 127), done.stderr)  # 127: too little to load the libraries
            if done.returncode == 127:
                continue
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            if "memory" not in done.stderr:
                return self.assertGreater(lacks, 0)
            lacks += 1
        self.fail("no limit was high enough")

    def test_doctor_looks_at_everything(self):
        done = call("doctor")
        for word in ("terminal", "MPI", "LIKWID", "shared memory", "ports"):
            self.assertIn(word, done.stdout)

    def test_doctor_says_of_colours_what_the_screen_does(self):
        for wish, says in (("1", "NO_COLOR is set: glyphs instead of colours"), ("", "256 colours")):
            told = on_terminal(100, "doctor", env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": wish})
            self.assertRegex(told, f"terminal +xterm-256color, {says}")

    def test_doctor_says_of_characters_what_the_screen_does(self):
        for wish, says in (("C", "not UTF-8, so the screen is ASCII"), ("xx_XX.UTF-8", "UTF-8")):  # a language that is not installed
            self.assertRegex(call("doctor", env={**os.environ, "LC_ALL": wish}).stdout, f"characters +{says}")


if __name__ == "__main__":
    PROGRAM, GOLDEN = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

#!/usr/bin/env python3
"""`idlewave run` beside the same command without it: streams, exit code and files are the program's, whoever else dies.
Usage: run_test.py FOLDER-OF-PROGRAMS REPORTER"""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

BIN = None
REPORTER = None
OWN_FAILURE = 125
PATIENCE = 60


def eventually(condition):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            return found
        time.sleep(0.02)
    return found


def read_to_the_end(fd):
    with contextlib.suppress(OSError):  # a terminal that nobody has open any more
        while os.read(fd, 4096):
            pass


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.sessions = self.path / "sessions"
        self.environment = {**os.environ, "IDLEWAVE_DIR": str(self.sessions), "REPORTER": str(REPORTER)}
        self.addCleanup(self.nothing_is_left)

    def processes(self, name=None):
        """Ours that live, known by the folder of their sessions in their environment."""
        sign = f"IDLEWAVE_DIR={self.sessions}\0".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and sign in (entry / "environ").read_bytes() and lives(entry.name):
                    if name in (None, (entry / "comm").read_text().strip()):
                        found.append(int(entry.name))
            except OSError:
                pass
        return found

    def nothing_is_left(self):
        def left():
            # A walk passes over a folder that goes meanwhile.
            return [f"{folder}/{name}" for folder, folders, files in os.walk(self.sessions) if folder != str(self.sessions)
                    for name in folders + files] + self.processes()

        eventually(lambda: not left())
        self.assertEqual(left(), [])

    def start(self, *arguments, headless=True, **options):
        words = [BIN / "idlewave", "run", *(["--headless"] if headless else []), *arguments]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.path, **options}
        process = subprocess.Popen(words, env=self.environment, **options)
        self.addCleanup(process.stdout.close if process.stdout else int)
        self.addCleanup(process.stderr.close if process.stderr else int)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_it(self, *arguments, input=None, **options):
        process = self.start(*arguments, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL, **options)
        out, err = process.communicate(input, timeout=PATIENCE)
        return process.returncode, out, err

    def shell(self, script, *options, **more):
        return self.run_it(*options, "--", "sh", "-c", script, **more)

    # --- results ---

    def test_a_script_works_on_after_its_last_report(self):
        code, out, _ = self.shell("$REPORTER 5; sleep 2; echo late; touch after; exit 37")
        self.assertEqual((code, out), (37, b"late\n"))
        self.assertTrue((self.path / "after").exists())

    def test_any_script_ends_as_it_does_alone(self):
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}", file=sys.stderr)
        dice = random.Random(seed)
        pieces = ["$REPORTER 4 2000", "echo out$RANDOM_WORD", "echo err >&2", "printf 'no end of line'", "cat > copy", "head -c 3",
                  "touch file", "sleep 0.3", "printf '\\033[31m\\000\\377'", "( $REPORTER 2 1000 & ) ; sleep 0.1", "true", "false"]
        for round in range(12):
            script = "; ".join(dice.choice(pieces) for _ in range(dice.randrange(1, 6)))
            script += dice.choice(["", f"; exit {dice.randrange(256)}", "; kill -9 $$", "; kill -TERM $$", "; exec $REPORTER 3"])
            input = bytes(dice.randrange(256) for _ in range(dice.choice([0, 10, 100000])))
            with self.subTest(script=script, seed=seed, round=round):
                alone, watched = self.path / f"alone{round}", self.path / f"watched{round}"
                alone.mkdir(), watched.mkdir()
                without = {k: v for k, v in self.environment.items() if k != "IDLEWAVE_DIR"}
                truth = subprocess.run(["sh", "-c", script], input=input, capture_output=True, cwd=alone,
                                       env={**without, "IDLEWAVE_DISABLE": "1"}, timeout=PATIENCE)
                code, out, err = self.shell(script, "--size", "40x5", input=input, cwd=watched)
                self.assertEqual(code, truth.returncode if truth.returncode >= 0 else 128 - truth.returncode)
                self.assertEqual(out, truth.stdout)
                self.assertTrue(err.startswith(truth.stderr), err)
                self.assertEqual({p.name: p.read_bytes() for p in watched.iterdir()}, {p.name: p.read_bytes() for p in alone.iterdir()})

    def test_what_watching_costs_is_measured_by_runs_in_turns_and_a_program_that_fails_is_not(self):
        note = "test -n \"$IDLEWAVE_SESSION\" && echo watched >> runs || echo alone >> runs; cat; echo out; $REPORTER 20"
        code, out, _ = self.shell(note, "--selftest", "--turns", "3", "--json", "--output", "output", headless=False)
        self.assertEqual(code, 0)
        self.assertEqual((self.path / "runs").read_text().split(), ["alone", "watched", "watched", "alone", "alone", "watched"])
        self.assertEqual((self.path / "output").read_bytes(), b"out\n" * 6)
        told = json.loads(out)
        self.assertEqual(sorted(told), ["difference", "difference_error", "turns"])
        shares = [turn["watched_s"] / turn["alone_s"] - 1 for turn in told["turns"]]
        self.assertEqual(len(shares), 3)
        self.assertAlmostEqual(told["difference"], sum(shares) / 3)
        for turn in told["turns"]:  # Twenty steps of 10 ms.
            self.assertGreater(min(turn.values()), 0.2)
        for script, expected in (("exit 3", 3), ("test -z \"$IDLEWAVE_SESSION\"", OWN_FAILURE), ("kill -9 $$", 137)):
            with self.subTest(script=script):
                code, _, err = self.shell(script, "--selftest", headless=False)
                self.assertEqual(code, expected)
                self.assertIn(b"it is measured only if it ends with 0", err)

    def test_a_program_that_cannot_be_started_gives_what_a_shell_gives(self):
        self.assertEqual(self.run_it("--", "no-such-program")[0], 127)
        self.assertEqual(self.run_it("--", "/etc/passwd")[0], 126)

    def test_of_a_program_that_reported_nothing_is_said_what_is_known_and_of_one_that_failed_nothing_is_guessed(self):
        for script, words in (("exit 3", b"sh ended with code 3; it reported nothing"),
                              ("kill -9 $$", b"sh ended with code 137, as by signal 9; it reported nothing"),
                              ("true", b"the program ended without reporting anything: " + self.why_unseen())):
            for options in ([], ["--json"], None):
                with self.subTest(script=script, options=options):
                    err = self.shell(script, *options)[2] if options is not None else self.said_after_the_screen(script)
                    said = [line for line in err.splitlines() if line.startswith(b"idlewave: ")]
                    self.assertEqual(len(said), 1, err)
                    self.assertTrue(said[0].startswith(b"idlewave: " + words), said)

    def test_of_one_that_failed_and_could_not_have_been_seen_both_are_said(self):
        err = self.shell("exit 3", "--no-preload")[2]
        self.assertIn(b"sh ended with code 3; it reported nothing: is it linked with libidlewave-probe", err)

    def why_unseen(self):
        if (BIN.parent / "lib" / "libidlewave-mpi.so").exists():
            return b"nobody has seen it call MPI_Init or idlewave_start"
        return b"libidlewave-mpi.so does not lie beside idlewave"  # built with a sanitizer

    def said_after_the_screen(self, script):
        run, other = self.on_terminal(script)
        with contextlib.suppress(OSError):  # EIO: the last who had it open has gone
            while os.read(other, 65536):
                pass
        run.wait(timeout=PATIENCE)
        os.close(other)
        return run.stderr.read()

    def test_a_rank_that_was_killed_is_named_wherever_the_run_is_called_complete(self):
        code, out, err = self.shell("$REPORTER 5000 & sleep 1; kill -9 $!; wait; exit 3", "--record", "s.iw", "--json")
        report = json.loads(out)
        self.assertEqual((code, report["complete"]), (3, True), report["missing"])
        lost = [loss for loss in report["losses"] if loss["kind"] == "rank_lost"]
        self.assertEqual([loss["rank"] for loss in lost], [0])
        self.assertLessEqual(lost[0]["from_s"], report["duration_s"])
        words = f"rank 0 at {lost[0]['from_s']:.2f} s, whose process ended without saying so"
        self.assertIn(f"idlewave: lost: {words}\n", err.decode())
        call = lambda *words: subprocess.run([BIN / "idlewave", *words], capture_output=True, text=True, cwd=self.path, timeout=PATIENCE)
        self.assertEqual(call("report", "s.iw").stdout.splitlines()[1], f"LOST: {words}")
        checked = call("info", "--check", "s.iw")
        self.assertEqual((checked.returncode, checked.stderr), (0, f"idlewave: lost: {words}\n"))
        self.assertRegex(checked.stdout, rf"(?m)^lost_ranks +{words}$")
        self.assertEqual(report["lost_ranks"], [{"rank": 0, "at_s": lost[0]["from_s"]}])
        self.assertEqual(json.loads(call("info", "--json", "s.iw").stdout)["lost_ranks"], report["lost_ranks"])
        self.assertIn(f"LOST: {words}", call("replay", "--once", "--size", "160x48", "s.iw").stdout)

    def test_who_watches_without_a_screen_is_told_of_a_rank_that_was_killed(self):
        run = self.start("--session", "dying", "--", "sh", "-c", "$REPORTER 5000 & sleep 3; kill -9 $!; wait; exit 3")
        self.assertTrue(eventually(lambda: (self.sessions / "dying" / "agent").exists()))
        watched = subprocess.run([BIN / "idlewave", "attach", "dying", "--headless"], env=self.environment, capture_output=True, text=True,
                                 timeout=PATIENCE)
        self.assertEqual(watched.returncode, 0, watched.stderr)
        self.assertRegex(watched.stderr, r"(?m)^idlewave: lost: rank 0 at [0-9.]+ s, whose process ended without saying so$")
        self.assertEqual(run.wait(timeout=PATIENCE), 3)

    def test_two_programs_of_one_script_are_one_session(self):
        code, out, err = self.shell("$REPORTER 10; sleep 1.5; $REPORTER 20; exit 3", "--report", "r.json")
        self.assertEqual(code, 3, err)
        report = json.loads((self.path / "r.json").read_text())
        # start, stop, and three events a step
        self.assertEqual((report["events"], report["dropped"], out), (2 * 2 + 30 * 3, 0, b""))

    def test_the_report_has_standard_output_and_the_program_standard_error(self):
        code, out, err = self.shell("echo words; $REPORTER 5", "--json")
        self.assertEqual((code, json.loads(out)["ranks"]), (0, 1))
        self.assertIn(b"words\n", err)

    def test_output_goes_to_the_file_that_was_named(self):
        code, out, _ = self.shell("echo words; echo more >&2", "--output", "all.txt")
        self.assertEqual((code, out, (self.path / "all.txt").read_text()), (0, b"", "words\nmore\n"))

    def test_what_reads_the_output_learns_of_its_end_from_the_program_alone(self):
        script = f"'{BIN}/idlewave' run --headless -- yes 2>/dev/null | head -n 1"
        done = subprocess.run(["bash", "-c", script + "; echo ${PIPESTATUS[0]}"], capture_output=True, env=self.environment,
                              timeout=PATIENCE)
        self.assertEqual(done.stdout, b"y\n141\n")

    def test_a_descriptor_that_was_handed_down_arrives(self):
        with open(self.path / "three", "wb") as file:
            os.set_inheritable(file.fileno(), True)
            code, _, err = self.shell(f"echo three >&{file.fileno()}", close_fds=False)
        self.assertEqual((code, (self.path / "three").read_text()), (0, "three\n"), err)

    def test_who_reads_from_one_learns_that_the_program_has_closed_it(self):
        reader, writer = os.pipe()
        os.set_inheritable(writer, True)
        look = f"exec {writer}>&-; for i in $(seq 100); do [ -e seen ] && exit 5; sleep 0.1; done; exit 6"
        with subprocess.Popen([f"{BIN}/idlewave", "run", "--headless", "--", "bash", "-c", look], env=self.environment, cwd=self.path,
                              pass_fds=[writer], stderr=subprocess.DEVNULL) as run:
            os.close(writer)
            self.assertEqual(os.read(reader, 1), b"")
            (self.path / "seen").touch()
            os.close(reader)
            self.assertEqual(run.wait(PATIENCE), 5)

    def test_who_reads_standard_output_learns_that_the_program_has_closed_it(self):
        run = self.start("--", "sh", "-c", "exec >&-; while [ ! -e seen ]; do sleep 0.02; done; exit 5")
        self.assertEqual(run.stdout.read(), b"")
        self.assertIsNone(run.poll())
        (self.path / "seen").touch()
        self.assertEqual(run.wait(timeout=PATIENCE), 5)

    def test_ignored_signals_stay_ignored_and_no_other_is(self):
        look = "grep -E 'Sig(Ign|Blk)' /proc/self/status"
        ignore = lambda: signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        alone = subprocess.run(["sh", "-c", look], capture_output=True, preexec_fn=ignore)
        self.assertEqual(self.shell(look, preexec_fn=ignore)[1], alone.stdout)

    def test_streams_that_are_closed_are_closed_for_the_program_and_no_file_of_ours_takes_their_place(self):
        look = "for i in 0 1 2; do [ -e /proc/$$/fd/$i ] && touch open$i; done; $REPORTER 5; touch done; exit 7"
        script = f"'{BIN}/idlewave' run --headless -- sh -c '{look}' <&- >&- 2>&-"
        done = subprocess.run(["sh", "-c", script], env=self.environment, cwd=self.path, timeout=PATIENCE)
        self.assertEqual((done.returncode, sorted(p.name for p in self.path.iterdir())), (7, ["done", "sessions"]))

    def test_who_stops_reading_what_we_say_changes_no_exit_code(self):
        script = f"'{BIN}/idlewave' run --headless -- sh -c 'sleep 0.3; exit 7' 2>&1 | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, env=self.environment, timeout=PATIENCE)
        self.assertEqual(done.stdout, b"7\n")

    def test_exit_codes_arrive_where_children_s_ends_are_ignored(self):
        self.assertEqual(self.shell("exit 7", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))[0], 7)

    # --- failures of ours ---

    def test_a_report_that_cannot_be_written_is_our_failure_and_not_the_program_s(self):
        self.assertEqual(self.shell("true", "--report", "/nowhere/r.json")[0], OWN_FAILURE)
        self.assertEqual(self.shell("exit 4", "--report", "/nowhere/r.json")[0], 4)

    def test_a_report_into_a_pipe_waits_for_nobody(self):
        os.mkfifo(self.path / "pipe")
        for script, expected in (("true", OWN_FAILURE), ("exit 4", 4)):
            code, _, err = self.shell(script, "--report", "pipe")
            self.assertEqual(code, expected, err)
            self.assertIn(b"nobody reads this pipe", err)
        reader = os.open(self.path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.assertEqual(self.shell("$REPORTER 5", "--report", "pipe")[0], 0)
        self.assertEqual(json.loads(os.read(reader, 1 << 20))["ranks"], 1)
        os.close(reader)

    def test_a_report_onto_standard_output_comes_behind_what_the_program_prints(self):
        code, out, err = self.shell("echo words; $REPORTER 5", "--report", "/dev/stdout")
        self.assertEqual((code, out[:6]), (0, b"words\n"), err)
        self.assertEqual(json.loads(out[6:])["ranks"], 1)

    def test_a_report_for_which_standard_output_has_no_room_is_our_failure(self):
        with open("/dev/full", "wb") as full:
            for script, expected in (("true", OWN_FAILURE), ("exit 4", 4)):
                code, _, err = self.shell(script, "--json", stdout=full)
                self.assertEqual(code, expected, err)
                self.assertIn(b"report could not be written", err)

    def test_a_session_that_runs_is_not_disturbed_by_another_of_its_name(self):
        for listen in ([], ["--listen", "tcp://127.0.0.1:*"]):
            keys = {"XDG_CACHE_HOME": str(self.path / "cache")}
            self.environment.update(keys)
            first = self.start("--session", "one", "--record", f"s{len(listen)}.iw", *listen,
                               "--", "sh", "-c", "echo ready; read go; $REPORTER 5; exit 4", stdin=subprocess.PIPE)
            self.addCleanup(first.stdin.close)
            self.assertEqual(first.stdout.readline(), b"ready\n")
            self.assertTrue(eventually((self.sessions / "one/host").exists))
            before = sorted(p for p in self.path.rglob("*"))
            code, out, err = self.shell("echo started", "--session", "one", *listen)
            self.assertEqual((code, out, sorted(p for p in self.path.rglob("*"))), (2, b"", before), err)
            self.assertIn(b"'one' runs already", err)
            _, err = first.communicate(b"\n", timeout=PATIENCE)
            self.assertEqual(first.returncode, 4, err)
            info = subprocess.run([BIN / "idlewave", "info", "--check", self.path / f"s{len(listen)}.iw"], capture_output=True)
            self.assertEqual(info.returncode, 0, info.stdout)

    def test_a_folder_that_cannot_hold_sessions_is_named(self):
        for folder in ("relative/folder", "/tmp/" + "x" * 200):
            self.environment["IDLEWAVE_DIR"] = folder
            code, _, err = self.shell("touch started")
            self.assertEqual((code, err.count(b"\n")), (2, 1), err)
            self.assertIn(b"IDLEWAVE_DIR=" + folder.encode(), err)
        self.assertFalse((self.path / "started").exists())

    def test_nothing_is_started_where_the_recording_cannot_be(self):
        for options in (["--record", "/nowhere/s.iw"], ["--output", "/nowhere/out"]):
            code, _, err = self.shell("touch started", *options)
            self.assertEqual(code, 2, err)
            self.assertFalse((self.path / "started").exists())

    def test_the_help_names_the_exit_code_of_our_own_failures(self):
        self.assertIn("125", subprocess.run([BIN / "idlewave", "run", "--help"], capture_output=True, text=True).stdout)

    # --- signals and deaths ---

    def test_signals_reach_the_program_which_decides(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            run = self.start("--", "sh", "-c", f"trap 'echo got; exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.05; done")
            self.assertEqual(run.stdout.readline(), b"ready\n")
            run.send_signal(number)
            out, err = run.communicate(timeout=PATIENCE)
            self.assertEqual((run.returncode, out), (9, b"got\n"), err)

    def test_any_signal_reaches_the_program(self):
        numbers = [signal.SIGALRM, signal.SIGXCPU, signal.SIGIO, signal.SIGPWR, signal.SIGWINCH, signal.SIGABRT, signal.SIGRTMIN,
                   signal.SIGRTMAX]
        catch = "import signal, sys, time\nfor n in sys.argv[1:]: signal.signal(int(n), lambda got, _: print(got, flush=True))\n" \
                "print('ready', flush=True)\nwhile True: signal.pause()"
        run = self.start("--", sys.executable, "-c", catch, *(str(int(number)) for number in numbers))
        self.assertEqual(run.stdout.readline(), b"ready\n")
        for number in numbers:
            run.send_signal(number)
            self.assertEqual(int(run.stdout.readline()), number)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=PATIENCE), 128 + signal.SIGTERM)

    def survives(self, harm, expected_code, session="survivor"):
        """Something is done to one of ours while the program runs; the program writes its result all the same."""
        run = self.start("--record", "s.iw", "--session", session, "--", "sh", "-c", "$REPORTER 150; echo result > result; exit 11")
        self.assertTrue(eventually(lambda: (self.sessions / session / "agent").exists()))
        time.sleep(0.3)
        harm(run)
        self.assertEqual(run.wait(timeout=PATIENCE), expected_code)
        self.assertTrue(eventually((self.path / "result").exists))
        self.assertTrue(eventually(lambda: not self.processes()))

    def test_nothing_listens_at_another_address_than_the_one_that_was_chosen(self):
        run = self.start("--listen", "tcp://127.0.0.1:*", "--", "sh", "-c", "echo ready; sleep 1; exit 6")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        sockets = set()
        for pid in self.processes("iw-host"):
            for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(os.readlink(fd))
        lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
        listening = [line[1].split(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets]
        self.assertEqual(listening, ["0100007F"] * 2)
        self.assertEqual(run.wait(timeout=PATIENCE), 6)

    def test_jobs_of_a_script_that_became_us_live_on(self):
        """A shell becomes its last command by exec, and then its jobs are our children."""
        other, terminal = pty.openpty()

        def become_session():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        (self.path / "inner").write_text(f"sleep 98 & echo $! > job; exec '{BIN}/idlewave' run -- sh -c 'sleep 0.5; exit 7'")
        outer = "sh ./inner; echo code $? > new; kill `cat job` && echo job lived >> new; mv new code"
        shell = subprocess.Popen(["sh", "-c", outer], env={**self.environment, "TERM": "xterm"}, stdin=terminal, stdout=terminal,
                                 stderr=terminal, cwd=self.path, preexec_fn=become_session)
        os.close(terminal)
        reader = threading.Thread(target=read_to_the_end, args=[other])
        reader.start()
        self.assertTrue(eventually((self.path / "code").exists))
        shell.wait(timeout=PATIENCE)
        reader.join(timeout=PATIENCE)
        os.close(other)
        self.assertEqual((self.path / "code").read_text(), "code 7\njob lived\n")

    def test_lines_typed_for_others_do_not_reach_a_job_in_the_background(self):
        script = (f"set -m; '{BIN}/idlewave' run --headless -- sh -c 'read line; echo \"program got <$line>\"' & wait; "
                  "read line; echo \"shell got <$line>\"")
        other, terminal = pty.openpty()

        def become_session():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        shell = subprocess.Popen(["sh", "-c", script], env=self.environment, stdin=terminal, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, preexec_fn=become_session)
        os.close(terminal)
        os.write(other, b"mine\n")
        self.assertEqual(shell.communicate(timeout=PATIENCE)[0], b"program got <>\nshell got <mine>\n")
        os.close(other)

    def test_lines_typed_reach_a_program_without_a_screen_and_it_may_hide_them(self):
        other, terminal = pty.openpty()

        def become_session():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        script = "stty -echo; echo ready; read line; stty echo; echo \"program got <$line>\""
        run = self.start("--", "sh", "-c", script, stdin=terminal, preexec_fn=become_session)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        os.write(other, b"secret\n")
        self.assertEqual(run.communicate(timeout=PATIENCE)[0], b"program got <secret>\n")
        self.assertEqual(select.select([other], [], [], 0)[0], [], "something was shown")
        for end in (other, terminal):
            os.close(end)

    def test_a_host_that_is_killed_is_told_of_and_nobody_is_called_live(self):
        for hangs_up in (False, True):
            run = self.start("--session", "killed", "--size", "80x12", "--", "sh", "-c", "$REPORTER 150; exit 11")
            self.assertTrue(eventually(lambda: (self.sessions / "killed/agent").exists()))
            hosts = self.processes("iw-host")
            for pid in hosts:
                os.kill(pid, signal.SIGKILL)
            # Its memory, with what it is known by, goes before its descriptors do.
            self.assertTrue(eventually(lambda: not any(lives(pid) for pid in hosts)))
            if hangs_up:
                run.send_signal(signal.SIGHUP)
            _, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 128 + signal.SIGHUP if hangs_up else 11, err)
            self.assertNotIn(b"LIVE", err)
            self.assertIn(b"nothing records it any more" if hangs_up else b"the process that recorded the session was killed", err)
            self.assertTrue(eventually(lambda: not self.processes()))
            subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_hangup_that_was_ignored_as_by_nohup_ends_nobody(self):
        run = self.start("--", "sh", "-c", "echo ready; sleep 0.5; exit 9", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.send_signal(signal.SIGHUP)
        self.assertEqual(run.wait(timeout=PATIENCE), 9)

    def on_terminal(self, script, prepare=lambda: None, **environment):
        """A screen on a terminal of its own, which it is the first to have. Returns it and the other end, once it shows something."""
        other, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

        def become_session():
            os.setsid()
            prepare()

        self.environment.update({"TERM": "xterm-256color", **environment})
        run = self.start("--session", "screen", "--", "sh", "-c", script, headless=False, stdin=terminal, stdout=terminal,
                         preexec_fn=become_session)
        os.close(terminal)
        return run, other

    def screen_on(self, session):
        """A screen that attaches, on a terminal. Returns it and the other end, once it is live."""
        other, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 48, 160, 0, 0))
        screen = subprocess.Popen([BIN / "idlewave", "attach", session], env={**self.environment, "TERM": "xterm-256color"}, cwd=self.path,
                                  stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL, preexec_fn=os.setsid)
        os.close(terminal)
        self.addCleanup(screen.wait)
        self.addCleanup(screen.kill)
        shown = b""
        while b"LIVE" not in shown:
            shown += os.read(other, 65536)
        return screen, other

    def test_a_terminal_that_claims_to_be_huge_is_drawn_on(self):
        self.environment["TERM"] = "xterm-256color"
        for rows, columns in (65535, 80), (32768, 1), (60, 65535):
            other, terminal = pty.openpty()
            self.addCleanup(os.close, other)
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            run = self.start("--", "sleep", "60", headless=False, stdin=terminal, stdout=terminal, preexec_fn=os.setsid)
            os.close(terminal)
            threading.Thread(target=self.read_all, args=(other,), daemon=True).start()
            self.assertTrue(eventually(lambda: self.processes("sleep")))
            time.sleep(0.5)
            self.assertIsNone(run.poll())
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(timeout=PATIENCE), 143)
            said = run.stderr.read()
            self.assertIn(b"signal 15", said)
            self.assertNotIn(b"goes on", said, "the screen has ended")

    @staticmethod
    def read_all(terminal):
        try:
            while os.read(terminal, 1 << 20):
                pass
        except OSError:
            pass

    def test_one_moment_has_one_time_on_the_screen_and_in_each_recording_whenever_it_was_begun(self):
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}", file=sys.stderr)
        dice = random.Random(seed)
        call = lambda *words: subprocess.run([BIN / "idlewave", *words], capture_output=True, text=True, cwd=self.path,
                                             env=self.environment, timeout=PATIENCE)
        run = self.start("--session", "clocked", "--allow-inject", "--json", "--", "sh", "-c", "$REPORTER 3000 2000")
        socket = self.sessions / "clocked/agent.sock"
        self.assertTrue(eventually(socket.exists))
        time.sleep(dice.uniform(0.5, 1.5))
        attached = subprocess.Popen([BIN / "idlewave", "attach", f"ipc://{socket}", "--view", "--headless", "--record", "direct.iw"],
                                    env=self.environment, cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(attached.wait)
        self.addCleanup(attached.kill)
        screen, other = self.screen_on("clocked")
        time.sleep(dice.uniform(0.2, 1))
        os.write(other, b"r")
        self.assertTrue(eventually((self.path / "clocked.iw").exists))
        self.assertTrue(eventually(lambda: (self.path / "direct.iw").exists()))
        time.sleep(0.2)
        self.assertEqual(call("inject", "--session", "clocked", "--ranks", "0", "--delay", "200ms").returncode, 0)
        whole = json.loads(run.communicate(timeout=PATIENCE)[0])
        attached.wait(timeout=PATIENCE)
        os.close(other)
        self.assertEqual(whole["from_s"], 0)
        began = whole["commands"][0]["took_effect_s"]
        for path in ("direct.iw", "clocked.iw"):
            with self.subTest(path=path, seed=seed):
                report = json.loads(call("report", path, "--json").stdout)
                self.assertEqual(report["commands"][0]["took_effect_s"], began)
                self.assertAlmostEqual(report["from_s"] + report["duration_s"], whole["duration_s"], delta=0.2)
                # Of the session, which begins when the rank does: some time after the socket is there.
                self.assertGreater(report["from_s"], 0)
                self.assertLess(report["from_s"], began)
                self.assertRegex(call("report", path).stdout.splitlines()[0], r" recorded from [0-9.]+ m?s, ")
                shown = call("replay", "--once", "--size", "160x48", "--at", f"{began + 0.1:.3f}s", path).stdout
                self.assertIn(f"recorded from {report['from_s']:.1f} s", shown)
                self.assertIn(f"PAUSED at {began + 0.1:.1f} s", shown)

    def test_a_terminal_that_goes_leaves_the_program_running(self):
        """Whichever is first, its end or the signal; where it was no controlling terminal there is none."""
        for round, prepare in enumerate([lambda: None] + 5 * [lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)]):
            with self.subTest(round=round):
                result = self.path / f"result{round}"
                run, other = self.on_terminal(f"$REPORTER 100; echo done > '{result}'", prepare)
                shown = b""
                while b"LIVE" not in shown:
                    shown += os.read(other, 65536)
                os.close(other)
                self.assertEqual(run.wait(timeout=PATIENCE), 128 + signal.SIGHUP)
                self.assertTrue(eventually(result.exists))
                self.assertTrue(eventually(lambda: not self.processes()))

    def have_sessions_on_a_disk_of(self, size):
        """Skips where we may not mount one."""
        disk = self.path / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", disk], capture_output=True).returncode != 0:
            self.skipTest("no right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        self.sessions = disk / "sessions"
        self.environment["IDLEWAVE_DIR"] = str(self.sessions)

    def test_what_a_program_prints_on_a_screen_does_not_fail_when_the_disk_is_filled_up(self):
        self.have_sessions_on_a_disk_of("24m")
        run, other = self.on_terminal("cat /dev/zero > disk/filler; head -c 4000000 /dev/zero | tr '\\0' @; echo $? > result")
        shown = b""
        try:
            while some := os.read(other, 65536):
                shown += some
        except OSError:  # The terminal's other end is closed.
            pass
        self.assertEqual(run.wait(timeout=PATIENCE), 0, run.stderr.read())
        os.close(other)
        self.assertEqual((self.path / "result").read_text(), "0\n")
        self.assertEqual(re.sub(rb"\x1b\[[0-9;?]*[@-~]", b"", shown).count(b"@"), 4_000_000)

    def test_of_much_that_a_program_prints_on_a_screen_the_last_is_kept(self):
        self.have_sessions_on_a_disk_of("40m")
        run, other = self.on_terminal("for i in `seq 300`; do head -c 400000 /dev/zero | tr '\\0' @ || exit 5; sleep 0.003; done; "
                                      "echo last words")
        shown, tail = 0, b""
        with contextlib.suppress(OSError):  # The terminal's other end is closed.
            while some := os.read(other, 65536):
                shown, tail = shown + some.count(b"@"), (tail + some)[-1000:]
        err = run.stderr.read()
        self.assertEqual(run.wait(timeout=PATIENCE), 0, err)
        os.close(other)
        self.assertIn(b"last words", tail)
        dropped = re.search(rb"of what it printed the first (\d+) MB were not kept; --output FILE keeps all", err)
        self.assertIsNotNone(dropped)
        self.assertAlmostEqual(int(dropped[1]) + shown / 1e6, 120, delta=3)

    def test_a_program_on_a_screen_is_not_started_where_what_it_prints_has_no_room(self):
        self.have_sessions_on_a_disk_of("8m")
        run, other = self.on_terminal("touch started")
        self.assertEqual(run.wait(timeout=PATIENCE), OWN_FAILURE)
        os.close(other)
        self.assertIn(b"--output FILE", run.stderr.read())
        self.assertFalse((self.path / "started").exists())

    def test_a_terminal_that_can_only_print_is_shown_lines_without_any_escape_sequence(self):
        run, other = self.on_terminal("$REPORTER 50; touch done", TERM="dumb")
        shown = b""
        while b"printed as text" not in shown:
            shown += os.read(other, 65536)
        while not (self.path / "done").exists():
            time.sleep(0.1)
        os.write(other, b"d")
        with contextlib.suppress(OSError):  # EIO: the last who had it open has gone
            while some := os.read(other, 65536):
                shown += some
        self.assertEqual(run.wait(timeout=PATIENCE), 0, run.stderr.read())
        os.close(other)
        self.assertNotIn(b"\x1b", shown)

    def recorded_events(self):
        report = subprocess.run([BIN / "idlewave", "report", self.path / "s.iw", "--json"], capture_output=True, text=True)
        return json.loads(report.stdout)["events"]

    def test_nobody_is_woken_beside_the_ranks_for_frames_that_nobody_looks_at(self):
        self.assertEqual(self.shell("$REPORTER 300", "--record", str(self.path / "s.iw"))[0], 0)
        told = subprocess.run([BIN / "iw-print-frames", self.path / "s.iw"], capture_output=True, text=True, check=True)
        self.assertLess(len(told.stdout.splitlines()), 45)  # of three seconds; a screen would have got a hundred
        self.assertEqual(self.recorded_events(), 2 + 300 * 3)

    def test_a_monitor_that_is_killed_leaves_program_and_recording_running(self):
        self.survives(lambda run: run.kill(), -signal.SIGKILL)
        self.assertEqual(self.recorded_events(), 2 + 150 * 3)

    def test_a_hangup_leaves_program_and_recording_running(self):
        self.survives(lambda run: run.send_signal(signal.SIGHUP), 128 + signal.SIGHUP)
        self.assertEqual(self.recorded_events(), 2 + 150 * 3)

    def test_a_host_that_is_killed_leaves_the_program_and_its_exit_code(self):
        self.survives(lambda run: [os.kill(pid, signal.SIGKILL) for pid in self.processes("iw-host")], 11)
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_recording_that_was_not_closed_is_not_called_complete(self):
        """Between two programs all that was announced has come, and nobody knows of the second one."""
        run = self.start("--record", "s.iw", "--session", "twice", "--", "sh", "-c",
                         "$REPORTER 20; touch first; while [ ! -e go ]; do sleep 0.02; done; $REPORTER 20; exit 11")
        call = lambda *words: subprocess.run([BIN / "idlewave", *words], capture_output=True, text=True, cwd=self.path, timeout=PATIENCE)

        def only_not_closed():
            missing = json.loads(call("info", "--json", "s.iw").stdout or "{}").get("missing", {})
            whole = missing and not missing["nobody"] and not missing["nodes"] and not missing["ranks"]
            return whole and [entry["what"] for entry in missing["intervals"]] == ["recording_not_closed"]

        self.assertTrue(eventually((self.path / "first").exists))
        self.assertTrue(eventually(only_not_closed))
        for pid in self.processes("iw-host"):
            os.kill(pid, signal.SIGKILL)
        (self.path / "go").touch()
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        info = json.loads(call("info", "--json", "s.iw").stdout)
        self.assertEqual((info["closed"], info["complete"]), (False, False))
        self.assertIn("INCOMPLETE: the recording was not closed", call("report", "s.iw").stdout)
        self.assertEqual(call("info", "--check", "s.iw").returncode, 1)
        self.assertTrue(eventually(lambda: not self.processes()))
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_host_that_is_stopped_holds_neither_the_end_nor_a_signal(self):
        for act, expected in ((lambda run: (self.path / "go").touch(), 11), (lambda run: run.send_signal(signal.SIGUSR1), 12)):
            run = self.start("--", "sh", "-c", "trap 'exit 12' USR1; touch ready; while [ ! -e go ]; do sleep 0.02; done; exit 11")
            self.assertTrue(eventually((self.path / "ready").exists))
            for pid in self.processes("iw-host"):
                os.kill(pid, signal.SIGSTOP)
            act(run)
            self.assertEqual(run.wait(timeout=PATIENCE), expected)
            for name in "ready", "go":
                (self.path / name).unlink(missing_ok=True)

    def test_a_host_that_is_stopped_from_before_the_first_rank_on_hears_all(self):
        """Also an agent that takes no more ranks when the host is woken: its patience after the last one has passed by then."""
        for last in "true", "while ls $IDLEWAVE_DIR/*/agent; do sleep 0.01; done":
            script = f"touch ready; while [ ! -e go ]; do sleep 0.02; done; $REPORTER 100; {last}; exit 11"
            with self.subTest(last=last):
                run = self.start("--record", "s.iw", "--", "sh", "-c", script)
                self.assertTrue(eventually((self.path / "ready").exists))
                for pid in self.processes("iw-host"):
                    os.kill(pid, signal.SIGSTOP)
                (self.path / "go").touch()
                self.assertEqual(run.wait(timeout=PATIENCE), 11)
                said = [line for line in run.stderr.read().splitlines() if line.startswith(b"idlewave: ")]
                self.assertEqual(said, [b"idlewave: sh ended with code 11"])
                info = json.loads(subprocess.check_output([BIN / "idlewave", "info", "--json", self.path / "s.iw"]))
                self.assertEqual((info["ranks"], info["complete"]), (1, True))
                for name in "ready", "go", "s.iw":
                    (self.path / name).unlink()

    def test_who_watches_and_is_stopped_does_not_hold_the_end(self):
        run = self.start("--session", "looked-at", "--", "sh", "-c", "$REPORTER 100; while [ ! -e go ]; do sleep 0.02; done; exit 11")
        self.assertTrue(eventually(lambda: (self.sessions / "looked-at" / "agent").exists()))
        screen, terminal = self.screen_on("looked-at")
        self.addCleanup(os.close, terminal)
        children = pathlib.Path(f"/proc/{screen.pid}/task/{screen.pid}/children").read_text().split()
        for pid in [screen.pid, *map(int, children)]:
            os.kill(pid, signal.SIGSTOP)
            self.addCleanup(os.kill, pid, signal.SIGKILL)
        (self.path / "go").touch()
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        self.assertTrue(self.processes("iw-host"), "the host waited for the onlooker before it said how the program ended")

    def test_ranks_that_are_left_behind_do_not_hold_the_end(self):
        run = self.start("--session", "left", "--", "sh", "-c",
                         "$REPORTER 900 2>&- & while [ ! -e go ]; do sleep 0.02; done; echo $!; exit 11")
        self.assertTrue(eventually(lambda: (self.sessions / "left" / "agent").exists()))
        (self.path / "go").touch()
        rank = int(run.stdout.readline())
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        self.assertTrue(lives(rank), "run ended with the rank")
        self.assertIn(b"ranks go on that the program has left behind", run.stderr.read())
        # Whose session goes on without us: nobody else's is mixed with it.
        code, out, err = self.shell("echo started", "--session", "left")
        self.assertEqual((code, out), (2, b""))
        self.assertIn(b"'left' still runs", err)
        os.kill(rank, signal.SIGKILL)

    def test_a_host_that_is_killed_after_the_program_has_ended_takes_no_exit_code_along(self):
        """It waits for its agents then: for ranks that were left behind three seconds."""
        run = self.start("--", "sh", "-c", "$REPORTER 500 2>&- & touch started; while [ ! -e go ]; do sleep 0.02; done; exit 11")
        self.assertTrue(eventually((self.path / "started").exists))
        time.sleep(0.5)
        program = [pid for pid in self.processes("sh")]
        (self.path / "go").touch()
        self.assertTrue(eventually(lambda: not any(lives(pid) for pid in program)))
        time.sleep(0.3)
        for pid in self.processes("iw-host"):
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        self.assertTrue(eventually(lambda: not self.processes()))
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_host_that_is_killed_while_it_starts_the_program_leaves_that_and_its_exit_code(self):
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}", file=sys.stderr)
        dice = random.Random(seed)
        for round in range(12):
            result = self.path / f"result{round}"
            run = self.start("--", "sh", "-c", f"sleep 0.5; touch '{result}'; exit 4")
            self.assertTrue(eventually(lambda: self.processes("iw-host") or run.poll() is not None))
            time.sleep(dice.uniform(0, 0.01))
            for pid in self.processes("iw-host"):
                os.kill(pid, signal.SIGKILL)
            code = run.wait(timeout=PATIENCE)
            with self.subTest(round=round, seed=seed):
                self.assertTrue(eventually(lambda: not self.processes()))
                # The program has the host's name until it is itself, and may be killed with it.
                self.assertIn(code, (4,) if result.exists() else (OWN_FAILURE, 128 + signal.SIGKILL))
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_program_that_has_ended_is_not_said_to_go_on(self):
        """Its agents are waited for when the time that was given is over."""
        code, out, err = self.shell("$REPORTER 500 2>&- & sleep 0.5; exit 7", "--headless", "1.5s", headless=False)
        self.assertEqual(code, 7, err)
        self.assertNotIn(b"goes on as session", err)

    def test_an_agent_that_is_killed_leaves_the_program_and_its_exit_code(self):
        self.survives(lambda run: [os.kill(pid, signal.SIGKILL) for pid in self.processes("idlewave-agent")], 11)
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)

    def test_a_rank_that_is_held_goes_on_when_its_launcher_has_ended(self):
        run = self.start("--allow-inject", "--session", "held", "--", "sh", "-c", "$REPORTER 200 & wait")
        self.assertTrue(eventually(lambda: (self.sessions / "held" / "agent").exists()))
        inject = lambda: subprocess.run([BIN / "idlewave", "inject", "--session", "held", "--ranks", "0", "--delay", "1h"],
                                        env=self.environment, capture_output=True)
        self.assertTrue(eventually(lambda: inject().returncode == 0))
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=PATIENCE), 128 + signal.SIGTERM)
        self.assertTrue(eventually(lambda: not self.processes("cli_reporter")))

    def test_noise_ends_with_the_screen_that_ordered_it_and_that_of_a_script_stands(self):
        """Where a host stands between the two."""
        run = self.start("--session", "noisy", "--allow-inject", "--json", "--", "sh", "-c",
                         "$REPORTER 1000 10000 0 2 & $REPORTER 1000 10000 1 2; wait")
        self.assertTrue(eventually(lambda: (self.sessions / "noisy" / "agent").exists()))
        screen, other = self.screen_on("noisy")
        threading.Thread(target=self.read_all, args=(other,), daemon=True).start()
        for key in b"n", b"\r", b"y":
            os.write(other, key)
            time.sleep(0.2)
        inject = subprocess.run([BIN / "idlewave", "inject", "--session", "noisy", "--ranks", "1", "--noise", "exp:1ms"],
                                env=self.environment, capture_output=True)
        self.assertEqual(inject.returncode, 0, inject.stderr)
        time.sleep(0.5)
        screen.kill()
        report = json.loads(run.communicate(timeout=PATIENCE)[0])
        commands = [command for command in report["commands"] if command["outcome"] == "accepted"]
        of_screen, of_script, end = sorted(commands, key=lambda command: command["sent_s"])
        self.assertEqual((of_screen["kind"], of_screen["ends_with_giver"], of_script["kind"]), ("noise", True, "noise"))
        self.assertEqual((end["kind"], end["noise_of"], end["ranks"]), ("clear", of_screen["id"], []))
        self.assertLess(of_screen["ended_s"], report["duration_s"] - 1)
        self.assertNotIn("ends_with_giver", of_script)
        self.assertIsNone(of_script["ended_s"])

    def test_a_command_waits_for_a_rank_that_has_yet_to_join(self):
        run = self.start("--session", "joins", "--allow-inject", "--", "sh", "-c",
                         "$REPORTER 400 10000 0 2 & sleep 2; $REPORTER 300 10000 1 2; wait")
        self.assertTrue(eventually(lambda: (self.sessions / "joins" / "agent").exists()))

        def inject(rank):
            return subprocess.run([BIN / "idlewave", "inject", "--session", "joins", "--ranks", rank, "--delay", "50ms"],
                                  env=self.environment, capture_output=True, text=True)

        self.assertEqual((inject("1").returncode, inject("0").returncode), (0, 0))
        beyond = inject("2")
        self.assertEqual((beyond.returncode, beyond.stderr), (1, "idlewave: refused: rank 2: the program has ranks 0 to 1\n"))
        self.assertEqual(run.wait(timeout=PATIENCE), 0)

    # --- coming back ---

    def test_who_comes_later_sees_what_was_before(self):
        run = self.start("--session", "later", "--", "sh", "-c", "$REPORTER 200; exit 4")
        self.assertTrue(eventually(lambda: (self.sessions / "later" / "agent").exists()))
        time.sleep(0.5)
        listed = subprocess.run([BIN / "idlewave", "attach"], env=self.environment, capture_output=True, text=True)
        self.assertRegex(listed.stdout, "later +sh -c")
        attached = subprocess.run([BIN / "idlewave", "attach", "later", "--headless", "--json", "--record", self.path / "later.iw"],
                                  env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(json.loads(attached.stdout)["events"], 2 + 200 * 3, attached.stderr)
        info = subprocess.run([BIN / "idlewave", "info", self.path / "later.iw"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertRegex(info.stdout, r"(?m)^session +later$")
        self.assertEqual(run.wait(timeout=PATIENCE), 4)


if __name__ == "__main__":
    BIN, REPORTER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

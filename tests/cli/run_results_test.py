#!/usr/bin/env python3
"""`idlewave run` beside the same command without it: streams, exit code and files are the program's.
Usage: run_results_test.py FOLDER-OF-PROGRAMS REPORTER [TEST...]"""
import contextlib
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time

from run_cases import BIN, eventually, main, OWN_FAILURE, PATIENCE, RunCase


class Results(RunCase):
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
                self.assertEqual(code, truth.returncode)
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

    def test_of_a_program_that_cannot_be_started_no_recording_is_left(self):
        recording = self.path / "tried.iw"
        self.assertEqual(self.run_it("--record", recording, "--", "no-such-program")[0], 127)
        self.assertFalse(recording.exists())
        recording.write_bytes(b"precious")
        self.assertEqual(self.run_it("--record", recording, "--", "no-such-program")[0], 2)
        self.assertEqual(recording.read_bytes(), b"precious")

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

    def test_of_ranks_that_are_not_to_report_that_is_said(self):
        for word, says in (("1", b"IDLEWAVE_DISABLE is set"), ("0", self.why_unseen()), ("", self.why_unseen())):
            self.environment["IDLEWAVE_DISABLE"] = word
            self.assertIn(b"idlewave: the program ended without reporting anything: " + says, self.shell("true")[2])

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

    def test_what_is_said_in_a_file_begins_a_line_wherever_the_program_has_left_the_last_one(self):
        for before, printed, mode in (("", "x", "ab"), ("", "x\\n", "wb"), ("before", "", "ab"), ("", "", "wb"), ("", "x", "wb")):
            with self.subTest(before=before, printed=printed, mode=mode):
                (self.path / "err").write_text(before)
                with open(self.path / "err", mode) as file:
                    self.shell(f"printf '{printed}' >&2; exit 3", stderr=file)
                left = before + printed.replace("\\n", "")
                lines = (self.path / "err").read_text().splitlines()
                self.assertEqual(lines[:bool(left)], [left] if left else [])
                self.assertTrue(lines[bool(left)].startswith(" idlewave "), lines)
                self.assertTrue(any(line.startswith("idlewave: sh ended with code 3") for line in lines), lines)

    def test_the_report_has_standard_output_and_the_program_standard_error(self):
        code, out, err = self.shell("echo words; $REPORTER 5", "--json")
        self.assertEqual((code, json.loads(out)["ranks"]), (0, 1))
        self.assertIn(b"words\n", err)

    def test_a_report_in_a_file_leaves_standard_output_to_the_program(self):
        """Of --json with --report both stood on standard output, the program's words and a report, which nobody could read."""
        code, out, _ = self.shell("echo words; $REPORTER 5", "--json", "--report", "r.json")
        self.assertEqual((code, out, json.loads((self.path / "r.json").read_text())["ranks"]), (0, b"words\n", 1))

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

    def test_who_reads_nothing_of_what_we_say_holds_no_exit_code(self):
        reader, full = os.pipe2(os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while os.write(full, bytes(4096)):
                pass
        os.set_blocking(full, True)
        run = self.start("--", "sh", "-c", "exit 7", stderr=full)
        os.close(full)
        self.assertEqual(run.wait(timeout=PATIENCE), 7)
        os.close(reader)

    def test_who_reads_slowly_what_we_say_has_all_of_it(self):
        reader, little = os.pipe()
        fcntl.fcntl(little, fcntl.F_SETPIPE_SZ, 4096)
        run = self.start("--size", "200x60", "--", "sh", "-c", "exit 7", stderr=little)
        os.close(little)
        said = b""
        while piece := os.read(reader, 1000):
            said += piece
            time.sleep(0.05)
        os.close(reader)
        self.assertEqual((run.wait(timeout=PATIENCE), said.splitlines()[-1]), (7, b"idlewave: sh ended with code 7; it reported nothing"))
        self.assertGreater(len(said), 2 * 4096)

    def test_exit_codes_arrive_where_children_s_ends_are_ignored(self):
        self.assertEqual(self.shell("exit 7", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))[0], 7)

    def test_a_report_that_cannot_be_written_is_our_failure_and_not_the_program_s(self):
        for code in (0, 4):
            (self.path / "gone").mkdir()
            self.assertEqual(self.shell(f"rm -r gone; exit {code}", "--report", "gone/r.json")[0], code or OWN_FAILURE)

    def test_where_no_report_can_be_written_nothing_is_started(self):
        for path, why in (("nowhere/r.json", b"No such file"), (".", b"Is a directory")):
            code, _, err = self.shell("echo > started", "--report", path)
            self.assertEqual(code, 2)
            self.assertIn(f"--report {path}: ".encode() + why, err)
            self.assertFalse((self.path / "started").exists())

    def test_a_recording_that_others_delete_or_cut_is_our_failure(self):
        for harm, words in (("rm s.iw", b"was deleted while it was written"), ("truncate -s 100 s.iw", b"was changed by another program")):
            for code in (0, 4):
                done, _, err = self.shell(f"{harm}; $REPORTER 5; exit {code}", "--record", "s.iw")
                self.assertEqual(done, code or OWN_FAILURE, err)
                self.assertIn(words, err)
                (self.path / "s.iw").unlink(missing_ok=True)

    def test_a_recording_where_the_program_prints_to_is_refused(self):
        for path in ("/dev/stdout", "out.iw"):
            with open(self.path / "out.iw", "wb") as out:
                code, _, err = self.shell("echo > started", "--record", path, stdout=out)
            self.assertEqual(code, 2, err)
            self.assertIn(f"{path} is where this prints to".encode(), err)
            self.assertFalse((self.path / "started").exists())

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

    def test_nothing_is_started_where_the_recording_cannot_be(self):
        for options in (["--record", "/nowhere/s.iw"], ["--output", "/nowhere/out"]):
            code, _, err = self.shell("touch started", *options)
            self.assertEqual(code, 2, err)
            self.assertFalse((self.path / "started").exists())

    def test_nothing_is_started_where_proc_tells_nothing_of_processes(self):
        hidden = ["unshare", "--mount", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
            self.skipTest("no right to take /proc away")
        done = subprocess.run([*hidden, BIN / "idlewave", "run", "--headless", "--", "touch", "started"], env=self.environment,
                              cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)
        self.assertFalse((self.path / "started").exists())

    def test_a_rank_without_descriptors_says_why_it_is_not_watched(self):
        code, _, err = self.shell("REPORTER_FILES=3 $REPORTER 2")
        self.assertEqual(code, 0, err)
        self.assertRegex(err.decode(), r"process \d+: a rank is not watched: .*Too many open files")

    def test_where_there_is_room_for_a_few_files_nothing_is_left_of_what_could_not_be_started(self):
        small = ("mount -t tmpfs -o mode=700,nr_inodes=$1 none $IDLEWAVE_DIR || exit 99; "
                 "$2 run --headless -- true; echo $?; ls -A $IDLEWAVE_DIR")
        self.sessions.mkdir(mode=0o700)
        refused = []
        for files in range(2, 14):  # One is the folder that is mounted.
            done = subprocess.run(["unshare", "--mount", "sh", "-c", small, "sh", str(files), BIN / "idlewave"], env=self.environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode != 0:
                self.skipTest("no right to mount: " + done.stderr)
            code, *left = done.stdout.splitlines()
            self.assertEqual(left, [], f"{files} files, code {code}: {done.stderr}")
            refused.append(code != "0")
        self.assertEqual(refused, sorted(refused, reverse=True), refused)
        self.assertTrue(refused[0] and not refused[-1], refused)

    def test_the_help_names_the_exit_code_of_our_own_failures(self):
        self.assertIn("125", subprocess.run([BIN / "idlewave", "run", "--help"], capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()

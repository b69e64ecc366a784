#!/usr/bin/env python3
"""`idlewave run` on terminals of all kinds: what is typed and printed there, and what becomes of the program when they go.
Usage: run_screens_test.py FOLDER-OF-PROGRAMS REPORTER [TEST...]"""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time

from run_cases import BIN, eventually, main, OWN_FAILURE, PATIENCE, read_to_the_end, RunCase


def rows_of(shown, columns):
    """What a terminal that wraps has in its rows. A character in the last column leaves the cursor there until the next one."""
    rows, at = [[]], 0
    for character in shown:
        if character == "\r":
            at = 0
        elif character == "\n":
            rows.append([])
        else:
            if at == columns:
                rows.append([])
                at = 0
            row = rows[-1]
            row.extend(" " * (at + 1 - len(row)))
            row[at] = character
            at += 1
    return ["".join(row).rstrip() for row in rows]


class Screens(RunCase):
    def test_what_is_said_begins_a_line_wherever_the_program_has_left_the_last_one(self):
        for length in 0, 1, 39, 40, 41, 80:
            for end in "", "\\n":
                with self.subTest(length=length, end=end):
                    other, terminal = pty.openpty()
                    self.addCleanup(os.close, other)
                    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
                    self.environment["TERM"] = "xterm"
                    run = self.start("--", "sh", "-c", f"printf '{'x' * length}{end}' >&2; exit 3", stderr=terminal)
                    os.close(terminal)
                    shown = b""
                    with contextlib.suppress(OSError):  # EIO: the last who had it open has gone
                        while some := os.read(other, 65536):
                            shown += some
                    self.assertEqual(run.wait(timeout=PATIENCE), 3)
                    rows = rows_of(shown.decode(), 40)
                    printed = ["x" * min(40, length - at) for at in range(0, length, 40)]
                    if end and not printed:
                        printed = [""]
                    self.assertEqual(rows[:len(printed)], printed)
                    self.assertTrue(rows[len(printed)].startswith(" idlewave "), rows)
                    self.assertTrue(any(row.startswith("idlewave: sh ended with code 3") for row in rows), rows)

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
            self.assertEqual(run.wait(timeout=PATIENCE), -signal.SIGTERM)
            said = run.stderr.read()
            self.assertIn(b"signal 15", said)
            self.assertNotIn(b"goes on", said, "the screen has ended")

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

    def test_who_ends_the_program_by_a_key_is_told_its_exit_code(self):
        """And not, by his shell, that somebody has killed it."""
        run, other = self.on_terminal("exec $REPORTER 100")
        shown = b""
        while b"LIVE" not in shown:
            shown += os.read(other, 65536)
        threading.Thread(target=self.read_all, args=(other,), daemon=True).start()
        self.addCleanup(os.close, other)
        os.write(other, b"qy")
        self.assertEqual(run.wait(timeout=PATIENCE), 128 + signal.SIGTERM, run.stderr.read())

    def test_signals_that_are_not_the_screen_s_reach_the_program_behind_it(self):
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGRTMIN):
            with self.subTest(number=number):
                ready, got = self.path / f"ready{number}", self.path / f"got{number}"
                run, other = self.on_terminal(f"trap 'echo > {got}; exit 9' {int(number)}; echo > {ready}; while :; do sleep 0.05; done")
                threading.Thread(target=self.read_all, args=(other,), daemon=True).start()
                self.addCleanup(os.close, other)
                self.assertTrue(eventually(ready.exists))
                run.send_signal(number)
                self.assertEqual(run.wait(timeout=PATIENCE), 9, run.stderr.read())
                self.assertTrue(got.exists())

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


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A session that is joined over the standard streams of a command, as of ssh: two folders of sessions are two machines, and a program that
copies bytes is the way between them. Usage: over_test.py FOLDER-OF-PROGRAMS REPORTER"""
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = REPORTER = None
PATIENCE = 60
# What ssh does: it runs a command elsewhere, and copies its streams.
WAY = """import os, subprocess, sys, threading
far = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "IDLEWAVE_DIR": os.environ["FAR"]})
def copy(source, sink):
    while data := os.read(source, 1 << 16):
        while data:
            data = data[os.write(sink, data):]
    os.close(sink)
threading.Thread(target=copy, args=(0, far.stdin.fileno()), daemon=True).start()
try:
    copy(far.stdout.fileno(), 1)
except BrokenPipeError:
    pass
os._exit(far.wait())
"""


def eventually(condition):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def lives(pid):
    """Of a process that is killed the first thread may be over while others still end, and have its files open."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return state[0] != "X" and (state[0] != "Z" or int(state[17]) > 1)


class Over(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-over-")))
        self.far, near = self.path / "far", self.path / "near"
        for folder in (self.far, near):
            folder.mkdir(mode=0o700)
        self.environment = {**os.environ, "IDLEWAVE_DIR": str(near), "FAR": str(self.far), "TEST": str(self.path),
                            "XDG_CACHE_HOME": str(self.path / "cache"), "REPORTER": str(REPORTER), "PATH": f"{BIN}:{os.environ['PATH']}"}
        (self.path / "way.py").write_text(WAY)
        self.way = f"{sys.executable} {self.path}/way.py"
        self.addCleanup(self.nothing_is_left)

    def processes(self, *names):
        """Ours that live, of these names; no name: all."""
        sign = f"TEST={self.path}\0".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and sign in (entry / "environ").read_bytes() and lives(entry.name):
                    if not names or any(name in (entry / "cmdline").read_bytes().split(b"\0") for name in names):
                        found.append(int(entry.name))
            except OSError:
                pass
        return found

    def carriers(self):
        return [pid for pid in self.processes(b"carry") if pathlib.Path(f"/proc/{pid}/comm").read_text() == "idlewave\n"]

    def ways(self):
        return self.processes(f"{self.path}/way.py".encode())

    def nothing_is_left(self):
        eventually(lambda: not self.processes())
        self.assertEqual(self.processes(), [])

    def start(self, *words, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.path,
                   "env": self.environment, **options}
        process = subprocess.Popen([BIN / "idlewave", *words], **options)
        for stream in (process.stdout, process.stderr):
            if stream:
                self.addCleanup(stream.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end_of(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out.decode(), err.decode()

    def call(self, *words):
        return self.end_of(self.start(*words))

    def session(self, script, *options):
        """A session over there that runs until the script is over."""
        process = self.start("run", "--headless", "--session", "lake", *options, "--", "sh", "-c", script,
                             env={**self.environment, "IDLEWAVE_DIR": str(self.far)})
        self.assertTrue(eventually(lambda: (self.far / "lake" / "host").exists()))
        return process

    def endless(self, *options):
        process = self.session("exec $REPORTER 1000000 2000", *options)
        self.addCleanup(lambda: process.poll() is None and (process.terminate(), process.wait(PATIENCE)))
        return process

    def script(self, text):
        """A command that leads somewhere, and passes over what is put behind it."""
        path = self.path / f"script{len(list(self.path.iterdir()))}"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    @staticmethod
    def greeting(version, end):
        return f"printf 'idlewave-stream\\t{version}\\toperator\\tlake\\t{end}'; exec sleep 60"

    def frames(self, name):
        told = subprocess.run([BIN / "iw-print-frames", self.path / name], capture_output=True, text=True, check=True, timeout=PATIENCE)
        return told.stdout.splitlines()

    def joined(self, over=None, **options):
        """Somebody who has joined and records: it has heard something."""
        near = self.start("record", "live.iw", "--session", "lake", "--over", over or self.way, **options)
        self.assertTrue(eventually(lambda: (self.path / "live.iw").exists() and self.carriers() or near.poll() is not None))
        self.assertIsNone(near.poll())
        return near

    def one_line(self, err):
        lines = err.strip().splitlines()
        self.assertEqual(len(lines), 1, err)
        return lines[0]

    # --- what comes over it ---

    def test_a_recording_is_byte_for_byte_the_one_that_is_made_there(self):
        # It goes on once both have joined: a file is what it waits for.
        program = self.session("$REPORTER 600 1000; while ! test -e go; do sleep 0.05; done; $REPORTER 600 1000 ", "--record", "host.iw")
        there = self.start("record", "there.iw", "--session", "lake", env={**self.environment, "IDLEWAVE_DIR": str(self.far)})
        here = self.start("record", "here.iw", "--session", "lake", "--over", self.way)
        self.assertTrue(eventually(lambda: (self.path / "there.iw").exists() and (self.path / "here.iw").exists()))
        (self.path / "go").touch()
        for process in (here, there, program):
            code, _, err = self.end_of(process)
            self.assertEqual(code, 0, err)
        frames = self.frames("here.iw")
        self.assertGreater(len(frames), 10)
        self.assertEqual(frames, self.frames("there.iw"))
        self.assertEqual(frames, self.frames("host.iw"))

    def test_orders_go_up_and_are_answered(self):
        self.endless("--allow-inject")
        code, out, err = self.call("inject", "--session", "lake", "--over", self.way, "--ranks", "0", "--delay", "10ms")
        self.assertEqual((code, out, err), (0, "", ""))

    def test_what_runs_over_there_is_listed(self):
        self.endless()
        code, out, _ = self.call("attach", "--over", self.way)
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("lake "), out)

    def test_the_program_may_be_named_with_the_command(self):
        self.endless()
        code, out, _ = self.call("attach", "--over", f"env IDLEWAVE_DIR={self.far} '{BIN}/idlewave'")
        self.assertEqual((code, out[:5]), (0, "lake "))

    def test_who_looks_on_holds_nobody(self):
        self.endless("--allow-inject")
        for over in (f"{self.way} {BIN}/idlewave", self.script(f"exec {self.way} {BIN}/idlewave carry lake --view")):
            with self.subTest(over=over):
                view = ["--view"] if "way.py" in over else []
                code, _, err = self.call("attach", "lake", "--over", over, *view, "--headless", "2s")
                self.assertEqual(code, 0, err)
        code, _, err = self.call("inject", "--session", "lake", "--over", over, "--ranks", "0", "--delay", "10ms")
        self.assertEqual(code, 1)
        self.assertIn("spectator", self.one_line(err))

    # --- who is killed ---

    def test_a_carrier_that_is_killed_is_a_lost_session(self):
        self.endless()
        near = self.joined()
        os.kill(self.carriers()[0], signal.SIGKILL)
        code, _, err = self.end_of(near)
        self.assertEqual(code, 1)
        self.assertIn("the stream has ended", err)

    def test_a_way_that_is_cut_leaves_nothing_behind_on_either_side(self):
        self.endless()
        near = self.joined()
        way, = self.ways()
        os.kill(way, signal.SIGKILL)
        code, _, err = self.end_of(near)
        self.assertEqual(code, 1)
        self.assertIn("the stream has ended", err)
        self.assertTrue(eventually(lambda: not self.carriers()))

    def test_a_monitor_that_is_killed_leaves_nothing_behind_on_either_side(self):
        self.endless()
        near = self.joined()
        near.kill()
        self.assertTrue(eventually(lambda: not self.carriers() + self.ways()))

    def test_a_terminal_that_is_closed_leaves_nothing_behind_on_either_side(self):
        self.endless()
        ours, theirs = pty.openpty()
        near = self.start("attach", "lake", "--over", self.way, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                          env={**self.environment, "TERM": "xterm"})
        os.close(theirs)
        seen = b""
        while b"lake" not in seen:
            seen += os.read(ours, 65536)
        os.close(ours)
        near.wait(PATIENCE)
        self.assertTrue(eventually(lambda: not self.carriers() + self.ways()))

    def test_an_end_is_an_end_whatever_becomes_of_the_way(self):
        program = self.session("$REPORTER 500 2000")
        near = self.joined()
        self.assertEqual(self.end_of(program)[0], 0)
        code, _, err = self.end_of(near)
        self.assertEqual((code, err), (0, ""))

    # --- what comes instead ---

    def test_what_a_shell_prints_first_is_passed_over_and_told(self):
        self.endless()
        over = self.script(f"echo 'Welcome to login2'; echo '  maintenance on Friday'; exec {self.way} {BIN}/idlewave carry lake")
        code, _, err = self.call("attach", "lake", "--over", over, "--headless", "1s")
        self.assertEqual(code, 0, err)
        self.assertIn("'Welcome to login2\\x0a  maintenance on Friday'", err.splitlines()[0])

    def test_what_leads_to_no_idlewave_says_what_came(self):
        for text, says in (("echo no such host; exit 255", "ended with exit code 255 and told of no session, but said 'no such host'"),
                           ("exit 127", "name it: --over"), ("true", "ended with exit code 0"), ("kill -9 $$", "ended with exit code 137"),
                           ("exec yes sir", "leads to no idlewave, but said 'sir\\x0asir"),
                           (self.greeting("9", "\\n"), "version 9 of the stream, and this program 2"),
                           (self.greeting("2", "\\r\\n"), "a terminal stands between")):
            with self.subTest(text=text):
                code, out, err = self.call("attach", "lake", "--over", self.script(text), "--headless")
                self.assertEqual((code, out), (1, ""), err)
                self.assertIn(says, self.one_line(err))

    def test_what_is_no_frame_cuts_the_stream_and_is_quoted(self):
        over = self.script(self.greeting("2", "\\nshutdown in 5 minutes"))
        code, _, err = self.call("attach", "lake", "--over", over, "--headless")
        self.assertEqual(code, 1)
        self.assertIn("between two frames came what is none: 'shutdown in 5 minutes'", err)

    def test_what_the_command_says_is_shown(self):
        self.endless()
        code, _, err = self.call("attach", "sea", "--over", self.way, "--headless")
        self.assertEqual(code, 2)
        self.assertEqual(len(err.splitlines()), 2, err)
        self.assertIn("no session 'sea' runs on this node; there are: lake", err.splitlines()[0])
        over = self.script(f"echo 'warm \033[31mwords' >&2; exec {self.way} {BIN}/idlewave carry lake")
        code, _, err = self.call("attach", "lake", "--over", over, "--headless", "3s")
        self.assertEqual(code, 0, err)
        self.assertEqual(err.splitlines()[0], "warm \\x1b[31mwords")

    def test_what_is_said_on_a_screen_is_never_drawn_over_it(self):
        self.endless()
        ours, theirs = pty.openpty()
        said_later = "(while ! test -e go; do sleep 0.05; done; printf 'the disk\\n' >&2) &"
        over = self.script(f"{said_later} exec {self.way} {BIN}/idlewave carry lake")
        near = self.start("attach", "lake", "--over", over, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, start_new_session=True,
                          env={**self.environment, "TERM": "xterm"})
        os.close(theirs)
        self.addCleanup(os.close, ours)
        seen = b""
        while b"1 rank" not in seen:
            seen += os.read(ours, 65536)
        (self.path / "go").touch()
        while b"the disk" not in seen:
            seen += os.read(ours, 65536)
        os.write(ours, b"q")
        while near.poll() is None:
            try:
                os.read(ours, 65536)
            except OSError:
                break
        self.assertEqual(near.wait(PATIENCE), 0)
        self.assertEqual(near.stderr.read(), b"idlewave: lake goes on; the same call shows it again\nidlewave: the disk\n")

    def test_what_can_not_be_said_over_there_is_refused(self):
        for words, says in ((["attach", "lake; rm -rf /", "--over", "true"], "'lake; rm -rf /' can't be said over"),
                            (["attach", "lake", "--over", ""], "is empty"), (["attach", "lake", "--over", "ssh 'login2"], "is no command"),
                            (["attach", "lake", "--over", "''"], "is no command"), (["attach", "lake", "--over", "a | b"], "is no command"),
                            (["attach", "lake", "--over", "echo $(date)"], "is no command"),
                            (["attach", "lake", "--over", "nobody-has-this"], "nobody-has-this: not found"),
                            (["record", "f.iw", "--over", "true", "--", "true"], "--over"), (["carry", "lake", "--frobnicate"], "no flag")):
            with self.subTest(words=words):
                code, out, err = self.call(*words)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(says, self.one_line(err))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    REPORTER = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

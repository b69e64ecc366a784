#!/usr/bin/env python3
"""What is called complete, and what is not, from one end to the other: senders that are killed, that stop and come back, recordings that
lack something. No MPI: the senders are simulations. Usage: complete_test.py FOLDER-OF-PROGRAMS WRITER GOLDEN"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

BIN = WRITER = GOLDEN = None
SCENARIO = """
[machine]
ranks = 8
ranks_per_domain = 4
core_bandwidth = "10 GB/s"
domain_bandwidth = "20 GB/s"
[program]
steps = {steps}
kernel = "memory"
volume = "100 MB"
[communication]
topology = "ring"
distances = [-1, 1]
"""


class Talker:
    """A program whose stderr is read as it comes."""

    def __init__(self, test, *arguments):
        self.process = subprocess.Popen([str(word) for word in arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.lines, self.out, self.news, self.over = [], "", threading.Condition(), False
        self.threads = [threading.Thread(target=self.read_errors, daemon=True), threading.Thread(target=self.read_output, daemon=True)]
        for thread in self.threads:
            thread.start()
        test.addCleanup(self.end)

    def read_errors(self):
        for line in self.process.stderr:
            with self.news:
                self.lines.append(line)
                self.news.notify_all()
        with self.news:
            self.over = True
            self.news.notify_all()

    def read_output(self):
        self.out = self.process.stdout.read()

    def wait_for(self, words):
        with self.news:
            found = self.news.wait_for(lambda: self.over or any(words in line for line in self.lines), timeout=90)
            return found and any(words in line for line in self.lines)

    def finish(self):
        code = self.process.wait(timeout=150)
        for thread in self.threads:
            thread.join(timeout=60)
        return code

    def messages(self):
        return [line for line in self.lines if line.startswith("idlewave: ")]

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()


class Complete(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.endpoint = f"ipc://{self.path}/sim.sock"
        self.recording = self.path / "s.iw"

    def sim(self, steps, *options):
        scenario = self.path / f"{steps}.toml"
        scenario.write_text(SCENARIO.format(steps=steps))
        return Talker(self, BIN / "idlewave", "sim", scenario, *options)

    def stream(self, steps):
        """A sender of `steps` steps of 20 ms or so, and a monitor that has heard of it."""
        sender = self.sim(steps, "--stream", self.endpoint, "--realtime")
        monitor = Talker(self, BIN / "idlewave", "attach", self.endpoint, "--headless", "--json", "--record", self.recording)
        while not self.recording.exists() or self.recording.stat().st_size < 500:  # what was recorded is flushed every few seconds
            self.assertIsNone(monitor.process.poll(), monitor.lines)
            self.assertIsNone(sender.process.poll(), sender.lines)
            try:
                monitor.process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                pass
        return sender, monitor

    def call(self, *arguments, code=0):
        done = subprocess.run([str(word) for word in (BIN / "idlewave", *arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def test_a_session_that_was_told_to_its_end_is_complete_everywhere(self):
        sender, monitor = self.stream(400)
        self.assertEqual(monitor.finish(), 0, monitor.messages())
        self.assertEqual(sender.finish(), 0, sender.lines)
        self.assertTrue(json.loads(monitor.out)["complete"])
        self.assertEqual(monitor.messages(), [])
        self.assertTrue(json.loads(self.call("info", "--check", "--json", self.recording)[0])["complete"])
        self.assertTrue(json.loads(self.call("report", "--json", self.recording)[0])["complete"])
        self.assertNotIn("INCOMPLETE", self.call("report", self.recording)[0])

    def test_a_sender_that_was_killed_leaves_no_complete_session(self):
        sender, monitor = self.stream(100000)
        sender.process.kill()
        self.assertEqual(monitor.finish(), 1, monitor.messages())
        self.assertRegex("".join(monitor.messages()), r"incomplete: node \S+ not heard after [0-9.]+ s")
        live = json.loads(monitor.out)
        recorded = json.loads(self.call("report", "--json", self.recording)[0])
        for report in (live, recorded):
            self.assertFalse(report["complete"])
            self.assertEqual([node["node"] for node in report["missing"]["nodes"]], ["simulator"])
            self.assertIn("node_silent", [loss["kind"] for loss in report["losses"]])
        self.assertEqual(live["missing"], recorded["missing"])
        self.assertIn("\nINCOMPLETE: node simulator not heard after", self.call("report", self.recording)[0])
        out, err = self.call("info", "--check", "--json", self.recording, code=1)
        self.assertFalse(json.loads(out)["complete"])
        self.assertEqual(len(err.splitlines()), 1, err)
        self.call("info", self.recording)

    def test_a_sender_that_stopped_for_seconds_is_heard_again(self):
        sender, monitor = self.stream(1000)
        os.kill(sender.process.pid, signal.SIGSTOP)
        try:
            self.assertTrue(monitor.wait_for("waiting for it to come back"), monitor.lines)
        finally:
            os.kill(sender.process.pid, signal.SIGCONT)
        self.assertTrue(monitor.wait_for("is heard again"), monitor.lines)
        self.assertEqual(monitor.finish(), 0, monitor.messages())
        report = json.loads(monitor.out)
        self.assertTrue(report["complete"], report["missing"])
        self.assertEqual(report["steps"], 1000)

    def test_a_monitor_that_stopped_is_told_that_it_missed_something(self):
        sender, monitor = self.stream(2000)
        os.kill(monitor.process.pid, signal.SIGSTOP)
        try:
            sender.process.wait(timeout=14)  # for its sender it is gone after 10 s
        except subprocess.TimeoutExpired:
            pass
        finally:
            os.kill(monitor.process.pid, signal.SIGCONT)
        self.assertEqual(monitor.finish(), 1, monitor.messages())
        report = json.loads(monitor.out)
        self.assertFalse(report["complete"])
        self.assertIn("sequence_gap", [interval["what"] for interval in report["missing"]["intervals"]])

    def test_what_is_no_regular_file_is_refused_at_once(self):
        fifo = self.path / "fifo"
        os.mkfifo(fifo)
        for path in (fifo, "/dev/zero", "/dev/null", self.path):
            for verb in (["info"], ["info", "--check"], ["report"], ["replay", "--once"]):
                out, err = self.call(*verb, path, code=2)
                self.assertEqual((out, len(err.splitlines())), ("", 1), err)
                self.assertIn(str(path), err)

    def test_a_recording_that_claims_to_last_for_years_is_read_at_once(self):
        written = subprocess.run([str(WRITER), str(self.recording)], capture_output=True, text=True, timeout=60)
        self.assertEqual(written.returncode, 0, written.stderr)
        report = json.loads(self.call("report", "--json", self.recording)[0])
        self.assertEqual((report["ranks"], report["complete"]), (1, True))
        screen, _ = self.call("replay", "--once", "--size", "100x30", self.recording)
        self.assertEqual(len(screen.splitlines()), 30)
        self.call("replay", "--once", "--from", "1s", "--size", "100x30", self.recording)

    def test_the_golden_recording_says_what_it_lacks(self):
        out, _ = self.call("info", GOLDEN)
        self.assertRegex(out, r"complete +false")
        self.assertRegex(out, r"missing +.*could not be read")


if __name__ == "__main__":
    BIN, WRITER, GOLDEN = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)

#!/usr/bin/env python3
"""Calls every program with texts that a terminal would obey, as names and as contents of files, and looks for them in what is printed.
Usage: hostile_text_test.py FOLDER_OF_PROGRAMS"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = None
ENDINGS = b"\x1b]0;owned\x07", "\u202egpj\u2066\u2028".encode(), b"\x9b31m", "\u009b31m".encode(), b"\x7f\r\x08"
HOSTILE = b"".join(ENDINGS)
# What no output may hold: C0 but for newlines, DEL, C1, bidirectional controls, line separators, invisible characters.
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class HostileText(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.fsencode(self.folder.name)

    def prints_nothing_to_obey(self, program, *arguments, code=2, says=rb"\x1b]0;owned\x07"):
        environment = {**os.environ, "IDLEWAVE_DIR": self.folder.name + "/sessions"}
        done = subprocess.run([os.fsencode(PROGRAMS / program), *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              env=environment, cwd=self.path)
        printed = done.stdout + done.stderr
        text = printed.decode()  # fails on anything that is no UTF-8
        self.assertEqual(OBEYED.findall(text), [], printed)
        self.assertIn(says, printed)
        if code is not None:
            self.assertEqual(done.returncode, code, printed)
        if code == 2:
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return text

    def file(self, name, text):
        path = self.path + b"/" + name
        with open(path, "wb") as out:
            out.write(text)
        return path

    def session(self, name):
        path = self.path + b"/" + name
        subprocess.run([PROGRAMS / "iw-write-hostile-session", path], check=True, timeout=60)
        return path

    def test_names_of_files_that_are_missing(self):
        name = HOSTILE + b".iw"
        for arguments in ([b"info", name], [b"report", name], [b"replay", name, b"--once"], [b"study", name + b".toml"]):
            self.prints_nothing_to_obey("idlewave", *arguments)
        for arguments in ([name], [b"--goal", name], [b"--from", name]):
            self.prints_nothing_to_obey("idlewave", b"sim", *arguments)

    def test_words_that_are_no_verb_flag_or_value(self):
        for arguments in ([HOSTILE], [b"info", b"--" + HOSTILE], [b"demo", HOSTILE], [b"attach", HOSTILE], [b"attach", b"tcp://" + HOSTILE],
                          [b"inject", b"--ranks", HOSTILE], [b"inject", b"--session", HOSTILE, b"--clear"],
                          [b"report", b"x", b"--window", HOSTILE], [b"run", b"--headless", b"--", HOSTILE],
                          [b"run", b"--session", HOSTILE, b"--", b"true"]):
            self.prints_nothing_to_obey("idlewave", *arguments, code=None, says=b"idlewave: ")
        for arguments in ([b"--" + HOSTILE], [b"x", b"--set", HOSTILE], [b"x", b"--sweep", HOSTILE], [b"x", b"--window", HOSTILE]):
            self.prints_nothing_to_obey("idlewave", b"sim", *arguments, code=None, says=b"idlewave: ")
        self.prints_nothing_to_obey("idlewave-agent", b"--session", b"s", b"--" + HOSTILE)
        self.prints_nothing_to_obey("idlewave-agent", b"--session", HOSTILE, code=None)

    def test_contents_of_a_session(self):
        path = self.session(HOSTILE + b".iw")
        self.prints_nothing_to_obey("idlewave", b"info", path, code=0)
        self.prints_nothing_to_obey("idlewave", b"report", path, code=0)
        self.prints_nothing_to_obey("idlewave", b"info", b"--json", path, code=0, says=b"\\u001b")
        self.prints_nothing_to_obey("idlewave", b"report", b"--json", path, code=0, says=b"\\u202e")
        self.prints_nothing_to_obey("idlewave", b"replay", b"--once", path, code=0, says=b"recording")
        self.prints_nothing_to_obey("idlewave", b"sim", b"--from", path)

    def test_a_line_of_a_session_can_not_pass_for_two(self):
        path = self.session(b"plain.iw")
        lines = self.prints_nothing_to_obey("idlewave", b"info", path, code=0).splitlines()
        self.assertEqual(sum(line.startswith("machine") for line in lines), 1)
        self.assertFalse([line for line in lines if "gpj" in line and "owned" not in line], lines)

    def test_keys_and_values_of_a_scenario(self):
        name = HOSTILE + b".toml"
        escapes = rb"\u001B]0;owned\u0007\u202E"
        for text in (b'["' + escapes + b'"]\nkey = 1\n', b'[machine]\n"' + escapes + b'" = 1\n',
                     b'[program]\nkernel = "' + escapes + b'"\n', b"[machine]\nranks = \x1b]0;owned\x07\n", b"[\x9b31m]\n"):
            self.prints_nothing_to_obey("idlewave", b"sim", self.file(name, text))

    def test_lines_of_a_schedule_and_of_a_noise_trace(self):
        self.prints_nothing_to_obey("idlewave", b"sim", b"--goal", self.file(HOSTILE + b".goal", b"num_ranks 1\n" + HOSTILE + b"\n"))
        self.file(b"noise.csv", HOSTILE.replace(b"\r", b"") + b"\n")
        scenario = self.file(b"noisy.toml", b"""[machine]\nranks = 4\nranks_per_domain = 2
[program]\nsteps = 2\nkernel = "core"\ntime = "1 ms"
[noise]\ndistribution = "trace"\nfile = "noise.csv"\n""")
        self.prints_nothing_to_obey("idlewave", b"sim", scenario)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

#!/usr/bin/env python3
"""A session of a sender that knows more values of each enumeration than we do:
what is not known is called unknown, and nothing else is lost.
Usage: newer_sender_test.py FOLDER_OF_PROGRAMS"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = None
NEWER = "1", "255"


class NewerSender(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def session(self, *words):
        path = self.path / ("-".join(words) + ".iw")
        if not path.exists():
            subprocess.run([PROGRAMS / "iw-write-newer-session", path, *words], check=True, timeout=60)
        return path

    def idlewave(self, *arguments):
        done = subprocess.run([PROGRAMS / "idlewave", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def report(self, *words):
        return json.loads(self.idlewave("report", self.session(*words), "--json"))

    def test_is_reported_as_one_of_today_but_for_what_is_not_known(self):
        expected = self.report("0")
        self.assertEqual(expected["domains"][0]["bandwidth_source"], "resctrl")
        self.assertEqual(expected["commands"][0]["distribution"], "periodic")
        expected["domains"][0]["bandwidth_source"] = "unknown"
        expected["commands"][0]["distribution"] = "unknown"
        for key in ("duration_s", "frequency_hz"):
            del expected["commands"][0][key]
        for more in NEWER:
            self.assertEqual(self.report(more), expected)

    def test_is_reported_with_an_order_that_is_not_known_as_with_one_that_is(self):
        expected = self.report("0")
        for key in ("distribution", "duration_s", "frequency_hz"):
            del expected["commands"][0][key]
        expected["commands"][0].update({"kind": "unknown", "order": "pause"})
        self.assertEqual(self.report("0", "pause"), expected)
        screen = lambda *words: self.idlewave("replay", "--once", "--size", "160x48", self.session(*words)).splitlines()
        known, unknown = screen("0"), screen("0", "pause")
        # Noise that is known is in the title, on the axis, and an event.
        self.assertIn("noise periodic:1ms@10Hz in ranks 1", known[0])
        self.assertNotIn("noise", unknown[0])
        rows = lambda lines: [line.split("│")[0] for line in lines[1:] if not line.startswith("rank")]
        self.assertEqual(rows(unknown), rows(known))

    def test_loses_nothing(self):
        for more in NEWER:
            report = self.report(more)
            self.assertEqual((report["dropped"], report["missing"]["intervals"]), (0, []))

    def test_is_drawn_with_unknown_bandwidth(self):
        for more in NEWER:
            self.assertIn("GB/s unknown", self.idlewave("replay", "--once", "--size", "160x48", self.session(more)))
            self.assertIn("(unknown)", self.idlewave("report", self.session(more)))


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1))
    unittest.main()

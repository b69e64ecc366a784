#!/usr/bin/env python3
"""What the documents print of a call is what it prints. Usage: documents_test.py ROOT BINARIES [unittest options]

A block that begins with "$ idlewave ... FILE" is run with the block before it as FILE; its other lines have to be among those that are
printed.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


def blocks(document):
    return re.findall(r"^```\w*\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE)


class Documents(unittest.TestCase):
    def follow(self, document):
        """How many calls it has."""
        calls = 0
        before = ""
        for block in blocks(document):
            if block.startswith("$ idlewave "):
                call, *printed = block.splitlines()
                self.run_call(document, call[2:].split(), before, printed)
                calls += 1
            before = block
        return calls

    def run_call(self, document, words, text, printed):
        with tempfile.TemporaryDirectory(prefix="iw-documents-") as folder:
            pathlib.Path(folder, words[-1]).write_text(text)
            done = subprocess.run([BINARIES / words[0], *words[1:]], cwd=folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{document}: {words}\n{done.stderr}")
        for line in printed:
            self.assertIn(line, done.stdout.splitlines(), f"{document}: {words}")

    def keys_in(self, value):
        if isinstance(value, dict):
            return set(value).union(*map(self.keys_in, value.values()))
        return set().union(*map(self.keys_in, value)) if isinstance(value, list) else set()

    def test_every_key_of_a_report_is_named(self):
        named = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", (ROOT / "docs/report.md").read_text()))))
        written = set()  # also those that stand in few reports
        for source in (ROOT / "monitor/cli/reporting").glob("*.cpp"):
            written |= set(re.findall(r'(?:\{|\[)"([a-z_]+)"(?:, |\])', source.read_text()))
        for recording in (ROOT / "tests/golden").glob("*.iw"):
            call = [BINARIES / "idlewave", "report", "--ghost", "--json", recording]
            found = self.keys_in(json.loads(subprocess.run(call, capture_output=True, text=True, timeout=60).stdout))
            self.assertEqual(found - named, set())
            self.assertGreater(len(found & written), 50)
        self.assertEqual(written - named, set())

    def test_every_key_of_a_workload_is_named(self):
        pages = {"overlap": ("progress", "contention"), "heat": ("heat",), "hybrid": ("hybrid",), "between-nodes": ("internode",),
                 "spmv": ("spmv",), "chebfd": ("chebfd",), "scenario": ("ring",), "noise": ("selfish", "collectives")}
        for page, programs in pages.items():
            prose = re.sub(r"^```.*?^```", "", (ROOT / f"docs/{page}.md").read_text(), flags=re.DOTALL | re.MULTILINE)
            named = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", prose))))
            for program in programs:
                written = set()
                for source in (ROOT / "workloads" / program).glob("*.cpp"):
                    written |= set(re.findall(r'(?:\{|\[)"([a-z_]+)"(?:, (?!\w+::k)|\])', source.read_text()))
                with self.subTest(program=program):
                    self.assertGreater(len(written), 5)
                    self.assertEqual(written - named, set())

    def test_every_variable_that_is_read_is_named(self):
        read = set()
        for folder in ("probe", "monitor", "workloads"):
            for source in (ROOT / folder).rglob("*.cpp"):
                read |= set(re.findall(r'"(IDLEWAVE_[A-Z_]+)"', source.read_text()))
        section = (ROOT / "README.md").read_text().split("\n## Environment\n")[1].split("\n## ")[0]
        self.assertEqual(read, set(re.findall(r"`(IDLEWAVE_[A-Z_]+)[`=]", section)))

    def test_scenarios(self):
        self.assertEqual(self.follow(ROOT / "docs/scenario.md"), 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

"""What the tests of `idlewave sim` share: scenarios, schedules, and a call of the verb.

Usage of such a test: NAME_test.py FOLDER-OF-PROGRAMS [NAME OF A TEST...]"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv[1])
PATIENCE = 60 * int(os.environ.get("IDLEWAVE_TEST_PATIENCE", "1"))  # in seconds; then something hangs

# The reference case: 40 ranks in a ring, 10 on a domain that saturates at 5, one delay of 1.2 s.
REFERENCE = """
[machine]
ranks = 40
ranks_per_domain = 10
core_bandwidth = "10 GB/s"
domain_bandwidth = "50 GB/s"
[program]
steps = 200
kernel = "memory"
volume = "50 MB"
[communication]
topology = "ring"
distances = [-1, 1]
protocol = "eager"
[[delay]]
rank = 5
step = 5
duration = "1.2 s"
"""
RING = """num_ranks 3
rank 0 {
l1: calc 1000
l2: send 8b to 1 tag 7
l3: recv 8b from 2 tag 7
l2 requires l1
}
rank 1 {
l1: recv 8b from 0 tag 7
l2: send 8b to 2 tag 7
l2 requires l1
}
rank 2 {
l1: recv 8b from 1 tag 7
l2: send 8b to 0 tag 7
l2 requires l1
}
"""
COLLECTIVE = """
[machine]
ranks = 64
ranks_per_domain = 16
[program]
steps = 20
kernel = "core"
time = "1 ms"
[communication]
collective = "allreduce"
message_size = "8 B"
L = "2500 ns"
o = "1500 ns"
g = "1000 ns"
G = "6 ns/B"
S = "1 GB"
"""
PARAMETERS = {"L": "2500ns", "o": "1500ns", "g": "1000ns", "G": "6ns/B", "O": "0ns/B", "S": "65535B"}
NETWORK = [word for key, value in PARAMETERS.items() for word in ("--set", f"loggops.{key}={value}")]


def barrier(ranks):
    """Work and a dissemination barrier, as `idlewave` itself writes collectives; then a message to the right."""
    text = f"num_ranks {ranks}\n"
    for rank in range(ranks):
        text += f"rank {rank} {{\nw: calc 5000\n"
        before, distance = ["w"], 1
        while distance < ranks:
            now = [f"s{distance}", f"r{distance}"]
            text += f"{now[0]}: send 1b to {(rank + distance) % ranks} tag 3\n{now[1]}: recv 1b from {(rank - distance) % ranks} tag 3\n"
            text += "".join(f"{later} requires {earlier}\n" for later in now for earlier in before)
            before, distance = now, 2 * distance
        text += f"a: send 100b to {(rank + 1) % ranks} tag 4\nb: recv 100b from {(rank - 1) % ranks} tag 4\n"
        text += "".join(f"{later} requires {earlier}\n" for later in "ab" for earlier in before) + "}\n"
    return text


class SimTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.scenario = self.write("reference.toml", REFERENCE)
        self.environment = {**os.environ, "IDLEWAVE_DIR": str(self.path / "sessions")}

    def write(self, name, text):
        path = self.path / name
        path.write_text(text)
        return str(path)

    def call(self, *arguments, **options):
        return subprocess.run([BIN / "idlewave", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=2 * PATIENCE, env=self.environment, **options)

    def sim(self, *arguments):
        """What `idlewave sim ... --json` prints: JSON, and nothing but JSON."""
        done = self.call("sim", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def refuses(self, *arguments, code=2, says="", **options):
        done = self.call("sim", *arguments, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("idlewave: "), done.stderr)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)

    def start_sim(self, *arguments, until):
        """A run that has got so far."""
        run = subprocess.Popen([BIN / "idlewave", "sim", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE,
                               text=True, env=self.environment)
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 60
        while not until(run):
            self.assertIsNone(run.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return run

    def start_long_run(self, *arguments):
        """A run of hours that already heeds SIGINT."""
        long = ["--set", "machine.ranks=200000", "--set", "program.steps=1000000"]
        return self.start_sim(self.scenario, *long, *arguments, until=lambda run: self.catches(run.pid, signal.SIGINT))

    @staticmethod
    def catches(pid, number):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return any(int(line.split()[1], 16) >> (number - 1) & 1 for line in status.splitlines() if line.startswith("SigCgt:"))


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)

#!/usr/bin/env python3
"""Programs on several hosts of this machine, each with a monotonic clock of its own: how well a recording aligns them. A test is skipped
where such hosts can't be made. Usage: clocks_test.py FOLDER-OF-IDLEWAVE [unittest options]"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv[1]).resolve()
HOSTS = pathlib.Path(__file__).resolve().parent / "hosts.sh"
PATIENCE = 100 * int(os.environ.get("IDLEWAVE_TEST_PATIENCE", "1"))
OF_ITS_OWN = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
STEP_US = 5000
# A step is dated by two readings of the wall clock; who was interrupted between them dates nothing.
CLOSE_NS = 5000


def why_no_hosts():
    trial = f"sh {HOSTS} bridge && exec sh {HOSTS} host 1 5 true"
    try:
        done = subprocess.run([*OF_ITS_OWN, "sh", "-c", trial], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    except OSError as error:
        return str(error)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["unshare fails"])[-1]


class Clocks(unittest.TestCase):
    def setUp(self):
        why = why_no_hosts()
        if why:
            self.skipTest("hosts of their own can't be made here: " + why)
        self.seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 30)))
        self.random = random.Random(self.seed)
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-hosts-")))
        self.ahead = {}

    def record(self, hosts, steps, meanwhile="true"):
        """A recording of a rank on each of so many hosts. `meanwhile` runs beside them, where the links are."""
        lines = []
        for number in range(1, hosts + 1):
            self.ahead[number] = self.random.randrange(10, 1_000_000)
            lines.append(f"IDLEWAVE_DIR={self.path}/d{number} sh {HOSTS} host {number} {self.ahead[number]} sh -c "
                         f"'exec {BIN}/dated_steps {steps} {STEP_US} {number - 1} {hosts} > {self.path}/dates{number}' &")
            (self.path / f"d{number}").mkdir(mode=0o700)
        start = self.path / "start.sh"
        start.write_text("\n".join(["set -e", *lines, f"({meanwhile}) &", "wait"]) + "\n")
        command = (f"sh {HOSTS} bridge && "
                   f"exec {BIN}/idlewave run --headless --record {self.path}/out.iw --listen tcp://10.99.0.254:5555 "
                   f"--session clocks -- sh {start}")
        environment = {**os.environ, "IDLEWAVE_DIR": str(self.path / "d0"), "XDG_CACHE_HOME": str(self.path / "cache")}
        (self.path / "d0").mkdir(mode=0o700)
        done = subprocess.run([*OF_ITS_OWN, "sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, env=environment)
        self.assertEqual(done.returncode, 0, f"seed {self.seed}: {done.stderr}")

    def report(self):
        done = subprocess.run([BIN / "idlewave", "report", self.path / "out.iw", "--json"], capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def alignment(self, hosts):
        """Of each host after the first: (moment, how far its steps lie from those of the first) for each step, nanoseconds."""
        told = subprocess.run([BIN / "iw-print-steps", self.path / "out.iw"], capture_output=True, text=True, check=True,
                              timeout=PATIENCE)
        begun = {}
        for line in told.stdout.splitlines():
            _, rank, step, at = line.split()
            begun[int(rank), int(step)] = int(at)
        dated = {}
        for number in range(1, hosts + 1):
            for line in (self.path / f"dates{number}").read_text().splitlines():
                rank, step, before, after = map(int, line.split())
                if after - before < CLOSE_NS and (rank, step) in begun:
                    dated.setdefault(rank, []).append(((before + after) // 2, begun[rank, step]))
        # Session time minus wall clock is one number for all hosts; others are held against that of the first at the nearest moment.
        first = dated[0]
        apart = {}
        for rank in range(1, hosts):
            place, off = 0, []
            for wall, session in dated[rank]:
                while place + 1 < len(first) and abs(first[place + 1][0] - wall) <= abs(first[place][0] - wall):
                    place += 1
                off.append((session, (session - wall) - (first[place][1] - first[place][0])))
            apart[rank] = off
        return apart

    def check_alignment(self, hosts):
        clocks = self.report()["clocks"]
        self.assertEqual([clock["node"] for clock in clocks], [f"n{number}" for number in range(1, hosts + 1)])
        for clock in clocks:
            self.assertIsNotNone(clock["error_s"], clocks)
        for rank, off in self.alignment(hosts).items():
            self.assertTrue(off)
            known_ns = (clocks[0]["error_s"] + clocks[rank]["error_s"]) * 1e9
            worst = max(abs(each) for _, each in off)
            ordered, late = sorted(abs(each) for _, each in off), [abs(each) for at, each in off if at > 10e9]
            after_ten = f", {max(late) / 1e3:.1f} us at most after 10 s" if late else ""
            print(f"n{rank + 1} against n1: {len(off)} steps, off by {ordered[len(off) // 2] / 1e3:.1f} us (median), "
                  f"{worst / 1e3:.1f} us at most{after_ten}; known to {known_ns / 1e3:.1f} us")
            # What is known of clocks, and how roughly a step is dated.
            self.assertLessEqual(worst, known_ns + 2 * CLOSE_NS, f"seed {self.seed}, rank {rank}: {clocks}")
        return clocks

    def test_of_two_hosts_are_aligned_as_well_as_is_said(self):
        self.record(hosts=2, steps=600)
        clocks = self.check_alignment(hosts=2)
        between = clocks[1]["offset_s"] - clocks[0]["offset_s"]
        self.assertAlmostEqual(between, self.ahead[2] - self.ahead[1], delta=0.1, msg=f"seed {self.seed}")

    def test_of_four_hosts_are_aligned_as_well_as_is_said(self):
        self.record(hosts=4, steps=600)
        self.check_alignment(hosts=4)

    def test_of_a_host_whose_link_was_cut_for_seven_seconds_go_on(self):
        cut = "export PATH=$PATH:/usr/sbin; sleep 3; ip link set v2 down; sleep 7; ip link set v2 up"
        self.record(hosts=2, steps=3000, meanwhile=cut)
        self.check_alignment(hosts=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)

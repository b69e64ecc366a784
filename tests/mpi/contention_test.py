#!/usr/bin/env python3
"""iw-contention as it is used, on the cores that there are and on more ranks than those.
Usage: contention_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
LAUNCHER = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
# Where contenders need so much longer, a sanitizer, none may have moved anything in a shorter time.
QUICK = ["--duration", f"{30 * int(os.environ.get('IDLEWAVE_TEST_PATIENCE', '1'))}ms", "--steps", "1"]


LITTLE_MEMORY = ["/bin/sh", "-c", 'ulimit -Sv 1500000; exec "$0" "$@"']


def ranks(number, *options, under=()):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment.pop("IDLEWAVE_SESSION", None)
    words = [LAUNCHER, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(number), *under, BIN / "iw-contention", *options]
    return subprocess.run(words, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, env=environment)


class Contention(unittest.TestCase):
    def report(self, number, *options):
        done = ranks(number, *QUICK, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_points(self, found, contenders):
        self.assertEqual([p["contenders"] for p in found["points"]], list(range(contenders + 1)))
        for point in found["points"]:
            self.assertGreater(point["mpi_bandwidth"], 0)
        self.assertIsNone(found["points"][0]["memory_bandwidth"])
        for point in found["points"][1:]:
            self.assertGreater(point["memory_bandwidth"], 0)
            self.assertGreater(point["memory_bandwidth_alone"], 0)

    def test_one_domain_has_all_but_one_as_contenders(self):
        found = self.report(3, "--ranks-per-domain", "3")
        self.assertEqual(found["domains"], 1)
        self.check_points(found, 2)

    def test_a_ring_leads_through_all_domains(self):
        found = self.report(6, "--ranks-per-domain", "2")
        self.assertEqual(found["domains"], 3)
        self.check_points(found, 1)

    def test_loss_ratios_are_without_over_with_all_contenders(self):
        found = self.report(2, "--ranks-per-domain", "2")
        first, last = found["points"]
        self.assertAlmostEqual(found["loss_network"], first["mpi_bandwidth"] / last["mpi_bandwidth"])
        self.assertAlmostEqual(found["loss_memory"], last["memory_bandwidth_alone"] / last["memory_bandwidth"])

    def check_steps(self, found, volumes):
        """Against the formula of section IV: both are slow until the first is done, then the other goes on alone."""
        self.assertEqual([step["volume"] for step in found["steps"]], volumes)
        memory_loss, network_loss = max(1, found["loss_memory"]), max(1, found["loss_network"])
        for step in found["steps"]:
            if step["memory_s"] is None or step["network_s"] is None:  # waits took longer, on cores that others use
                self.assertIsNone(step["model_s"])
                continue
            memory, network = step["memory_s"] * memory_loss, step["network_s"] * network_loss
            rest = max((memory - network) / memory_loss, (network - memory) / network_loss)
            self.assertAlmostEqual(step["model_s"], min(memory, network) + rest)

    def test_a_time_step_is_held_against_its_model(self):
        self.check_steps(self.report(2, "--ranks-per-domain", "2", "--step-volumes", "3MB,1MB"), [3_000_000, 1_000_000])
        self.assertEqual(self.report(2, "--ranks-per-domain", "1")["steps"], [], "nobody contends")

    def test_of_steps_in_which_ranks_wait_for_longer_than_they_work_nothing_is_said(self):
        """Which ones that are of steps of next to nothing is a matter of chance."""
        little = ["--ranks-per-domain", "2", "--step-volumes", "1kB,2kB,3kB,4kB", "--message-size", "8B"]
        for step in self.report(2, *little)["steps"]:
            self.assertTrue(all(step[key] is None or step[key] > 0 for key in ("memory_s", "network_s", "both_s", "model_s")), step)
        for _ in range(4):
            done = ranks(2, *QUICK, *little)
            rows = done.stdout.split("a time step: ")[1].split("\n", 1)[1]
            if "of memory nothing is known" in done.stdout:
                continue  # nor is the model then, which is another dash
            self.assertEqual(" -" in rows, "\n-: ranks waited for each other for longer than they worked; " in rows, done.stdout)

    def test_ranks_contend_on_virtual_sockets_too(self):
        found = self.report(6, "--step-volumes", "1MB", "--kernel", "virtual", "--ranks-per-domain", "3",
                            "--core-bandwidth", "10GB/s", "--domain-bandwidth", "20GB/s")
        self.assertEqual((found["kernel"], found["domains"]), ("virtual", 2))
        self.check_points(found, 2)
        self.check_steps(found, [1_000_000])
        for point in found["points"]:
            self.assertLess(point["mpi_bandwidth"], 10e9)
            self.assertLess((point["memory_bandwidth"] or 0), 20e9 * 1.01)

    def test_a_domain_with_fewer_ranks_sets_the_number_of_contenders(self):
        found = self.report(5, "--ranks-per-domain", "3")
        self.assertEqual(found["domains"], 2)
        self.check_points(found, 1)

    def test_nobody_contends_where_each_rank_has_a_domain(self):
        found = self.report(2, "--ranks-per-domain", "1")
        self.check_points(found, 0)
        self.assertIsNone(found["loss_network"])
        self.assertIsNone(found["loss_memory"])

    def test_its_table_has_a_line_for_each_number_and_the_losses(self):
        done = ranks(2, *QUICK, "--ranks-per-domain", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = r"\n +0 .*\n +1 .*\nloss ratios L_N [0-9.]+, L_M [0-9.]+\na time step: .*\n( +[0-9]+ MB .*\n){6}(-: .*\n)?$"
        self.assertRegex(done.stdout, lines)

    def test_messages_of_odd_size_arrive(self):
        for size in ("8B", "100001B"):
            self.check_points(self.report(2, "--ranks-per-domain", "1", "--message-size", size), 0)

    def test_bad_input_is_one_line_of_its_own(self):
        for options in (["--message-size", "7B"], ["--duration", "0s"], ["--ranks-per-domain", "0"], ["--core-bandwidth", "1GB/s"],
                        ["--step-volumes", "0B"], ["--nonsense"]):
            done = ranks(2, *options)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stdout, "")
            own = [line for line in done.stderr.splitlines() if line.startswith("iw-contention: ")]
            self.assertEqual(len(own), 1, done.stderr)
            self.assertIn(options[0], own[0])

    def test_what_does_not_fit_into_memory_is_said_before_it_is_taken(self):
        done = ranks(2, "--ranks-per-domain", "1", "--message-size", "1GB", *QUICK, under=LITTLE_MEMORY)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("this run needs 4 GB of memory, and there are 3.07 GB: give a smaller --message-size", done.stderr)


if __name__ == "__main__":
    unittest.main()

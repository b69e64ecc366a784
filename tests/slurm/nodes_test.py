#!/usr/bin/env python3
"""Programs on several nodes of Slurm, which stand on this machine, watched as a user does. A test is skipped where Slurm can't be started.
Usage: nodes_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS ROOT [unittest options]"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BIN, PROGRAMS, ROOT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
TESTBED = pathlib.Path(__file__).resolve().parent / "slurm-loopback.sh"
NODES, RANKS = 4, 8
PATIENCE = 100 * int(os.environ.get("IDLEWAVE_TEST_PATIENCE", "1"))


def free_ports(count):
    """The first of so many in a row that nobody has."""
    while True:
        first = random.randrange(20000, 32000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue


class Slurm(unittest.TestCase):
    def setUp(self):
        path = os.environ["PATH"] + ":/usr/sbin"
        missing = [name for name in ("slurmctld", "slurmd", "munged", "srun") if not shutil.which(name, path=path)]
        if missing:
            self.skipTest(f"Slurm is not here: {', '.join(missing)} not found. Debian: "
                          "apt install slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge")
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-slurm-")))
        self.path.chmod(0o755)  # munged wants its socket to be reached by all
        self.environment = {**{name: value for name, value in os.environ.items() if not name.startswith("SLURM")},
                            "SLURM_CONF": str(self.path / "slurm/slurm.conf"), "SLURM_LB_PORT": str(free_ports(NODES + 1)),
                            "IDLEWAVE_DIR": str(self.path / "sessions"), "XDG_CACHE_HOME": str(self.path / "cache"), "TMPDIR": "/tmp",
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}  # four nodes on a core or two
        self.addCleanup(self.take_down)
        up = self.slurm_loopback("up", str(NODES))
        if up.returncode != 0 or not re.search(rf"\b{NODES}\s+idle\b", up.stdout):
            self.skipTest("Slurm can't be started here: " + (up.stderr.strip().splitlines() or ["its nodes are not idle"])[-1])

    def slurm_loopback(self, *words):
        # Its daemons keep what they are given open.
        out, err = self.path / "testbed.out", self.path / "testbed.err"
        with open(out, "w") as o, open(err, "w") as e:
            done = subprocess.run(["bash", TESTBED, words[0], self.path / "slurm", *words[1:]], stdout=o, stderr=e,
                                  stdin=subprocess.DEVNULL,
                                  env=self.environment, timeout=PATIENCE)
        return subprocess.CompletedProcess(words, done.returncode, out.read_text(), err.read_text())

    def take_down(self):
        """Its daemons write into their folder until they have ended."""
        files = [*(self.path / "slurm").glob("*.pid"), self.path / "slurm/munge/munged.pid"]
        daemons = [file.read_text().strip() for file in files if file.exists()]
        self.slurm_loopback("down")
        self.wait_for(lambda: not any(pathlib.Path("/proc", daemon).exists() for daemon in daemons if daemon), "Slurm ends")

    def program(self, name):
        if not (PROGRAMS / name).exists():
            self.skipTest(f"{name} was not built: its MPI is not here")
        return str(PROGRAMS / name)

    def for_a_while(self, steps, pause):
        """A program that is there, at the price of a step each so many milliseconds."""
        return self.program("halo.openmpi"), steps, "1", "0", pause

    def call(self, *words, **extra):
        return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, cwd=self.path,
                              env={**self.environment, **extra})

    def idlewave(self, *words):
        return self.call(BIN / "idlewave", *words)

    def start_job(self, *command, session="s"):
        """A program with a recording, in a batch job; its number."""
        (self.path / "job").write_text("#!/bin/bash\n\"$@\"\necho code $?\n")
        done = self.call("sbatch", "--parsable", "-N", str(NODES), "-n", str(RANKS), "-o", "out", "job", BIN / "idlewave", "record",
                         f"{session}.iw", "--session", session, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def wait_for(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}: not in {PATIENCE} s\n{self.output()}")
            time.sleep(0.05)

    def output(self):
        out = self.path / "out"
        return out.read_text() if out.exists() else ""

    def wait_for_end(self, job):
        self.wait_for(lambda: not self.call("squeue", "-h", "-j", job).stdout.strip(), "the job ends")

    def wait_for_ranks(self, session="s"):
        self.wait_for(lambda: self.watch(session).get("ranks") == RANKS, "all ranks report")

    def watch(self, session="s"):
        done = self.idlewave("attach", session, "--headless", "1s", "--json")
        return json.loads(done.stdout) if done.stdout else {}

    def information(self, file="s.iw"):
        return json.loads(self.idlewave("info", file, "--json").stdout)

    def nodes_shown(self, screen):
        return sorted(set(re.findall(r"\bn\d\b(?= · ranks)", screen)))

    def check_seen_whole(self, *launcher_and_program):
        alone = self.call(*launcher_and_program)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        done = self.idlewave("run", "--headless", "--size", "160x60", "--record", "s.iw", "--", *launcher_and_program)
        self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
        self.assertIn("agents connect to tcp://", done.stderr)
        self.assertEqual(self.nodes_shown(done.stderr), [f"n{i}" for i in range(1, NODES + 1)], done.stderr)
        self.assertEqual(self.idlewave("info", "--check", "s.iw").returncode, 0, done.stderr)
        self.assertEqual(self.information()["ranks"], RANKS)


class Nodes(Slurm):
    def test_all_are_seen_with_open_mpi(self):
        self.check_seen_whole("srun", "--mpi=pmix", f"-N{NODES}", f"-n{RANKS}", self.program("halo.openmpi"), "200", "1")

    def test_all_are_seen_with_mpich(self):
        self.check_seen_whole("srun", "--mpi=pmi2", f"-N{NODES}", f"-n{RANKS}", self.program("halo.mpich"), "200", "1")

    def test_all_are_seen_in_a_job_under_mpirun(self):
        self.wait_for_end(self.start_job("mpirun.openmpi", self.program("halo.openmpi"), "200", "1"))
        self.assertIn("code 0", self.output())
        self.assertEqual(self.idlewave("info", "--check", "s.iw").returncode, 0, self.output())

    def test_hydra_gives_ranks_the_environment_of_another_node(self):
        self.wait_for_end(self.start_job("mpiexec.mpich", "-localhost", "127.0.0.1", self.program("halo.mpich"), "200", "1"))
        self.assertIn("code 0", self.output())
        self.assertEqual(self.idlewave("info", "--check", "s.iw").returncode, 0, self.output())

    def test_the_batch_script_of_the_document_works_as_it_stands(self):
        script = re.search(r"^```\n(#!/bin/bash\n.*?)^```$", (ROOT / "docs/cluster.md").read_text(), re.DOTALL | re.MULTILINE)
        (self.path / "job").write_text(script[1])
        done = self.call("sbatch", "--parsable", "--wait", "-o", "out", "job", IDLEWAVE=str(BIN / "idlewave"),
                         PROGRAM=self.program("halo.openmpi"), ARGUMENTS="60 1")
        self.assertEqual(done.returncode, 0, done.stderr + self.output())
        recording = f"session-{done.stdout.strip()}.iw"
        self.assertEqual(self.idlewave("info", "--check", recording).returncode, 0, self.output())
        self.assertEqual(self.information(recording)["ranks"], 16)

    def test_an_mpi_that_does_not_understand_srun_is_named(self):
        done = self.idlewave("run", "--headless", "--", "srun", "--mpi=pmix", f"-N{NODES}", f"-n{RANKS}",
                             self.program("halo.mpich"), "5", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"it is rank 0 of 1, while its launcher has started {RANKS} processes", done.stderr)

    def test_whoever_attaches_from_elsewhere_sees_all_and_leaves_it_running(self):
        job = self.start_job("srun", "--mpi=pmix", *self.for_a_while("300", "30"))
        self.wait_for_ranks()
        self.assertRegex(self.idlewave("attach").stdout, r"(?m)^s .*\(on n1\)$")
        # How many ranks there are each node says, before the others have reported.
        every_node = [f"n{i}" for i in range(1, NODES + 1)]
        look = lambda: self.nodes_shown(self.idlewave("attach", "s", "--headless", "1s", "--size", "160x60").stderr)
        self.wait_for(lambda: look() == every_node, "all nodes are shown")
        self.assertTrue(self.call("squeue", "-h", "-j", job).stdout.strip(), "it goes on")
        self.wait_for_end(job)
        self.assertIn("code 0", self.output())
        self.assertEqual(self.idlewave("info", "--check", "s.iw").returncode, 0, self.output())

    def agents(self):
        """Node and process of those of this test."""
        found = {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                environment = dict(word.split("=", 1) for word in (process / "environ").read_text().split("\0") if "=" in word)
                is_ours = environment.get("IDLEWAVE_DIR") == self.environment["IDLEWAVE_DIR"]
                if (process / "comm").read_text() == "idlewave-agent\n" and is_ours:
                    found[environment["SLURMD_NODENAME"]] = int(process.name)
            except OSError:
                continue
        return found

    def test_a_killed_agent_is_named_and_another_goes_on(self):
        job = self.start_job("srun", "--mpi=pmix", *self.for_a_while("300", "30"))
        self.wait_for_ranks()
        self.wait_for(lambda: len(self.agents()) == NODES, "each node has an agent")
        os.kill(self.agents()["n2"], signal.SIGKILL)
        self.wait_for_end(job)
        self.assertIn("code 0", self.output())
        was_lost = "node n2 was silent: its agent was started again" in self.output()  # It may have told all that was in no ring.
        self.assertRegex(self.output(), r"n2, process \d+: the agent \(process \d+\) was ended by signal 9")
        self.assertEqual(self.idlewave("info", "--check", "s.iw").returncode, int(was_lost))

    def test_agents_that_reach_no_port_report_over_steps_of_the_job(self):
        (self.path / "job").write_text("#!/bin/bash\n\"$@\"\necho code $?\n")
        launcher = ["srun", "--overlap", "--mpi=pmix", *self.for_a_while("150", "20")]
        done = self.call("sbatch", "--wait", "-N", str(NODES), "-n", str(RANKS), "-o", "out", "job", BIN / "idlewave", "record", "s.iw",
                         "--session", "s", "--agents-over", "srun --overlap -N1 -n1 -w {}", "--", *launcher)
        self.assertEqual(done.returncode, 0, done.stderr + self.output())
        self.assertIn("code 0", self.output())
        self.assertIn("agents on n2, n3, n4 report over 'srun --overlap -N1 -n1 -w n2' and the like", self.output())
        self.assertEqual(self.idlewave("info", "--check", "s.iw").returncode, 0, self.output())
        self.assertEqual([clock["node"] for clock in self.information()["clocks"]], [f"n{i}" for i in range(1, NODES + 1)])
        self.assertEqual(self.information()["ranks"], RANKS)
        self.assertEqual(list((self.path / "sessions").iterdir()), [])
        self.assertFalse((self.path / "cache").exists())

    def test_a_job_that_is_cancelled_leaves_a_whole_recording(self):
        job = self.start_job("srun", "--mpi=pmix", *self.for_a_while("100000", "30"))
        self.wait_for_ranks()
        self.call("scancel", job)
        self.wait_for_end(job)
        self.wait_for(lambda: self.information().get("closed"), "the recording is closed")
        information = self.information()
        self.assertEqual((information["complete"], information["ranks"]), (True, RANKS), information)
        self.assertTrue(information["lost_ranks"], information)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)

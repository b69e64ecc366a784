#!/usr/bin/env python3
"""Programs that `mpirun` starts on another host over ssh, a real client and a real server, watched as a user does. A test is skipped where
such hosts can't be made. Usage: ssh_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN, PROGRAMS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
HOSTS = pathlib.Path(__file__).resolve().parent / "ssh_hosts.sh"
PATIENCE = 100 * int(os.environ.get("IDLEWAVE_TEST_PATIENCE", "1"))
OF_ITS_OWN = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
RANKS = 4


class Ssh(unittest.TestCase):
    def setUp(self):
        path = os.environ["PATH"] + ":/usr/sbin"
        missing = [name for name in ("ssh", "ssh-keygen", "dropbear", "dropbearkey") if not shutil.which(name, path=path)]
        if missing:
            self.skipTest(f"ssh is not here: {', '.join(missing)} not found. Debian: apt install openssh-client dropbear-bin")
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-ssh-")))
        self.path.chmod(0o755)  # sshd asks for a home that others can't write, and that it can pass through
        for folder in ("sessions", "mpi"):
            (self.path / folder).mkdir(mode=0o700)
        self.environment = {**{name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "XDG"))},
                            "PLACE": str(self.path), "HOME": str(self.path / "home"), "IDLEWAVE_DIR": str(self.path / "sessions"),
                            # Named by host and PID below it, which are those of another test beside this one.
                            "OMPI_MCA_orte_tmpdir_base": str(self.path / "mpi"),
                            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}  # two hosts on a core or two
        trial = self.on_n1("ssh", "n2", "hostname")
        if trial.stdout != "n2\n":
            self.skipTest("ssh leads to no host here: " + (trial.stderr.strip().splitlines() or ["unshare fails"])[-1])

    def on_n1(self, *words):
        for made in (path for path in self.path.iterdir() if path.name.startswith(("server", "end", "home"))):
            shutil.rmtree(made) if made.is_dir() else made.unlink()
        return subprocess.run([*OF_ITS_OWN, "sh", HOSTS, *words], capture_output=True, text=True, timeout=PATIENCE, cwd=self.path,
                              stdin=subprocess.DEVNULL, env=self.environment)

    def halo(self, *arguments):
        """Two ranks on each host. Of Open MPI alone: MPICH's UCX finds no way from one such host to another at times, watched or not."""
        program = PROGRAMS / "halo.openmpi"
        if not program.exists():
            self.skipTest(f"{program.name} was not built: its MPI is not here")
        return ["mpirun.openmpi", "-H", "n1:2,n2:2", str(program), *arguments]

    def call(self, *words):
        return subprocess.run([BIN / "idlewave", *words], capture_output=True, text=True, timeout=PATIENCE, cwd=self.path,
                              stdin=subprocess.DEVNULL, env=self.environment)

    def check_recording(self):
        checked = self.call("info", "--check", "s.iw")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        information = json.loads(self.call("info", "s.iw", "--json").stdout)
        self.assertEqual((information["ranks"], [clock["node"] for clock in information["clocks"]]), (RANKS, ["n1", "n2"]))
        self.assertEqual(list((self.path / "sessions").iterdir()), [])

    def check_seen_whole(self, code, *options):
        command = self.halo("200", "1", str(code))
        alone = self.on_n1(*command)
        done = self.on_n1(BIN / "idlewave", "run", "--headless", "--record", "s.iw", *options, "--", *command)
        self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout), done.stderr)
        self.assertEqual(done.returncode, code, done.stderr)
        self.check_recording()
        return done.stderr

    def test_mpirun_starts_ranks_on_another_host(self):
        self.assertIn("agents connect to tcp://10.99.0.1:", self.check_seen_whole(0))

    def test_a_code_of_a_rank_on_the_other_host_is_the_programs(self):
        self.check_seen_whole(7)

    def test_agents_report_over_ssh(self):
        self.assertIn("agents on n2 report over 'ssh n2'", self.check_seen_whole(0, "--agents-over", "ssh"))

    def start_session_and(self, *lines):
        """A session `s` with ranks on both hosts, of which n1 has the screen; lines of a shell on n1 beside it."""
        script = self.path / "both.sh"
        script.write_text("\n".join([
            f"{BIN}/idlewave run --headless --allow-inject --session s --record s.iw -- {' '.join(self.halo('300', '1', '0', '30'))} &",
            *lines, "wait $!"]) + "\n")
        done = self.on_n1("sh", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_recording()
        return done.stderr

    def until_seen_from_n2(self, over):
        """A line of a shell: what `attach` says there goes into the file `seen`."""
        attach = f"ssh n2 \"{BIN}/idlewave attach s --over '{over}' --headless 1s --json\" > seen"
        return f"until {attach} && grep -q '\"ranks\": *{RANKS}' seen; do kill -0 $! || break; done"

    def seen(self):
        return json.loads((self.path / "seen").read_text())

    def program_there(self):
        return f"env IDLEWAVE_DIR={self.path}/sessions {BIN}/idlewave"

    def test_a_screen_comes_over_ssh(self):
        self.start_session_and(self.until_seen_from_n2(f"ssh n1 {self.program_there()}"))
        self.assertEqual(self.seen()["ranks"], RANKS)

    def test_a_key_for_a_window_opens_no_more_than_that(self):
        (self.path / "window").mkdir()
        key = self.path / "window/key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, timeout=PATIENCE)
        forced = f'restrict,command="{self.program_there()} carry s --view" '
        (self.path / "window/line").write_text(forced + key.with_suffix(".pub").read_text())
        over = f"ssh -o IdentitiesOnly=yes -i {key} n1"
        says = self.start_session_and(f"cat {self.path}/window/line >> {self.path}/home/.ssh/authorized_keys",
                                      self.until_seen_from_n2(over),
                                      f"{BIN}/idlewave inject --session s --over '{over}' --ranks 3 --delay 20ms; echo code $? >&2")
        self.assertEqual(self.seen()["ranks"], RANKS)
        self.assertIn("code 1", says)
        self.assertEqual(json.loads(self.call("info", "s.iw", "--json").stdout)["delays"], 0)

    def test_a_host_to_which_no_ssh_leads_ends_the_program_as_alone(self):
        command = [word.replace("n2:", "n3:") for word in self.halo("20", "1")]
        alone = self.on_n1(*command)
        done = self.on_n1(BIN / "idlewave", "run", "--headless", "--", *command)
        self.assertNotEqual(alone.returncode, 0)
        self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

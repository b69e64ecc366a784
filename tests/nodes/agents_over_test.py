#!/usr/bin/env python3
"""Programs with ranks on hosts that no network joins: what their agents say comes over the streams of a command. A test is skipped where
such hosts can't be made. Usage: agents_over_test.py FOLDER-OF-IDLEWAVE [unittest options]"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv[1]).resolve()
HOSTS = pathlib.Path(__file__).resolve().parent / "lone_hosts.sh"
PATIENCE = 100 * int(os.environ.get("IDLEWAVE_TEST_PATIENCE", "1"))
OF_ITS_OWN = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
STEP_US = 2000


class Place(unittest.TestCase):
    """Two programs in PATH: `on`, which leads to a host, and an mpirun that goes by it."""

    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="iw-lone-")))
        for folder in ("hosts", "sessions", "bin"):
            (self.path / folder).mkdir(mode=0o700)
        self.script("bin/on", f'exec sh {HOSTS} on "$@"')
        self.script("bin/mpirun.openmpi", f'exec sh {HOSTS} mpirun "$@"')
        self.environment = {**{name: value for name, value in os.environ.items() if not name.startswith("SLURM")},
                            "HOSTS": str(self.path / "hosts"), "IDLEWAVE_DIR": str(self.path / "sessions"), "TEST": str(self.path),
                            "XDG_CACHE_HOME": str(self.path / "cache"), "PATH": f"{self.path}/bin:{BIN}:{os.environ['PATH']}"}

    def script(self, name, text):
        path = self.path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def call(self, *words):
        return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, cwd=self.path,
                              env=self.environment)


def why_no_hosts():
    with tempfile.TemporaryDirectory(prefix="iw-lone-") as folder:
        try:
            done = subprocess.run([*OF_ITS_OWN, "sh", HOSTS, "up", "2", "sh", HOSTS, "on", "n2", "true"], capture_output=True, text=True,
                                  timeout=PATIENCE, stdin=subprocess.DEVNULL, env={**os.environ, "HOSTS": folder})
        except OSError as error:
            return str(error)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["unshare fails"])[-1]


class AgentsOver(Place):
    def setUp(self):
        super().setUp()
        why = why_no_hosts()
        if why:
            self.skipTest("hosts of their own can't be made here: " + why)
        self.session = None

    def start(self, *words, hosts=2, over="on", program=("dated_steps", "500", str(STEP_US)), launcher=None, options=()):
        """`run` on n1, of a program with a rank on each host."""
        (self.path / "s.iw").unlink(missing_ok=True)
        names = ",".join(f"n{number}" for number in range(1, hosts + 1))
        command = [*OF_ITS_OWN, "sh", HOSTS, "up", str(hosts), BIN / "idlewave", "run", "--headless", "--session", "s", "--record", "s.iw",
                   "--agents-over", over, *options, "--", *(launcher or ("mpirun.openmpi", "-H", names)), *program, *words]
        self.session = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.path,
                                        env=self.environment)
        self.addCleanup(self.session.wait)
        self.addCleanup(self.session.kill)
        return self.session

    def end(self, text=b""):
        """Exit code, output and error; nothing of a host outlives the first process of all."""
        out, err = self.session.communicate(text, timeout=PATIENCE)
        return self.session.returncode, out.decode(), err.decode()

    def run_whole(self, *words, **options):
        self.start(*words, **options)
        return self.end()

    def processes(self, sign, name="idlewave"):
        """Of this test, called so and with this word on their command lines."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                is_ours = f"TEST={self.path}\0".encode() in (process / "environ").read_bytes()
                words = (process / "cmdline").read_bytes().split(b"\0")
                if is_ours and sign.encode() in words and (process / "comm").read_text().startswith(name):
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def node_of(self, process):
        return self.call("nsenter", "--target", str(process), "--uts", "hostname").stdout.strip()

    def carriers(self):
        return {self.node_of(process): process for process in self.processes("--agents")}

    def agents(self):
        return {self.node_of(process): process for process in self.processes("--session", "idlewave-agent")}

    def wait_for(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not (found := condition()):
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.05)
        return found

    def wait_until_all_report(self, hosts=2):
        def nodes():
            runs = self.processes("--agents-over", "iw-host")
            told = self.on_n1(runs[0], "attach", "s", "--headless", "300ms", "--json").stdout if runs else ""
            return len(json.loads(told)["clocks"]) if told else 0
        self.wait_for(lambda: nodes() == hosts, "all ranks report")
        self.wait_for(lambda: len(self.carriers()) == hosts - 1, "carriers are there")

    def on_n1(self, host, *words):
        return self.call("nsenter", "--target", str(host), "--uts", "--pid", "--mount", "--", BIN / "idlewave", *words)

    def information(self):
        return json.loads(self.call(BIN / "idlewave", "info", "s.iw", "--json").stdout)

    def check_whole(self, ranks, nodes):
        done = self.call(BIN / "idlewave", "info", "--check", "s.iw")
        self.assertEqual(done.returncode, 0, done.stderr)
        information = self.information()
        self.assertEqual(information["ranks"], ranks)
        self.assertEqual([clock["node"] for clock in information["clocks"]], nodes)

    def check_nothing_is_left(self):
        self.assertEqual(sorted(path.name for path in (self.path / "sessions").iterdir()), [])

    # --- what comes over it ---

    def test_ranks_of_all_hosts_are_recorded_whole(self):
        code, out, err = self.run_whole(hosts=3)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(out.splitlines()), 1500)
        self.assertIn("agents on n2, n3 report over 'on n2' and the like", err)
        self.check_whole(3, ["n1", "n2", "n3"])
        self.check_nothing_is_left()

    def test_the_node_stands_where_braces_are(self):
        self.script("bin/step", 'test "$1" = -w && test "$3" = -u && shift && host=$1 && shift 2 && exec on "$host" "$@"')
        code, _, err = self.run_whole(over="step -w '{}' -u")
        self.assertEqual(code, 0, err)
        self.check_whole(2, ["n1", "n2"])

    def test_every_folder_is_the_nodes_own(self):
        """As where /tmp is each node's."""
        (self.path / "far").mkdir(mode=0o700)
        self.script("bin/on", f'h=$1; shift; exec sh {HOSTS} on "$h" unshare --mount sh -c \'mount --bind $TEST/far $TEST/sessions; '
                              'exec "$@"\' sh "$@"')
        code, _, err = self.run_whole()
        self.assertEqual(code, 0, err)
        self.check_whole(2, ["n1", "n2"])
        self.assertEqual(list((self.path / "far").iterdir()), [])

    def test_nobody_listens_at_a_port(self):
        self.start(program=("dated_steps", "1000", str(STEP_US)))
        self.wait_until_all_report()
        for process in (*self.processes("--agents-over", "iw-host"), *self.carriers().values()):
            for table in ("tcp", "tcp6", "udp", "udp6"):
                self.assertEqual(pathlib.Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:], [])
        self.assertEqual(self.end()[0], 0)
        self.assertFalse((self.path / "cache").exists())

    def test_exit_code_output_and_input_are_the_programs(self):
        self.script("bin/reader", 'test "$1" = 0 && cat; exec dated_steps 50 2000 "$@" > /dev/null')
        self.start(program=("sh", "-c", 'reader "$@"; exit 7', "sh"), hosts=2)
        code, out, err = self.end(b"a line\nand another\n")
        self.assertEqual((code, out), (7, "a line\nand another\n"), err)
        self.check_whole(2, ["n1", "n2"])

    def test_a_program_that_is_over_at_once_is_seen_whole(self):
        self.script("bin/slow", 'sleep 1; exec on "$@"')
        code, _, err = self.run_whole(over="slow", program=("dated_steps", "3", "1000"))
        self.assertEqual(code, 0, err)
        self.check_whole(2, ["n1", "n2"])

    def test_orders_reach_ranks_of_the_other_host(self):
        self.start(options=["--allow-inject"], program=("dated_steps", "3000", str(STEP_US)))
        self.wait_until_all_report()
        host, = self.processes("--allow-inject", "iw-host")
        done = self.on_n1(host, "inject", "--session", "s", "--ranks", "1", "--delay", "50ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        code, _, err = self.end()
        self.assertEqual(code, 0, err)
        self.assertEqual(self.information()["delays"], 1)

    def test_a_trace_as_long_as_an_order_carries_is_played_on_both_hosts(self):
        (self.path / "noise.txt").write_text("".join(f"{1000000 * i} 300000\n" for i in range(16384)))
        self.start(options=["--allow-inject"], program=("dated_steps", "3000", str(STEP_US)))
        self.wait_until_all_report()
        host, = self.processes("--allow-inject", "iw-host")
        done = self.on_n1(host, "inject", "--session", "s", "--noise", f"trace:{self.path}/noise.txt")
        self.assertEqual(done.returncode, 0, done.stderr)
        code, _, err = self.end()
        self.assertEqual(code, 0, err)
        told = json.loads(self.call(BIN / "idlewave", "report", "s.iw", "--json").stdout)
        self.assertEqual(len(told["commands"]), 1, told["commands"])
        noise = told["commands"][0]
        self.assertEqual((noise["file"], noise["detours"], noise["outcome"]), ("noise.txt", 16384, "accepted"))
        self.assertEqual(len(told["time_by_rank"]["delay_s"]), 2)
        for held in told["time_by_rank"]["delay_s"]:
            self.assertGreater(held, 0)

    # --- who is killed ---

    def test_a_killed_carrier_is_named_and_the_program_unharmed(self):
        self.start(program=("dated_steps", "3000", str(STEP_US)))
        self.wait_until_all_report()
        os.kill(self.carriers()["n2"], signal.SIGKILL)
        code, out, err = self.end()
        self.assertEqual((code, len(out.splitlines())), (0, 6000), err)
        self.assertIn("n2: 'on n2': the stream has ended", err)
        self.assertIn("incomplete", err)
        self.assertEqual(self.call(BIN / "idlewave", "info", "--check", "s.iw").returncode, 1)

    def test_a_killed_command_takes_its_carrier_along(self):
        self.start(program=("dated_steps", "3000", str(STEP_US)))
        self.wait_until_all_report()
        command, = self.processes("--agents", "nsenter")
        os.kill(command, signal.SIGKILL)
        self.wait_for(lambda: not self.carriers(), "the carrier ends")
        code, _, err = self.end()
        self.assertEqual(code, 0, err)
        self.assertIn("n2: 'on n2': the stream has ended", err)

    def test_a_killed_agent_is_named_and_another_goes_on(self):
        self.start(program=("dated_steps", "3000", str(STEP_US)))
        self.wait_until_all_report()
        os.kill(self.agents()["n2"], signal.SIGKILL)
        code, _, err = self.end()
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"n2, process \d+: the agent \(process \d+\) was ended by signal 9")
        was_lost = "node n2 was silent: its agent was started again" in err  # It may have told all that it had taken out of the rings.
        self.assertEqual(self.call(BIN / "idlewave", "info", "--check", "s.iw").returncode, int(was_lost), err)
        steps = self.call(BIN / "iw-print-steps", self.path / "s.iw").stdout
        self.assertIn("2999", [line.split()[2] for line in steps.splitlines() if line.split()[1] == "1"])

    def test_a_killed_host_leaves_no_command_and_no_carrier(self):
        self.start(program=("dated_steps", "3000", str(STEP_US)))
        self.wait_until_all_report()
        host, = self.processes("--agents-over", "iw-host")
        os.kill(host, signal.SIGKILL)
        self.wait_for(lambda: not self.processes("--agents", ""), "commands and carriers end")
        code, out, err = self.end()
        self.assertEqual((code, len(out.splitlines())), (125, 6000), err)

    def test_an_interrupt_is_the_programs_alone(self):
        self.start(program=("dated_steps", "1500", str(STEP_US)))
        self.wait_until_all_report()
        run, = self.processes("--agents-over", "idlewave")
        os.kill(run, signal.SIGINT)
        code, _, err = self.end()
        self.assertEqual(code, 130, err)
        self.assertNotIn("the stream has ended", err)

    # --- what does not lead there ---

    def test_a_command_that_fails_is_named_with_its_last_line(self):
        for text, says in (("echo one >&2; echo 'no such host' >&2; exit 255", "the stream has ended: no such host"),
                           ("echo 'This account is currently not available.'; exit 1", "the stream has ended: This account is currently"),
                           ("printf 'idlewave-agents\\t9\\ts\\n'; exec sleep 100", "version 9 of the stream"),
                           ("exec yes sir", "leads to no idlewave, but said 'sir")):
            with self.subTest(text=text):
                code, out, err = self.run_whole(over=self.script("bin/fails", text), program=("dated_steps", "20", "1000"))
                self.assertEqual((code, len(out.splitlines())), (0, 40), err)
                self.assertIn("n2: '" + self.path.as_posix() + "/bin/fails n2': ", err)
                self.assertIn(says, err)

    def test_a_command_that_hangs_delays_nothing_for_long_and_is_ended(self):
        over = self.script("bin/hangs", "trap '' TERM; sleep 1000 & wait; sleep 1000")
        code, _, err = self.run_whole(over=over, program=("dated_steps", "20", "1000"))
        self.assertEqual(code, 0, err)
        self.assertIn("nothing has come from there in time", err)
        self.assertEqual(self.processes("1000", ""), [])

    def test_what_ranks_there_could_not_do_is_told(self):
        """Before anybody looks after them, too."""
        self.script("bin/slow", 'until [ -e $TEST/done ]; do sleep 0.02; done; exec on "$@"')
        self.script("bin/refused", 'test "$1" = 0 || export IDLEWAVE_AGENT=/nowhere/idlewave-agent; dated_steps 30 2000 "$@"; '
                                   'if [ "$1" = 0 ]; then cat; else : > $TEST/done; fi')
        self.start(program=("refused",), over="slow")
        self.wait_for(self.carriers, "a carrier is there")
        code, _, err = self.end()
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"n2, process \d+: .*/nowhere/idlewave-agent")
        self.check_nothing_is_left()


class Words(Place):
    """What is refused before anything is started."""

    def refusal(self, *words):
        done = self.call(BIN / "idlewave", *words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def refusal_to_run(self, over, *command, options=()):
        started = self.path / "started"
        says = self.refusal("run", "--headless", "--agents-over", over, *options, "--", *command, "touch", started)
        self.assertFalse(started.exists())
        return says

    def test_nodes_have_to_be_known(self):
        says = self.refusal_to_run("on", "env")
        self.assertIn("on which nodes its ranks will be can't be told", says)
        self.assertIn("known inside of a Slurm job only", self.refusal_to_run("on", "salloc"))
        self.assertIn("nobody.hosts", self.refusal_to_run("on", "mpirun.openmpi", "--hostfile", "nobody.hosts"))
        self.assertIn("'-oProxyCommand=x' is no name of a node", self.refusal_to_run("on", "mpirun.openmpi", "-H", "n2,-oProxyCommand=x"))

    def test_the_command_has_to_be_one(self):
        for over, says in (("", "is empty"), ("on 'n2", "is no command"), ("a | b", "is no command"), ("on $(date)", "is no command"),
                           ("nobody-has-this", "nobody-has-this: not found")):
            with self.subTest(over=over):
                self.assertIn(says, self.refusal_to_run(over, "mpirun.openmpi", "-H", "n2"))

    def test_one_way_is_enough(self):
        says = self.refusal_to_run("on", "mpirun.openmpi", "-H", "n2", options=["--listen", "tcp://*:*"])
        self.assertIn("--listen", says)
        self.assertIn("--agents-over", self.refusal("record", "f.iw", "--session", "s", "--agents-over", "on"))

    def test_the_session_has_to_be_named_to_a_carrier(self):
        self.assertIn("name of the session", self.refusal("carry", "--agents"))

    def test_a_second_carrier_of_a_session_is_refused(self):
        words = [BIN / "idlewave", "carry", "s", "--agents"]
        first = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment)
        self.addCleanup(first.stdout.close)
        self.assertEqual(first.stdout.readline(), b"idlewave-agents\t1\ts\n")
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("a session 's' runs already", done.stderr)
        first.stdin.close()
        self.assertEqual(first.wait(PATIENCE), 0)
        self.assertEqual(list((self.path / "sessions").iterdir()), [])

    def test_a_carrier_that_is_asked_to_end_leaves_nothing(self):
        process = subprocess.Popen([BIN / "idlewave", "carry", "s", "--agents", "--dir", self.path / "sessions"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env={**self.environment, "IDLEWAVE_DIR": "/nowhere"})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        process.stdout.readline()
        socket = self.path / "sessions/s/monitor.sock"
        self.assertEqual((socket.stat().st_mode & 0o777, socket.parent.stat().st_mode & 0o777), (0o600, 0o700))
        process.terminate()
        process.wait(PATIENCE)
        self.assertEqual(list((self.path / "sessions").iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)

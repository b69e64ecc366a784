#!/usr/bin/env python3
"""Attaches to simulations while they run, and commands them. Usage: watched_test.py FOLDER-OF-PROGRAMS"""
import json
import pathlib
import re
import signal
import subprocess
import time

from simulations import BIN, COLLECTIVE, NETWORK, PATIENCE, RING, SimTest, main


class Watched(SimTest):
    def test_a_demo_runs_with_simulated_ranks(self):
        done = self.call("demo", "memory-bound", "--simulated", "--headless", "6s", "--ranks", "40", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["ranks"], report["dropped"]), (40, 0))
        self.assertEqual([wave["origin_rank"] for wave in report["waves"]], [5])
        self.assertEqual([command["outcome"] for command in report["commands"]], ["accepted"])

    def test_a_demo_on_a_network_keeps_the_delays_of_its_scenario(self):
        delay = '[[delay]]\nrank = 5\nstep = 5\nduration = "288 ms"\n'
        scenario = self.write("delayed.toml", COLLECTIVE + delay)
        done = self.call("demo", scenario, "--simulated", "--headless", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual([(wave["origin_rank"], wave["cause"]) for wave in report["waves"]], [(5, "own_delay")])
        self.assertGreater(report["duration_s"], 20 * 0.001 + 0.288)
        self.assertAlmostEqual(report["duration_s"], json.loads(self.call("sim", scenario, "--json").stdout)["makespan_s"], places=8)

    def test_a_demo_ends_after_its_time_or_its_steps_whichever_comes_first(self):
        lasted = {}
        for steps in ("5", "100000"):
            done = self.call("demo", "core-bound", "--simulated", "--headless", "1s", "--steps", steps, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            lasted[steps] = json.loads(done.stdout)["duration_s"]
        self.assertLess(lasted["5"], 1)
        self.assertAlmostEqual(lasted["100000"], 1, places=1)

    def test_a_simulated_demo_is_a_session_to_join_and_to_command(self):
        demo = self.start("demo", "memory-bound", "--simulated", "--headless", "6s", "--ranks", "40", "--json")
        deadline = time.monotonic() + 60
        while not (names := self.call("attach").stdout.split()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertEqual(len(names), 1)
        watcher = self.start("attach", names[0], "--headless", "--json")
        ordered = self.call("inject", "--session", names[0], "--ranks", "20", "--delay", "70ms")
        self.assertEqual((ordered.returncode, ordered.stderr), (0, ""))
        (seen, err), (shown, _) = watcher.communicate(timeout=PATIENCE), demo.communicate(timeout=PATIENCE)
        self.assertEqual((watcher.returncode, demo.returncode), (0, 0), err)
        self.assertEqual(json.loads(seen)["ranks"], 40)
        self.assertIn([20], [command["ranks"] for command in json.loads(shown)["commands"]])
        self.assertEqual(list((self.path / "sessions").iterdir()), [])

    def start(self, *arguments):
        process = subprocess.Popen([BIN / "idlewave", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=self.environment)
        self.addCleanup(process.kill)
        return process

    def watch(self, *simulation):
        """A live simulation and its recorder."""
        endpoint = f"ipc://{self.path}/stream"
        sim = self.start("sim", *simulation, "--realtime", "--stream", endpoint)
        deadline = time.monotonic() + 60
        while not (self.path / "stream").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        recorder = self.start("attach", endpoint, "--headless", "--record", str(self.path / "live.iw"))
        while not (self.path / "live.iw").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        time.sleep(0.5)
        return endpoint, sim, recorder

    def test_over_tcp_it_is_watched_by_those_who_have_its_keys(self):
        sim = self.start("sim", self.scenario, *self.CORE_BOUND, "--set", "program.steps=100000", "--realtime",
                         "--allow-inject", "--stream", "tcp://127.0.0.1:*")
        line = sim.stderr.readline()
        self.assertRegex(line,
                         r"^idlewave: to watch: idlewave attach tcp://127.0.0.1:\d+ --key \S+key.operator"
                         r" \(or, to look on only, \S+key.viewer\)$")
        endpoint, key, view = re.search(r"(tcp://\S+) --key (\S+) .* (\S+)\)", line).groups()
        order = ["inject", "--session", endpoint, "--ranks", "2", "--delay", "50ms"]
        for flags, code, says in (([], 2, "--key"), (["--key", view], 1, "spectator"), (["--key", key], 0, "")):
            done = self.call(*order, *flags)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)
        done = self.call("attach", endpoint, "--headless")
        self.assertEqual(done.returncode, 2)
        self.assertIn("key.operator or key.viewer", done.stderr)
        watcher = self.start("attach", endpoint, "--headless", "--json", "--key", view)
        time.sleep(1)
        sim.send_signal(signal.SIGINT)
        out, _ = watcher.communicate(timeout=PATIENCE)
        self.assertEqual(watcher.returncode, 0)
        self.assertEqual(json.loads(out)["ranks"], 8)
        sim.communicate(timeout=PATIENCE)
        self.assertEqual(sim.returncode, 0)
        self.assertFalse(pathlib.Path(key).parent.exists())

    def report(self):
        return json.loads(self.call("report", str(self.path / "live.iw"), "--json").stdout)

    # A run of four seconds. With a sanitizer five commands, one behind the other, take longer.
    STEP_MS = 20 if PATIENCE == 60 else 80
    CORE_BOUND = ["--set", "machine.ranks=8", "--set", "program.kernel=core", "--set", f"program.time={STEP_MS}ms", "--without-delays"]

    def test_commands_take_effect_and_are_taken_back(self):
        endpoint, *processes = self.watch(self.scenario, *self.CORE_BOUND, "--allow-inject")
        def inject(*order):
            done = self.call("inject", "--session", endpoint, *order)
            self.assertEqual(done.returncode, 0, done.stderr)
        inject("--ranks", "2", "--delay", "50ms", "--at-step", "190")
        inject("--ranks", "2", "--clear")
        inject("--ranks", "1", "--delay", "50ms", "--at-step", "190")
        inject("--ranks", "1", "--delay", "70ms", "--at-step", "190")
        inject("--ranks", "3", "--noise", "exp:1ms")
        for process in processes:
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0)
        report = self.report()
        taken_back, clear, first, second, noise = report["commands"]
        self.assertTrue(report["complete"])
        self.assertIsNone(taken_back["took_effect_s"])
        self.assertAlmostEqual(first["ended_s"] - first["took_effect_s"], 0.05, delta=1e-6)
        self.assertEqual(second["took_effect_s"], first["ended_s"])
        self.assertAlmostEqual(second["ended_s"] - second["took_effect_s"], 0.07, delta=1e-6)
        self.assertGreaterEqual(noise["took_effect_s"], noise["sent_s"] - 0.1)
        self.assertLess(noise["took_effect_s"], first["took_effect_s"])

    def test_clear_lets_go_of_a_rank_that_is_held(self):
        endpoint, *processes = self.watch(self.scenario, *self.CORE_BOUND, "--allow-inject")
        for order in (["--ranks", "2", "--delay", "50min"], ["--clear"]):
            self.assertEqual(self.call("inject", "--session", endpoint, *order).returncode, 0)
            time.sleep(0.5)
        for process in processes:
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, err)
        report = self.report()
        held, clear = report["commands"]
        self.assertEqual((report["complete"], report["dropped"], report["steps"]), (True, 0, 200))
        self.assertEqual(clear["outcome"], "accepted")
        self.assertGreater(held["ended_s"] - held["took_effect_s"], 0.3)
        self.assertAlmostEqual(report["duration_s"], 200 * self.STEP_MS / 1000 + held["ended_s"] - held["took_effect_s"], delta=1e-6)

    def test_commands_are_refused_unless_they_were_allowed(self):
        endpoint, sim, recorder = self.watch(self.scenario, *self.CORE_BOUND)
        refused = self.call("inject", "--session", endpoint, "--ranks", "2", "--delay", "50ms")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--allow-inject", refused.stderr)
        self.assertEqual(self.call("inject", "--session", endpoint, "--ranks", "2", "--clear").returncode, 0)
        sim.send_signal(signal.SIGINT)
        for process in (sim, recorder):
            process.communicate(timeout=PATIENCE)

    def test_a_run_on_a_network_is_watched_and_takes_no_orders(self):
        slow = ["--set", "program.steps=100000", "--set", "program.time=20ms"]
        endpoint, *processes = self.watch(self.write("collective.toml", COLLECTIVE), *slow, "--allow-inject")
        refused = self.call("inject", "--session", endpoint, "--ranks", "2", "--delay", "50ms")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("network", refused.stderr)
        self.assertEqual(self.call("inject", "--session", endpoint, "--clear").returncode, 0)
        processes[0].send_signal(signal.SIGINT)
        for process in processes:
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0)
        report = self.report()
        self.assertEqual((report["ranks"], report["complete"]), (64, True))
        self.assertGreater(report["steps"], 10)

    # Twelve ranks that calculate for so long and exchange messages with their right neighbours, forty times, rank 4 once for longer.
    def halo(self, name, work_ms=25):
        ranks, steps, text = 12, 40, ""
        for rank in range(ranks):
            text += f"rank {rank} {{\n"
            for step in range(steps):
                work = work_ms * 1_000_000 * (8 if (rank, step) == (4, 10) else 1) + 1000 * rank
                text += f"c{step}: calc {work}\ns{step}: send 8b to {(rank + 1) % ranks} tag {step}\ns{step} requires c{step}\n"
                text += f"r{step}: recv 8b from {(rank - 1) % ranks} tag {step}\nr{step} requires c{step}\n"
                if step:
                    text += f"c{step} requires s{step - 1}\nc{step} requires r{step - 1}\n"
            text += "}\n"
        return self.write(name, f"num_ranks {ranks}\n" + text)

    def test_a_schedule_is_watched_as_it_is_recorded(self):
        goal, recorded = self.halo("halo.goal", work_ms=75), str(self.path / "recorded.iw")
        result = self.sim("--goal", goal, *NETWORK, "--record", recorded)
        endpoint, *processes = self.watch("--goal", goal, *NETWORK, "--allow-inject")
        refused = self.call("inject", "--session", endpoint, "--ranks", "2", "--delay", "50ms")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("network", refused.stderr)
        for process in processes:
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, err)
        then = json.loads(self.call("report", recorded, "--json").stdout)
        live = self.report()
        self.assertEqual((live["ranks"], live["steps"], live["complete"]), (12, 40, True))
        self.assertAlmostEqual(live["duration_s"], result["makespan_s"], delta=2e-9)
        commands = live.pop("commands")
        self.assertEqual(([command["outcome"] for command in commands], then.pop("commands")), (["refused"], []))
        self.assertEqual(live, then)

    def test_a_live_schedule_names_the_ranks_that_wait_for_ever(self):
        stuck = RING.replace("send 8b to 2 tag 7", "send 8b to 2 tag 8").replace("calc 1000", "calc 1500000000")
        _, sim, recorder = self.watch("--goal", self.write("stuck.goal", stuck), *NETWORK)
        _, err = sim.communicate(timeout=PATIENCE)
        self.assertEqual(sim.returncode, 1)
        self.assertRegex(err, r"idlewave: .*rank 0 waits for 8 B from rank 2")
        recorder.communicate(timeout=PATIENCE)
        self.assertTrue(self.report()["complete"])

    def test_what_a_live_schedule_cannot_do_is_refused(self):
        goal, stream = self.halo("halo.goal"), ["--realtime", "--stream", f"ipc://{self.path}/stream"]
        self.refuses("--goal", str(self.path / "missing.goal"), *stream, says="missing.goal")
        self.refuses(self.scenario, "--goal", goal, *stream, says="LogGOPS")
        self.refuses("--goal", goal, *stream, "--json", says=["--json", "a live schedule"])
        self.refuses("--goal", goal, *stream, "--session", "no/name", says="--session")
        self.assertFalse((self.path / "stream").exists())

    def steps_until_ctrl_c(self, sim, recorder):
        sim.send_signal(signal.SIGINT)
        for process in (sim, recorder):
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0)
        self.assertFalse((self.path / "stream").exists())
        report = self.report()
        self.assertTrue(report["complete"])
        return report["steps"]

    def test_ctrl_c_ends_a_live_schedule_properly(self):
        _, sim, recorder = self.watch("--goal", self.halo("long.goal", work_ms=60_000), *NETWORK)
        self.assertLess(self.steps_until_ctrl_c(sim, recorder), 2)

    def test_ctrl_c_ends_a_live_simulation_properly(self):
        _, sim, recorder = self.watch(self.scenario, *self.CORE_BOUND, "--set", "program.steps=100000")
        time.sleep(1)
        self.assertLess(self.steps_until_ctrl_c(sim, recorder), 5000)


if __name__ == "__main__":
    main()

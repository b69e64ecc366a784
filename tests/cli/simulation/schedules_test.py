#!/usr/bin/env python3
"""Calls `idlewave sim --goal`: results, complaints, schedules of more ranks. Usage: schedules_test.py FOLDER-OF-PROGRAMS"""
import json
import os
import random
import resource
import signal
import sys
import time

from simulations import NETWORK, PATIENCE, REFERENCE, RING, SimTest, barrier, main


SEED = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1, 1 << 31)))


def rounds(ranks, steps):
    """Work, then a message around the ring, again and again."""
    text = f"num_ranks {ranks}\n"
    for rank in range(ranks):
        text += f"rank {rank} {{\n"
        for step in range(steps):
            text += f"w{step}: calc 100000\ns{step}: send 8b to {(rank + 1) % ranks} tag {step}\n"
            text += f"r{step}: recv 8b from {(rank - 1) % ranks} tag {step}\ns{step} requires w{step}\n"
            text += f"w{step} requires r{step - 1}\n" if step > 0 else ""
        text += "}\n"
    return text


class Schedules(SimTest):
    def test_a_recording_of_a_schedule_shows_its_ranks(self):
        goal, recording = self.write("three.goal", RING), str(self.path / "three.iw")
        result = self.sim("--goal", goal, *NETWORK, "--record", recording)
        report = json.loads(self.call("report", recording, "--json").stdout)
        self.assertEqual((report["ranks"], report["complete"], report["dropped"]), (3, True, 0))
        self.assertAlmostEqual(report["duration_s"], result["makespan_s"], delta=2e-9)
        self.refuses("--goal", goal, *NETWORK, "--record", recording, says=["three.iw", "exists"])

    def test_what_report_finds_in_its_recording_is_found_while_it_is_made(self):
        goal, recording = self.write("rounds.goal", rounds(8, 20)), str(self.path / "rounds.iw")
        noise = ["--set", "noise.distribution=exponential", "--set", "noise.mean=20us", "--set", f"noise.seed={SEED}"]
        window = ["--window", "0.2:0.8"]
        print(f"seed {SEED}", file=sys.stderr)
        result = self.sim("--goal", goal, *NETWORK, *noise, *window, "--record", recording)
        report = json.loads(self.call("report", recording, "--json", *window).stdout)
        self.assertEqual((report["ranks"], report["steps"]), (8, 20))
        self.assertIsNotNone(report["step_time"])
        for key in set(report) - {"complete"}:
            self.assertEqual(result[key], report[key], key)
        self.assertEqual(result["finish_ns"], self.sim("--goal", goal, *NETWORK, *noise)["finish_ns"])
        # Nobody looks at a run whose result is text: it is the same to the nanosecond.
        text = self.call("sim", "--goal", goal, *NETWORK, *noise).stdout
        self.assertIn(f"makespan {max(result['finish_ns'])} ns", text)

    def test_a_history_that_is_too_small_is_named(self):
        done = self.call("sim", "--goal", self.write("rounds.goal", rounds(8, 20)), *NETWORK, "--json", "--memory", "1MB")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["ranks"], 8)
        self.refuses("--goal", self.write("rounds.goal", rounds(8, 20)), *NETWORK, "--memory", "1kB", says="at least 1 MB")

    def test_a_run_that_is_longer_than_a_session_can_tell_is_not_recorded(self):
        """Of 2^58 ns, in calculations of 2^53 ns each."""
        works = "".join(f"w{i}: calc {1 << 53}\n" + (f"w{i} requires w{i - 1}\n" if i else "") for i in range(33))
        goal, recording = self.write("long.goal", f"num_ranks 1\nrank 0 {{\n{works}}}\n"), self.path / "long.iw"
        self.refuses("--goal", goal, *NETWORK, "--record", str(recording), says="9 years")
        self.assertFalse(recording.exists())
        done = self.call("sim", "--goal", goal, *NETWORK, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["finish_ns"]), (0, [33 << 53]), done.stderr)
        self.assertIn("9 years", done.stderr)

    def test_a_schedule_runs_on_the_network_that_is_set(self):
        result = self.sim("--goal", self.write("ring.goal", RING), *NETWORK)
        hop = 1500 + 2500 + 1500 + 7 * 6  # o + L + o + 7 G, to the receiver's end
        self.assertEqual(result["finish_ns"], [1000 + 3 * hop, 1000 + hop + 1500, 1000 + 2 * hop + 1500])
        self.assertAlmostEqual(result["makespan_s"], max(result["finish_ns"]) * 1e-9, delta=1e-15)
        self.assertEqual((result["ops"], result["messages"]), (7, 3))

    def test_the_network_of_a_scenario_is_taken(self):
        path = self.write("network.toml", REFERENCE.replace('protocol = "eager"', 'L = "5 us"\no = "1500 ns"'))
        goal = self.write("ring.goal", RING)
        self.assertEqual(self.sim(path, "--goal", goal)["finish_ns"][0], 1000 + 3 * (1500 + 5000 + 1500))  # G = 0
        self.refuses(self.scenario, "--goal", goal, says="LogGOPS")

    def test_a_deadlock_names_the_ranks_that_wait(self):
        done = self.call("sim", "--goal", self.write("stuck.goal", RING.replace("send 8b to 2 tag 7",
                                                                                "send 8b to 2 tag 8")), *NETWORK, "--json")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(json.loads(done.stdout)["complete"])
        self.assertRegex(done.stderr, r"idlewave: .*rank 0 waits for 8 B from rank 2")
        self.assertRegex(done.stderr, r"idlewave: .*rank 2 waits for 8 B from rank 1")
        self.assertTrue(all(line.startswith("idlewave: ") for line in done.stderr.splitlines()))

    def test_a_mistake_in_a_schedule_is_named_with_its_line(self):
        self.refuses("--goal", self.write("bad.goal", RING.replace("calc 1000", "clac 1000")), *NETWORK, says="bad.goal:3")
        self.refuses("--goal", self.write("short.goal", RING[:-2]), *NETWORK, says="short.goal")
        self.refuses("--goal", str(self.path / "missing.goal"), *NETWORK, says="missing.goal")
        self.refuses("--goal", str(self.path), *NETWORK, says=str(self.path))
        self.refuses("--goal", self.write("ring.goal", RING), "--set", "loggops.L=2500", says="L")
TEN_CALCS = "num_ranks 10\n" + "".join(f"rank {rank} {{\ncalc 1000000\n}}\n" for rank in range(10))


class SharedSchedules(SimTest):
    memory = ["--set", "machine.ranks_per_domain=10", "--set", "machine.core_bandwidth=10 GB/s", "--set",
              "machine.domain_bandwidth=50 GB/s"]

    def setUp(self):
        super().setUp()
        self.goal = self.write("ten.goal", TEN_CALCS)

    def test_calculations_share_the_memory_that_is_set(self):
        self.assertEqual(self.sim("--goal", self.goal)["finish_ns"], [1_000_000] * 10)
        self.assertEqual(self.sim("--goal", self.goal, *self.memory)["finish_ns"], [2_000_000] * 10)
        curve = ["--set", "machine.ranks_per_domain=10", "--set", 'machine.curve=["10 GB/s", "20 GB/s", "25 GB/s"]']
        self.assertEqual(self.sim("--goal", self.goal, *curve)["finish_ns"], [4_000_000] * 10)

    def test_the_kernel_of_a_scenario_says_whether_memory_is_shared(self):
        path = self.write("network.toml", REFERENCE.replace('protocol = "eager"', 'L = "5 us"\no = "1500 ns"'))
        self.assertEqual(self.sim(path, "--goal", self.goal)["finish_ns"], [2_000_000] * 10)
        core = ["--set", "program.kernel=core", "--set", "program.time=1ms"]
        self.assertEqual(self.sim(path, "--goal", self.goal, *core)["finish_ns"], [1_000_000] * 10)

    def test_half_of_a_machine_is_refused(self):
        self.refuses("--goal", self.goal, *self.memory[:4], says="machine.domain_bandwidth is missing")
        self.refuses("--goal", self.goal, *self.memory[:2], says="machine.ranks_per_domain")
        self.refuses("--goal", self.goal, "--set", "machine.core_bandwidth=0 GB/s", "--set",
                     "machine.domain_bandwidth=1 GB/s", says="machine.core_bandwidth")

    def test_noise_makes_calculations_late(self):
        noise = ["--set", "noise.distribution=exponential", "--set", "noise.mean=0.1ms"]
        finish = self.sim("--goal", self.goal, *noise)["finish_ns"]
        self.assertEqual(len(set(finish)), 10)
        self.assertGreater(min(finish), 1_000_000)
        self.assertEqual(finish, self.sim("--goal", self.goal, *noise)["finish_ns"])
        self.assertNotEqual(finish, self.sim("--goal", self.goal, *noise, "--set", "noise.seed=2")["finish_ns"])
        periodic = ["--set", "noise.distribution=periodic", "--set", "noise.duration=50us", "--set", "noise.frequency=1000 Hz"]
        # 1 ms of work, one or two interruptions of 50 us, and perhaps the rest of one at the begin.
        for time in self.sim("--goal", self.goal, *periodic)["finish_ns"]:
            self.assertTrue(1_050_000 <= time <= 1_150_000, time)


class Networks(SimTest):
    """Scenarios whose neighbours exchange messages on a LogGOPS network."""

    def setUp(self):
        super().setUp()
        self.network = self.write("network.toml", REFERENCE.replace('protocol = "eager"', 'protocol = "eager"\nL = "0 ns"'))

    def test_messages_that_cost_nothing_leave_the_reference_case_as_it_is(self):
        ours, reference = (self.sim(path, "--window", "0.6:0.85", "--step-start", "140") for path in (self.network, self.scenario))
        self.assertAlmostEqual(ours["makespan_s"], reference["makespan_s"], delta=1e-6)
        self.assertEqual(ours["rank_steps"], reference["rank_steps"])
        for a, b in zip(ours["domains"], reference["domains"], strict=True):
            self.assertAlmostEqual(a["active_mean"], b["active_mean"], delta=1e-3)
        for a, b in zip(ours["step_start_s"], reference["step_start_s"], strict=True):
            self.assertAlmostEqual(a, b, delta=1e-6)
        self.assertEqual([(wave["origin_rank"], wave["origin_step"]) for wave in ours["waves"]], [(5, 5)])

    def test_overheads_make_a_step_longer(self):
        # Two sends and two arrivals of 10 us each beside 10 ms of work, ranks in step.
        result = self.sim(self.network, "--without-delays", "--set", "loggops.o=10us", "--set", "program.steps=10")
        self.assertAlmostEqual(result["makespan_s"], 10 * (10e-3 + 4 * 10e-6), delta=1e-6)

    def test_the_protocol_follows_from_the_size_unless_it_is_said(self):
        def first_step_of_rank_4(*settings):
            alone = ["--set", "machine.ranks_per_domain=1", "--set", "delay.0.step=0", "--set",
                     "communication.distances=[1]", "--set", "program.steps=3"]
            return self.sim(self.network, *alone, *settings, "--step-start", "1")["step_start_s"][4]

        self.assertLess(first_step_of_rank_4(), 0.1)
        self.assertGreater(first_step_of_rank_4("--set", "communication.protocol=rendezvous"), 1)
        self.assertGreater(first_step_of_rank_4("--set", "communication.protocol=auto", "--set", "loggops.S=999B"), 1)
        self.assertLess(first_step_of_rank_4("--set", "communication.protocol=auto", "--set", "loggops.S=1000B"), 0.1)

    def test_a_recording_tells_what_the_run_said(self):
        recording = str(self.path / "network.iw")
        result = self.sim(self.network, "--set", "loggops.o=20us", "--set", "noise.distribution=exponential", "--set",
                          "noise.mean=0.1ms", "--record", recording)
        report = json.loads(self.call("report", recording, "--json").stdout)
        self.assertAlmostEqual(report["duration_s"], result["makespan_s"], delta=1e-8)
        self.assertEqual((report["ranks"], report["steps"], report["dropped"], report["complete"]), (40, 200, 0, True))
        for seen, simulated in zip(report["domains"], result["domains"], strict=True):
            self.assertAlmostEqual(seen["active_mean"], simulated["active_mean"], delta=1e-3)

    def test_latencies_can_be_swept(self):
        rows = self.sim(self.network, "--sweep", "loggops.L=0us,100us,200us", "--without-delays", "--set", "program.steps=10")
        for row, latency in zip(rows, (0, 1e-4, 2e-4), strict=True):
            self.assertAlmostEqual(row["makespan_s"], 10 * (10e-3 + latency), delta=1e-7)

    def test_what_it_cannot_do_is_refused(self):
        self.refuses(self.network, "--step-start", "200", says=["200", "199"])
        self.refuses(self.network, "--set", "machine.ranks=4000000", says=["operations", "fewer ranks or steps"])

    def test_more_steps_than_the_memory_holds_are_refused(self):
        little = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        if self.call("sim", "--version", preexec_fn=little).returncode != 0:
            self.skipTest("a program with a sanitizer does not start in so little memory")
        self.refuses(self.network, "--set", "machine.ranks=50000", says=["GB", "fewer ranks or steps"], preexec_fn=little)

    def test_ctrl_c_ends_a_run_with_what_it_has(self):
        self.scenario = self.network
        run = self.start_long_run("--set", "machine.ranks=1000", "--set", "program.steps=5000", "--json")
        time.sleep(2)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, err), (0, ""))
        result = json.loads(out)
        self.assertTrue(result["stopped"])
        self.assertLess(result["rank_steps"], 5_000_000)


class Extrapolations(SimTest):
    def test_a_schedule_is_that_of_more_ranks(self):
        small, large = self.write("small.goal", barrier(8)), self.write("large.goal", barrier(32))
        result = self.sim("--goal", small, "--extrapolate", "4", *NETWORK)
        self.assertEqual(result["extrapolated"], {"from_ranks": 8, "collectives": 1})
        self.assertEqual(result["finish_ns"], self.sim("--goal", large, *NETWORK)["finish_ns"])
        done = self.call("sim", "--goal", small, "--extrapolate", "4")
        self.assertIn("extrapolated from 8 ranks: 1 collective written anew", done.stdout)

    def test_the_schedule_can_be_written(self):
        small, large = self.write("small.goal", barrier(8)), self.path / "large.goal"
        result = self.sim("--goal", small, "--extrapolate", "3", "-o", str(large), *NETWORK)
        self.assertEqual(self.sim("--goal", str(large), *NETWORK)["finish_ns"], result["finish_ns"])
        self.refuses("--goal", small, "--extrapolate", "3", "-o", str(large), code=1, says=["large.goal", "exists"])
        self.refuses("--goal", small, "--extrapolate", "3", "-o", str(self.path / "no-such" / "large.goal"), code=1, says="no-such")
        self.refuses("--goal", small, "-o", str(self.path / "copy.goal"), says="--extrapolate")

    def test_a_session_is_that_of_more_ranks(self):
        recording = str(self.path / "s.iw")
        self.sim(self.scenario, "--record", recording)
        once, thrice = self.sim("--from", recording), self.sim("--from", recording, "--extrapolate", "3")
        self.assertIn("ranks = 120", thrice["scenario"])
        self.assertEqual(thrice["scenario"].count("[[delay]]"), 3)
        self.assertEqual(len(thrice["simulated"]["active_means"]), 12)
        # A ring of three equal parts is as one of a single part.
        self.assertAlmostEqual(thrice["simulated"]["makespan_s"], once["simulated"]["makespan_s"], delta=1e-6)
        for domain, mean in enumerate(thrice["simulated"]["active_means"]):
            self.assertAlmostEqual(mean, once["simulated"]["active_means"][domain % 4], delta=1e-3)
        self.refuses("--from", recording, "--extrapolate", "3", "--set", "machine.ranks_per_domain=7",
                     says=["--extrapolate", "domains of 7"])
        self.refuses("--from", recording, "--extrapolate", "99999999", says="ranks are possible")

    def test_it_goes_with_schedules_and_sessions_only(self):
        self.refuses(self.scenario, "--extrapolate", "2", says=["--extrapolate", "--goal", "--from"])
        goal = self.write("small.goal", barrier(8))
        self.refuses("--goal", goal, "--extrapolate", "0", says="--extrapolate")
        self.refuses("--goal", goal, "--extrapolate", "100000000", says="extrapolate")
        self.refuses("--goal", goal, "--extrapolate", "two", says="--extrapolate")


if __name__ == "__main__":
    main()

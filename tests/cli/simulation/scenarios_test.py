#!/usr/bin/env python3
"""Calls `idlewave sim` with scenarios: what comes out, and which are refused. Usage: scenarios_test.py FOLDER-OF-PROGRAMS"""
import json
import os
import random
import resource
import signal
import time

from simulations import COLLECTIVE, NETWORK, PATIENCE, REFERENCE, SimTest, main


class Collectives(SimTest):
    def setUp(self):
        super().setUp()
        self.scenario = self.write("collective.toml", COLLECTIVE)

    def makespan(self, **keys):
        settings = [word for key, value in keys.items() for word in ("--set", f"communication.{key}={value}")]
        return self.sim(self.scenario, *settings)["makespan_s"]

    def test_a_step_takes_its_work_and_as_many_rounds_as_the_algorithm_has(self):
        # A round: overhead, latency and overhead of one message of 8 B; in receiving, 7 B at 6 ns.
        for keys, rounds in (({}, 6), ({"algorithm": "recursive-doubling"}, 6), ({"collective": "barrier"}, 6)):
            with self.subTest(keys):
                cost = 1500 + 2500 + 1500 + (0 if keys.get("collective") == "barrier" else 7 * 6)
                self.assertAlmostEqual(self.makespan(**keys), 20 * (1e-3 + rounds * cost * 1e-9), delta=1e-9)

    def test_an_ideal_collective_costs_nothing_and_a_nonblocking_one_hides(self):
        self.assertAlmostEqual(self.makespan(mode="ideal"), 0.02, delta=1e-12)
        self.assertLess(self.makespan(mode="nonblocking"), self.makespan())

    def test_every_collective_runs_by_each_of_its_algorithms(self):
        algorithms = {"allreduce": ("dissemination", "recursive-doubling", "ring"), "allgather": ("dissemination",
                                                                                                  "bruck", "recursive-doubling", "ring"),
                      "barrier": ("dissemination",), **{tree: ("binomial",) for tree in ("broadcast", "reduce", "gather", "scatter")}}
        for collective, names in algorithms.items():
            for name in names:
                self.assertGreater(self.makespan(collective=collective, algorithm=name), 0.02, (collective, name))

    def test_a_run_says_what_every_run_says(self):
        result = self.sim(self.scenario, "--step-start", "3")
        self.assertEqual((result["ranks"], result["steps"], result["rank_steps"], result["seed"]), (64, 20, 1280, 1))
        self.assertEqual(result["events"], 1280 + 20 * 64 * 6)
        self.assertEqual([domain["ranks"] for domain in result["domains"]], [16] * 4)
        self.assertEqual(len(result["step_start_s"]), 64)

    def test_a_recording_shows_the_wave_of_a_delay(self):
        delayed = self.write("delayed.toml", COLLECTIVE + '[[delay]]\nrank = 5\nstep = 5\nduration = "5 ms"\n')
        session = str(self.path / "session.iw")
        self.sim(delayed, "--record", session)
        report = json.loads(self.call("report", session, "--json").stdout)
        self.assertEqual(report["ranks"], 64)
        self.assertEqual([(wave["origin_rank"], wave["origin_step"]) for wave in report["waves"]], [(5, 5)])

    def test_memory_bound_ranks_share_their_domain_until_they_call(self):
        memory = ["--set", "program.kernel=memory", "--set", "program.volume=1 MB", "--set", "machine.core_bandwidth=1 GB/s"]
        alone = self.sim(self.scenario, *memory, "--set", "machine.domain_bandwidth=1000 GB/s")
        shared = self.sim(self.scenario, *memory, "--set", "machine.domain_bandwidth=4 GB/s", "--set", "machine.ranks_per_domain=8")
        self.assertAlmostEqual(alone["makespan_s"], self.makespan(), delta=1e-9)
        # Eight ranks on what saturates at four take twice as long, in each of 20 steps.
        self.assertAlmostEqual(shared["makespan_s"] - alone["makespan_s"], 20 * 1e-3, delta=1e-4)
        self.assertGreater(min(domain["active_mean"] for domain in shared["domains"]), 7.5)

    def test_what_does_not_fit_a_collective_is_refused(self):
        def setting(text):
            return self.scenario, "--set", text

        self.refuses(*setting("communication.algorithm=binomial"), says=["algorithm", "recursive-doubling"])
        self.refuses(*setting("communication.collective=alltoall"), says="allgather")
        self.refuses(*setting("communication.root=64"), says=["root", "63"])
        self.refuses(*setting("communication.topology=ring"), says="topology")
        self.refuses(*setting("communication.time=1us"), says="time")
        self.refuses(*setting("communication.message_size=0 B"), says="message_size")
        self.refuses(*setting("program.kernel=divide"), says=["kernel", "memory"])
        self.refuses(self.scenario, "--step-start", "20", says="19")
        self.refuses(self.write("bare.toml", COLLECTIVE.split("L =")[0]), says="LogGOPS")
        self.refuses(self.write("mode.toml", REFERENCE.replace('topology = "ring"', 'mode = "ideal"')), says=["mode", "collective"])

    def test_an_interrupted_run_ends_with_what_it_has(self):
        run = self.start_long_run("--json")
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, err), (0, ""))
        self.assertTrue(json.loads(out)["stopped"])


class Scenarios(SimTest):
    def test_the_reference_case_is_that_of_the_literature(self):
        result = self.sim(self.scenario, "--window", "0.6:0.85", "--step-start", "140")
        self.assertAlmostEqual(result["makespan_s"], 3.181, delta=1e-9)
        self.assertEqual(result["rank_steps"], 8000)
        self.assertEqual([(domain["id"], domain["ranks"]) for domain in result["domains"]], [(0, 10), (1, 10), (2, 10), (3, 10)])
        for domain, expected in zip(result["domains"], (10, 5, 6, 5)):
            self.assertAlmostEqual(domain["active_mean"], expected, delta=0.01)
        starts = result["step_start_s"]
        self.assertEqual(len(starts), 40)
        self.assertAlmostEqual(max(starts) - min(starts), 0.066, delta=1e-6)

    def test_the_findings_of_a_run_are_with_it(self):
        result = self.sim(self.scenario)
        self.assertEqual([(wave["origin_rank"], wave["origin_step"]) for wave in result["waves"]], [(5, 5)])
        self.assertAlmostEqual(result["waves"][0]["delay_s"], 1.2, delta=0.02)
        for key in ("wavefront", "step_time", "efficiency"):
            self.assertIn(key, result)

    def test_the_findings_of_a_large_run_are_with_it_too(self):
        result = self.sim(self.scenario, "--set", "machine.ranks=4000", "--set", "program.steps=300")
        self.assertEqual(result["rank_steps"], 1_200_000)
        self.assertEqual([(wave["origin_rank"], wave["origin_step"]) for wave in result["waves"]], [(5, 5)])

    def test_a_history_that_was_forgotten_is_told(self):
        done = self.call("sim", self.scenario, "--set", "machine.ranks=400", "--json", "--memory", "2 MB")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^idlewave: the history of this run is larger than 2\S* MB: .*--memory.*\n$")
        self.assertIn("step_time", json.loads(done.stdout))

    def test_a_domain_below_saturation_is_left_in_step(self):
        for ranks_per_domain in (3, 5):
            result = self.sim(self.scenario, "--set", f"machine.ranks_per_domain={ranks_per_domain}", "--step-start", "140")
            self.assertAlmostEqual(max(result["step_start_s"]) - min(result["step_start_s"]), 0, delta=1e-9)

    def test_people_are_told_the_same_in_words(self):
        done = self.call("sim", self.scenario, "--window", "0.6:0.85", "--step-start", "140")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("makespan 3.181 s", done.stdout)
        self.assertRegex(done.stdout, r"domain 0 +active 10\.000 of 10")
        self.assertIn("step 140", done.stdout)

    def test_the_same_call_gives_the_same_run(self):
        noisy = ["--set", "noise.distribution=exponential", "--set", "noise.mean=0.2ms"]
        results = [self.sim(self.scenario, *noisy, "--step-start", "100") for _ in range(2)]
        for result in results:
            del result["wall_s"]
        self.assertEqual(results[0], results[1])

    def test_each_noise_is_repeated_by_its_seed_and_changed_by_another(self):
        trace = self.write("noise.csv", "start, duration\n1 ms, 300 us\n17 ms, 450 us\n40 ms, 200 us\n")
        mean = {"mean": '"0.2 ms"'}
        kinds = {
            "exponential": mean,
            "uniform": mean,
            "gamma": {**mean, "shape": "2.5"},
            "rare": {"probability": "0.01", "duration": '"5 ms"'},
            "periodic": {"duration": '"0.3 ms"', "frequency": '"40 Hz"'},
            "trace": {"file": f'"{trace}"'},
            "system": {},
            "daemon": {},
            "checkpoint": {},
        }
        for kind, keys in kinds.items():
            with self.subTest(kind):
                noise = "[noise]\n" + f'distribution = "{kind}"\n' + "".join(f"{key} = {value}\n" for key, value in keys.items())
                # Checkpoints come every two minutes: short runs would not see one.
                program = ["--set", "program.volume=2 GB"] if kind == "checkpoint" else []
                path = self.write("noisy.toml", REFERENCE + noise)
                first, again, other = (self.sim(path, *program, "--set", f"noise.seed={seed}", "--step-start", "199") for seed in (7, 7, 8))
                self.assertEqual(first["seed"], 7)
                self.assertEqual((first["makespan_s"], first["step_start_s"]), (again["makespan_s"], again["step_start_s"]))
                self.assertNotEqual(first["step_start_s"], other["step_start_s"])
                self.assertNotEqual(first["step_start_s"], self.sim(self.scenario, *program, "--step-start", "199")["step_start_s"])

    def test_settings_come_one_after_another(self):
        result = self.sim(self.scenario, "--set", "machine.ranks=20", "--set", "program.steps=9", "--set",
                          "machine.ranks=80", "--without-delays")
        self.assertEqual((result["ranks"], result["steps"], result["rank_steps"]), (80, 9, 720))
        self.assertAlmostEqual(result["makespan_s"], 0.09, delta=1e-12)

    def test_bad_input_is_named_with_its_place(self):
        def with_line(old, new):
            return self.write("bad.toml", REFERENCE.replace(old, new))

        self.refuses(with_line("steps = 200", "steps = 200\nstpes = 3"), says=["bad.toml:9", "stpes"])
        self.refuses(with_line('volume = "50 MB"', "volume = 50"), says=["bad.toml:10", "volume"])
        self.refuses(with_line('"1.2 s"', '"1.2"'), says=["bad.toml:18", "duration"])
        self.refuses(with_line("rank = 5", "rank = 40"), says=["bad.toml:16", "rank"])
        self.refuses(with_line("ranks = 40", "ranks = "), says="bad.toml:3")
        self.refuses(with_line('kernel = "memory"', 'kernel = "triad"'), says="triad")
        self.refuses(str(self.path / "missing.toml"), says="missing.toml")
        self.refuses(self.scenario, "--set", "machine.rank=4", says="machine.rank")
        self.refuses(self.scenario, "--set", "program.volume=50", says="program.volume")
        self.refuses(self.scenario, "--set", "ranks", says="ranks")

    def test_values_out_of_range_are_refused(self):
        self.refuses(self.scenario, "--window", "0.9:0.1", says="0.6:0.9")
        self.refuses(self.scenario, "--step-start", "200", says=["200", "199"])
        self.refuses(self.scenario, "--step-start", "-1")
        self.refuses(self.scenario, "--stream", "tcp://127.0.0.1:0", says="--realtime")
        self.refuses(self.scenario, "--frobnicate")
        self.refuses(says="scenario")

    def test_a_missing_trace_is_named(self):
        path = self.write("noisy.toml", REFERENCE + '[noise]\ndistribution = "trace"\nfile = "no-such.csv"\n')
        self.refuses(path, says="no-such.csv")

    def test_more_ranks_than_the_memory_holds_are_refused(self):
        little = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
        if self.call("sim", "--version", preexec_fn=little).returncode != 0:
            self.skipTest("a program with a sanitizer does not start in so little memory")
        for options in ([], ["--sweep", "program.steps=100..103"]):
            self.refuses(self.scenario, "--set", "machine.ranks=4000000", "--set", "machine.ranks_per_domain=1", *options,
                         says=["MB", "fewer ranks"], preexec_fn=little)

    def test_ctrl_c_ends_a_long_run_with_what_it_has(self):
        run = self.start_long_run("--json")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, err), (0, ""))
        result = json.loads(out)
        self.assertTrue(result["stopped"])
        self.assertLess(result["rank_steps"], 200_000 * 1_000_000)

    def test_ctrl_c_is_told_to_people(self):
        run = self.start_long_run("--set", "program.kernel=core", "--set", "program.time=10ms")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, err), (0, ""))
        self.assertIn("interrupted", out)

    def test_ctrl_c_ends_a_sweep_without_half_a_row(self):
        run = self.start_long_run("--sweep", "machine.ranks_per_domain=8..10")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, out), (1, ""))
        self.assertIn("interrupted after 0 of 3 runs", err)


class Inputs(SimTest):
    def pipe(self):
        path = self.path / "pipe"
        os.mkfifo(path)
        return str(path)

    def sparse(self, size, text=""):
        path = self.write("large", text)
        os.truncate(path, size)
        return path

    def test_what_has_no_end_or_no_beginning_is_no_input(self):
        for path in ("/dev/zero", "/dev/stdin", self.pipe(), str(self.path)):
            for arguments in ([path], ["--goal", path], ["--from", path]):
                self.refuses(*arguments, says=path)
            noise = self.write("noisy.toml", REFERENCE + f'[noise]\ndistribution = "trace"\nfile = "{path}"\n')
            self.refuses(noise, says=path)

    def test_files_too_large_are_refused_before_they_are_read(self):
        self.refuses(self.sparse(1 << 40), says=["larger than 1 MB", "scenario"])
        noise = self.write("noisy.toml", REFERENCE + '[noise]\ndistribution = "trace"\nfile = "large"\n')
        self.refuses(noise, says=["larger than 256 MB", "trace"])
        self.refuses("--goal", self.sparse(1 << 42, "num_ranks 1\n"), says=["GB", "memory"])

    def test_a_schedule_that_is_cut_short_while_it_is_read_is_refused_in_a_line(self):
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 32)))
        moments = random.Random(seed)
        text = "num_ranks 1\nrank 0 {\n" + "calc 1\n" * 1_000_000  # Not closed, so that it is refused in any case.
        for _ in range(8):
            path = self.write("cut.goal", text)
            run = self.start_sim("--goal", path, *NETWORK, until=lambda run: True)
            time.sleep(moments.uniform(0, 0.05))
            os.truncate(path, 100)
            err = run.communicate(timeout=PATIENCE)[1]
            self.assertEqual((run.returncode, err.count("\n")), (2, 1), f"seed {seed}: {err}")

    def test_numbers_that_no_machine_holds_are_refused(self):
        self.refuses(self.scenario, "--set", "machine.ranks=4194305", says="4194304")
        self.refuses("--goal", self.write("many.goal", "num_ranks 1000000000\n"), says="too short")
        self.refuses(self.scenario, "--sweep", "machine.ranks=1..1000000000000", says="at most")
        long = ["--set", "program.kernel=core", "--set", "program.time=25 h", "--set", "noise.distribution=system"]
        self.refuses(self.scenario, *long, says=["program.time", "24 h"])
        self.refuses(self.scenario, "--sweep", "machine.ranks=1..100000", "--sweep", "program.steps=1..100000", says="runs")


if __name__ == "__main__":
    main()

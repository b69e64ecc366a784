#!/usr/bin/env python3
"""Calls `idlewave sim` as users and scripts do: results, recordings, sweeps, schedules, complaints.

Usage: sim_test.py FOLDER-OF-PROGRAMS"""
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = None
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
PARAMETERS = {"L": "2500ns", "o": "1500ns", "g": "1000ns", "G": "6ns/B", "O": "0ns/B", "S": "65535B"}
NETWORK = [word for key, value in PARAMETERS.items() for word in ("--set", f"loggops.{key}={value}")]


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
STUDY = pathlib.Path(__file__).resolve().parents[3] / "workloads" / "scenarios" / "noise-and-collectives.toml"


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


class Studies(SimTest):
    def speedups(self, steps, *sweep):
        words = [word for text in sweep for word in ("--sweep", text)]
        rows = self.sim(str(STUDY), "--set", f"program.steps={steps}", *words, "--against", "communication.mode=ideal")
        for row in rows:
            self.assertAlmostEqual(row["speedup"], row["makespan_s"] / row["against_makespan_s"], delta=1e-9)
        return {tuple(row["set"].values()): row["speedup"] for row in rows}

    def test_checkpoints_slow_dissemination_markedly_and_binomial_trees_barely(self):
        speedup = self.speedups(10, "noise.distribution=checkpoint",
                                "communication.collective=allreduce,allgather,gather,scatter", "machine.ranks=1024,4096")
        for ranks in ("1024", "4096"):
            for collective in ("allreduce", "allgather"):
                for tree in ("gather", "scatter"):
                    self.assertGreater(speedup["checkpoint", collective, ranks], 3 * speedup["checkpoint", tree, ranks])
                    self.assertLess(speedup["checkpoint", tree, ranks], 2)

    def test_low_noise_costs_dissemination_little_and_the_root_of_a_tree_is_slow_beyond_16_ki_ranks(self):
        speedup = self.speedups(3, "noise.distribution=system", "communication.collective=allreduce,gather,scatter",
                                "machine.ranks=1024,16384,65536")
        for tree in ("gather", "scatter"):
            small, medium, large = (speedup["system", tree, ranks] for ranks in ("1024", "16384", "65536"))
            self.assertLess(medium, 1.015)
            self.assertGreater(large - 1, 2 * (medium - 1))
            self.assertLess(small, medium)
            self.assertGreater(large, speedup["system", "allreduce", "65536"])
        self.assertLess(speedup["system", "allreduce", "65536"], 1.015)

    def test_rows_are_written_as_csv(self):
        path = self.path / "rows.csv"
        sweep = ["--sweep", "machine.ranks=16,32", "--sweep", "communication.collective=gather", "--against",
                 "communication.mode=ideal", "--set", "program.steps=2"]
        self.assertEqual(self.call("sim", str(STUDY), *sweep, "--csv", str(path)).returncode, 0)
        lines = path.read_text().splitlines()
        self.assertEqual(lines[0], "machine.ranks,communication.collective,makespan_s,against_makespan_s,speedup")
        self.assertEqual([line.split(",")[:2] for line in lines[1:]], [["16", "gather"], ["32", "gather"]])
        done = self.call("sim", str(STUDY), *sweep, "--csv", "-")
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, lines))

    def test_the_study_of_the_scenario_is_drawn_by_one_command(self):
        small = ["--set", "program.steps=1", "--set", "program.time=10 ms"]
        study = self.write("study.toml", STUDY.read_text().replace(",16384,32768,65536,131072", ""))
        done = self.call("sim", study, "--study", *small)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(sum("speedup with communication.mode=ideal" in line for line in lines), 2)
        for text in ("noise.distribution = daemon", "machine.ranks", "1Ki", "8Ki", "a  communication.collective = allreduce"):
            self.assertIn(text, done.stdout)
        labels = [line.split(" |")[0] for line in lines if " |" in line]
        for chart in range(0, len(labels), 12):
            self.assertEqual(len(set(labels[chart:chart + 12])), 12, labels[chart:chart + 12])
        self.assertEqual(self.call("study", study, *small).stdout, done.stdout)

    def rows_of_study(self, name, *more):
        """Of a shipped study: what stands below its charts, and its rows as programs read them."""
        scenario = str(STUDY.parent / f"{name}.toml")
        done = self.call("study", scenario, *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        table = done.stdout.split("by overlap <=")[1].strip().splitlines()
        return [line.split() for line in table], json.loads(self.call("study", scenario, *more, "--json").stdout)

    def test_the_bounds_of_table_1_are_reached_where_nothing_but_allreduce_blocks(self):
        table, rows = self.rows_of_study("overlap-bound")
        for row, line, speedup in zip(rows, table, (1.63, 1.80, 1.01, 1.03, 1.23, 1.10), strict=True):
            self.assertAlmostEqual(row["speedup"], speedup, delta=0.005)
            self.assertAlmostEqual(float(line[-1]), row["speedup"], delta=0.0005)

    def test_checkpoints_barely_slow_trees_in_a_run_of_one_of_their_periods_and_dissemination_markedly(self):
        short = self.write("short.toml", (STUDY.parent / "checkpoints-and-collectives.toml").read_text()
                           .replace("1024,4096,16384,65536,131072", "1024,4096"))
        table, rows = self.rows_of_study(pathlib.Path(short).with_suffix(""), "--set", "program.steps=120")
        for row, line in zip(rows, table, strict=True):
            speedup, bound = map(float, line[-2:])
            self.assertAlmostEqual(speedup, row["speedup"], delta=0.0005)
            if row["set"]["communication.collective"] == "allreduce":
                self.assertGreater(speedup, 1.8)
                self.assertLessEqual(bound, 2)
            else:
                self.assertLess(speedup, 1.06)
            # What blocking costs beyond the work is hidden by the work, or hides it.
            self.assertAlmostEqual(bound, min(speedup, speedup / (speedup - 1)), delta=0.02)

    def test_how_long_a_checkpoint_takes_matters_more_than_how_often_it_is_taken(self):
        rows = self.sim(str(STUDY.parent / "checkpoint-interval.toml"), "--set", "machine.ranks=256", "--sweep",
                        "noise.frequency=0.016666667 Hz,0.008333333 Hz", "--sweep", "noise.duration=0.5 s,1 s")
        often_short, often, seldom_short, seldom = (row["makespan_s"] for row in rows)
        self.assertLess(often / seldom, 1.3)
        self.assertGreater(seldom / seldom_short, often / seldom)

    def test_studies_are_listed_apart_from_lessons(self):
        self.assertIn("noise-and-collectives", self.call("study", "--list").stdout)
        self.assertNotIn("memory-bound", self.call("study", "--list").stdout)
        self.assertNotIn("noise-and-collectives", self.call("demo", "--list").stdout)
        self.assertEqual(self.call("study", "nothing").returncode, 2)
        self.assertEqual(self.call("study", "./nothing.toml").returncode, 2)
        self.assertIn("[study]", self.call("study", self.scenario).stderr)

    def test_what_does_not_go_with_a_sweep_is_refused(self):
        self.refuses(self.scenario, "--against", "machine.ranks=4", says="--sweep")
        self.refuses(self.scenario, "--csv", "rows.csv", says="--sweep")
        self.refuses(self.scenario, "--chart", says=["--chart", "--against"])
        self.refuses(self.scenario, "--study", says="[study]")
        self.refuses(self.scenario, "--sweep", "machine.ranks=20,40", "--against", "machine.rank=4", says="machine.rank")


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
        seed = random.randrange(1 << 32)
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


class Recordings(SimTest):
    def test_a_recording_tells_what_the_run_said(self):
        recording = str(self.path / "rank 5's wave.iw")
        result = self.sim(self.scenario, "--window", "0.6:0.85", "--record", recording)
        report = json.loads(self.call("report", recording, "--window", "0.6:0.85", "--json").stdout)
        self.assertAlmostEqual(report["duration_s"], result["makespan_s"], delta=1e-8)
        self.assertEqual((report["ranks"], report["steps"], report["dropped"], report["complete"]), (40, 200, 0, True))
        for seen, simulated in zip(report["domains"], result["domains"], strict=True):
            self.assertAlmostEqual(seen["active_mean"], simulated["active_mean"], delta=1e-3)
            self.assertAlmostEqual(seen["saturation_point"], 5, delta=0.01)
        self.assertEqual(report["waves"], result["waves"])
        self.assertEqual([wave["origin_rank"] for wave in report["waves"]], [5])

    def test_the_same_run_is_recorded_without_noise_of_the_recorder(self):
        reports = []
        for name in ("a.iw", "b.iw"):
            self.sim(self.scenario, "--record", str(self.path / name))
            reports.append(json.loads(self.call("report", str(self.path / name), "--json").stdout))
        self.assertEqual(reports[0], reports[1])

    def test_a_core_bound_recording_tells_what_the_run_said(self):
        recording = str(self.path / "core.iw")
        result = self.sim(self.scenario, "--set", "program.kernel=core", "--set", "program.time=10ms", "--record", recording)
        report = json.loads(self.call("report", recording, "--json").stdout)
        self.assertAlmostEqual(report["duration_s"], result["makespan_s"], delta=1e-8)
        self.assertEqual([wave["origin_rank"] for wave in report["waves"]], [5])

    def test_a_file_that_exists_is_not_written_over(self):
        taken = self.write("taken.iw", "precious")
        self.refuses(self.scenario, "--record", taken, says=taken)
        self.assertEqual(pathlib.Path(taken).read_text(), "precious")

    def test_a_folder_that_is_missing_is_named(self):
        self.refuses(self.scenario, "--record", str(self.path / "no-such" / "s.iw"), code=1, says="no-such")

    def test_a_refused_run_leaves_no_file(self):
        recording = self.path / "s.iw"
        self.refuses(self.scenario, "--step-start", "200", "--record", str(recording))
        self.refuses(self.scenario, "--set", "machine.ranks=5000000", "--record", str(recording), says=["4194304", "5000000"])
        lonely = ["--set", "machine.ranks=300000", "--set", "machine.ranks_per_domain=1"]
        self.refuses(self.scenario, *lonely, "--record", str(recording), says="300000 domains")
        self.assertFalse(recording.exists())

    def test_ctrl_c_leaves_no_recording_of_half_a_run(self):
        recording = self.path / "s.iw"
        run = self.start_long_run("--record", str(recording))
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0)
        self.assertIn("interrupted", out)
        self.assertIn("s.iw", err)
        self.assertFalse(recording.exists())


    def test_ctrl_c_while_recording_leaves_a_sound_file_and_says_how_far_it_goes(self):
        for number, options in ((signal.SIGINT, []), (signal.SIGTERM, ["--json"])):
            with self.subTest(number):
                recording = self.path / f"{number.name}.iw"
                size = ["--set", "machine.ranks=4000", "--set", "program.steps=2000"]
                begun = lambda run: recording.exists() and recording.stat().st_size > 1000
                run = self.start_sim(self.scenario, *size, *options, "--record", str(recording), until=begun)
                run.send_signal(number)
                out, err = run.communicate(timeout=PATIENCE)
                self.assertEqual((run.returncode, len(err.splitlines())), (0, 1), err)
                ends_at, makespan = (float(text) for text in re.search(r"ends at (\S+) s of (\S+) s", err).groups())
                self.assertLess(ends_at, makespan)
                self.assertIn("makespan", out)
                report = json.loads(self.call("report", str(recording), "--json").stdout)
                self.assertEqual((report["complete"], report["dropped"], report["losses"]), (True, 0, []))
                self.assertAlmostEqual(report["duration_s"], ends_at, delta=1e-4 * ends_at)
                self.assertGreater(ends_at, 0)

    def test_ctrl_c_during_the_findings_leaves_the_result(self):
        size = ["--set", "machine.ranks=2000", "--set", "program.steps=2000", "--memory", "2GB"]
        # The run itself takes a few megabytes; what is found in it, a hundred and more.
        run = self.start_sim(self.scenario, *size, "--json", until=lambda run: self.megabytes(run.pid) > 150)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0)
        self.assertRegex(err, "^idlewave: interrupted: without what .* finds in a run\n$")
        result = json.loads(out)
        self.assertFalse(result["stopped"])
        self.assertEqual(result["rank_steps"], 4_000_000)
        self.assertNotIn("waves", result)

    @staticmethod
    def megabytes(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return next((int(line.split()[1]) // 1000 for line in status.splitlines() if line.startswith("VmRSS:")), 0)

    def test_ctrl_c_during_a_comparison_prints_no_half_of_it(self):
        recording = str(self.path / "s.iw")
        self.sim(self.scenario, "--record", recording)
        long = ["--set", "program.steps=100000000"]
        run = self.start_sim("--from", recording, *long, until=lambda run: self.catches(run.pid, signal.SIGINT))
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        self.assertEqual((run.returncode, out), (1, ""))
        self.assertRegex(err, "^idlewave: interrupted: .*\n$")

    def test_ctrl_c_ends_a_schedule_at_once(self):
        endless = "num_ranks 1\nrank 0 {\n" + "".join(f"l{i}: calc 1\n" for i in range(2_000_000)) + "}\n"
        run = self.start_sim("--goal", self.write("long.goal", endless), *NETWORK, until=lambda run: self.program_of(run) == "idlewave")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.communicate(timeout=PATIENCE)[0], "")
        self.assertEqual(run.returncode, -signal.SIGINT)

    @staticmethod
    def program_of(process):
        return pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip()

    def test_the_help_tells_exit_codes(self):
        said = self.call("sim", "--help").stdout
        for word in ("Exit code: 0", "Ctrl-C", "mpirun", "--threads"):
            self.assertIn(word, said)


class Sweeps(SimTest):
    def test_rows_stay_in_order_and_are_single_runs_to_the_bit(self):
        rows = self.sim(self.scenario, "--sweep", "machine.ranks_per_domain=1..10", "--sweep", "delay.0.duration=0.6s,1.2s")
        settings = [{"machine.ranks_per_domain": str(n), "delay.0.duration": duration} for n in range(1,
                                                                                                      11) for duration in ("0.6s", "1.2s")]
        self.assertEqual([row["set"] for row in rows], settings)
        for row in rows[::5] + rows[-1:]:
            single = self.sim(self.scenario, *[word for key, value in row["set"].items() for word in ("--set", f"{key}={value}")])
            self.assertEqual(row["makespan_s"], single["makespan_s"])
            self.assertEqual(row["rank_steps"], single["rank_steps"])
            self.assertEqual(row["active_means"], [domain["active_mean"] for domain in single["domains"]])

    def test_the_only_delay_needs_no_number(self):
        first, only = (self.sim(self.scenario, "--sweep", f"{key}=0.6s,1.2s") for key in ("delay.0.duration", "delay.duration"))
        self.assertEqual([row["makespan_s"] for row in only], [row["makespan_s"] for row in first])
        self.assertNotEqual(only[0]["makespan_s"], only[1]["makespan_s"])
        two = self.path / "two.toml"
        two.write_text(pathlib.Path(self.scenario).read_text() + '\n[[delay]]\nrank = 1\nstep = 1\nduration = "1 s"\n')
        self.refuses(str(two), "--set", "delay.duration=1s", says="is one of 2: say which, as in delay.0.duration")

    def test_seeds_can_be_swept(self):
        rows = self.sim(self.scenario, "--set", "noise.distribution=exponential", "--set", "noise.mean=0.2ms", "--sweep", "noise.seed=1..8")
        self.assertEqual(len({row["makespan_s"] for row in rows}), 8)

    def test_people_get_a_line_for_each_run(self):
        done = self.call("sim", self.scenario, "--sweep", "machine.ranks_per_domain=5..10")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], [f"machine.ranks_per_domain={n}" for n in range(5, 11)])
        self.assertIn("makespan 3.181", done.stdout.splitlines()[-1])

    def test_what_is_no_sweep_is_refused(self):
        self.refuses(self.scenario, "--sweep", "machine.ranks=9..3", says="FIRST..LAST")
        self.refuses(self.scenario, "--sweep", "machine.rnaks=3..9", says="rnaks")
        self.refuses(self.scenario, "--sweep", "delay.0.rank=38..41", "--json", says="rank")
        self.refuses(self.scenario, "--sweep", "noise.seed=1..2", "--record", str(self.path / "s.iw"), says="--record")
        self.refuses(self.scenario, "--sweep", "noise.seed=1..100000", "--sweep", "program.steps=1..100000", says="fewer values")


    def test_rows_do_not_depend_on_the_number_of_threads(self):
        sweep = ["--sweep", "delay.0.rank=0..7"]
        one, three = (self.sim(self.scenario, *sweep, "--threads", threads) for threads in ("1", "3"))
        self.assertEqual(one, three)
        self.refuses(self.scenario, *sweep, "--threads", "0", says="--threads")
        self.refuses(self.scenario, "--threads", "2", says="--sweep")


class SharedSweeps(SimTest):
    """Ranks that an MPI launcher starts, for each MPI with which the program was built."""
    SWEEP = ["--sweep", "machine.ranks_per_domain=1..10", "--sweep", "delay.0.duration=0.6s,1.2s"]

    def launchers(self):
        found = []
        for mpi in ("openmpi", "mpich"):
            launcher = shutil.which(f"mpirun.{mpi}") or shutil.which("mpirun")
            if launcher and (BIN / f"idlewave-sim-{mpi}").exists():
                found.append((mpi, [launcher, *(["--oversubscribe"] if mpi == "openmpi" else [])]))
        if not found:
            self.skipTest("built without MPI")
        self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ASAN_OPTIONS": "detect_leaks=0"}
        return found

    def launch(self, launcher, ranks, *arguments):
        return subprocess.Popen([*launcher, "-n", str(ranks), BIN / "idlewave", "sim", *arguments], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)

    def fails(self, launcher, *arguments, says):
        """Code 2 and one line of ours; launchers have their own to say."""
        run = self.launch(launcher, 2, *arguments)
        out, err = run.communicate(timeout=2 * PATIENCE)
        self.assertEqual((run.returncode, out), (2, ""), err)
        ours = [line for line in err.splitlines() if line.startswith("idlewave: ")]
        self.assertEqual(len(ours), 1, err)
        self.assertIn(says, ours[0])

    def test_ranks_share_the_rows_which_stay_the_same_to_the_bit(self):
        alone = self.call("sim", self.scenario, *self.SWEEP, "--json").stdout
        for mpi, launcher in self.launchers():
            for ranks in (1, 2, 3):
                with self.subTest(mpi=mpi, ranks=ranks):
                    run = self.launch(launcher, ranks, self.scenario, *self.SWEEP, "--json")
                    out, err = run.communicate(timeout=2 * PATIENCE)
                    self.assertEqual((run.returncode, out), (0, alone), err)

    def test_more_ranks_than_rows_end_all_the_same(self):
        alone = self.call("sim", self.scenario, "--sweep", "machine.ranks_per_domain=4,5").stdout
        for mpi, launcher in self.launchers():
            with self.subTest(mpi):
                run = self.launch(launcher, 4, self.scenario, "--sweep", "machine.ranks_per_domain=4,5", "--threads", "2")
                self.assertEqual(run.communicate(timeout=2 * PATIENCE)[0], alone)

    def test_a_mistake_is_named_once(self):
        for mpi, launcher in self.launchers():
            with self.subTest(mpi):
                self.fails(launcher, self.scenario, "--sweep", "machine.rnaks=3..9", "--json", says="rnaks")
                self.fails(launcher, self.scenario, "--sweep", "delay.0.rank=38..41", "--json", says="from 0 to 39")
                self.fails(launcher, self.scenario, "--sweep", "machine.ranks", says="FIRST..LAST")

    def test_ranks_that_would_all_do_the_same_are_refused(self):
        for mpi, launcher in self.launchers():
            with self.subTest(mpi):
                self.fails(launcher, self.scenario, "--json", says="--sweep")

    def test_ctrl_c_ends_all_ranks(self):
        long = ["--set", "machine.ranks=200000", "--set", "program.steps=1000000", "--sweep", "delay.0.rank=1..9", "--json"]
        for mpi, launcher in self.launchers():
            with self.subTest(mpi):
                run = self.launch(launcher, 2, self.scenario, *long)
                self.addCleanup(run.kill)
                ranks = self.wait_for(lambda: [pid for pid in self.ranks() if self.catches(pid, signal.SIGINT)], count=2)
                os.kill(run.pid, signal.SIGINT)
                self.assertNotIn("makespan", run.communicate(timeout=PATIENCE)[0])
                self.wait_for(lambda: [pid for pid in ranks if not pathlib.Path(f"/proc/{pid}").exists()], count=2)

    def wait_for(self, things, count):
        deadline = time.monotonic() + 60
        while len(found := things()) < count:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        return found

    def ranks(self):
        """Not all launchers are their parents; all have the environment of this test."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                ours = str(self.path).encode() in (process / "environ").read_bytes()
                if ours and (process / "comm").read_text().startswith("idlewave-sim"):
                    found.append(int(process.name))
            except OSError:
                pass
        return found

    def test_a_program_without_mpi_says_so(self):
        program = shutil.copy(BIN / "idlewave", self.path)
        for rank, lines in (("0", 1), ("1", 0)):
            launched = {**self.environment, "PMI_SIZE": "2", "PMI_RANK": rank}
            done = subprocess.run([program, "sim", self.scenario, *self.SWEEP], capture_output=True, text=True, env=launched,
                                  timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", lines))
            if lines:
                self.assertIn("without MPI", done.stderr)

    def test_ranks_that_do_not_find_each_other_say_so(self):
        if "openmpi" not in dict(self.launchers()):
            self.skipTest("built without Open MPI")
        self.environment |= {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
        self.refuses(self.scenario, *self.SWEEP, says="different kinds")


class Schedules(SimTest):
    def test_a_recording_of_a_schedule_shows_its_ranks(self):
        goal, recording = self.write("three.goal", RING), str(self.path / "three.iw")
        result = self.sim("--goal", goal, *NETWORK, "--record", recording)
        report = json.loads(self.call("report", recording, "--json").stdout)
        self.assertEqual((report["ranks"], report["complete"], report["dropped"]), (3, True, 0))
        self.assertAlmostEqual(report["duration_s"], result["makespan_s"], delta=2e-9)
        self.refuses("--goal", goal, *NETWORK, "--record", recording, says=["three.iw", "exists"])

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


class Watched(SimTest):
    def test_a_demo_runs_with_simulated_ranks(self):
        done = self.call("demo", "memory-bound", "--simulated", "--headless", "6s", "--ranks", "40", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["ranks"], report["dropped"]), (40, 0))
        self.assertEqual([wave["origin_rank"] for wave in report["waves"]], [5])
        self.assertEqual([command["outcome"] for command in report["commands"]], ["accepted"])

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

    CORE_BOUND = ["--set", "machine.ranks=8", "--set", "program.kernel=core", "--set", "program.time=20ms", "--without-delays"]

    def test_commands_take_effect_and_are_taken_back(self):
        endpoint, *processes = self.watch(self.scenario, *self.CORE_BOUND, "--allow-inject")
        def inject(*order):
            self.assertEqual(self.call("inject", "--session", endpoint, *order).returncode, 0)
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
        self.assertAlmostEqual(report["duration_s"], 200 * 0.02 + held["ended_s"] - held["took_effect_s"], delta=1e-6)

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
    BIN = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)

#!/usr/bin/env python3
"""Calls `idlewave sim` as users and scripts do: results, recordings, sweeps, schedules, complaints. Usage: sim_test.py FOLDER-OF-PROGRAMS"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = None

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
        return subprocess.run([BIN / "idlewave", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                              env=self.environment, **options)

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


    def start_long_run(self, *arguments):
        """A run of hours that already heeds SIGINT."""
        long = ["--set", "machine.ranks=200000", "--set", "program.steps=1000000"]
        run = subprocess.Popen([BIN / "idlewave", "sim", self.scenario, *long, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 60
        while not self.catches(run, signal.SIGINT):
            self.assertIsNone(run.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        return run

    @staticmethod
    def catches(process, number):
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
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
        algorithms = {"allreduce": ("dissemination", "recursive-doubling", "ring"), "allgather": ("dissemination", "bruck", "recursive-doubling", "ring"),
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

    def test_what_does_not_fit_a_collective_is_refused(self):
        def setting(text):
            return self.scenario, "--set", text

        self.refuses(*setting("communication.algorithm=binomial"), says=["algorithm", "recursive-doubling"])
        self.refuses(*setting("communication.collective=alltoall"), says="allgather")
        self.refuses(*setting("communication.root=64"), says=["root", "63"])
        self.refuses(*setting("communication.topology=ring"), says="topology")
        self.refuses(*setting("communication.time=1us"), says="time")
        self.refuses(*setting("communication.message_size=0 B"), says="message_size")
        self.refuses(self.scenario, "--set", "program.kernel=memory", "--set", "program.volume=1 MB", "--set", "machine.core_bandwidth=1 GB/s",
                     "--set", "machine.domain_bandwidth=1 GB/s", says="kernel")
        self.refuses(self.scenario, "--step-start", "20", says="19")
        self.refuses(self.scenario, "--realtime", "--stream", "tcp://127.0.0.1:*", says="collective")
        self.refuses(self.write("bare.toml", COLLECTIVE.split("L =")[0]), says="LogGOPS")
        self.refuses(self.write("mode.toml", REFERENCE.replace('topology = "ring"', 'mode = "ideal"')), says=["mode", "collective"])

    def test_an_interrupted_run_ends_with_what_it_has(self):
        run = self.start_long_run("--json")
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
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
        speedup = self.speedups(10, "noise.distribution=checkpoint", "communication.collective=allreduce,allgather,gather,scatter", "machine.ranks=1024,4096")
        for ranks in ("1024", "4096"):
            for collective in ("allreduce", "allgather"):
                for tree in ("gather", "scatter"):
                    self.assertGreater(speedup["checkpoint", collective, ranks], 3 * speedup["checkpoint", tree, ranks])
                    self.assertLess(speedup["checkpoint", tree, ranks], 2)

    def test_low_noise_costs_dissemination_little_and_the_root_of_a_tree_is_slow_beyond_16_ki_ranks(self):
        speedup = self.speedups(3, "noise.distribution=system", "communication.collective=allreduce,gather,scatter", "machine.ranks=1024,16384,65536")
        for tree in ("gather", "scatter"):
            small, medium, large = (speedup["system", tree, ranks] for ranks in ("1024", "16384", "65536"))
            self.assertLess(medium, 1.015)
            self.assertGreater(large - 1, 2 * (medium - 1))
            self.assertLess(small, medium)
            self.assertGreater(large, speedup["system", "allreduce", "65536"])
        self.assertLess(speedup["system", "allreduce", "65536"], 1.015)

    def test_rows_are_written_as_csv(self):
        path = self.path / "rows.csv"
        sweep = ["--sweep", "machine.ranks=16,32", "--sweep", "communication.collective=gather", "--against", "communication.mode=ideal", "--set", "program.steps=2"]
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
        self.assertEqual(sum("speedup with communication.mode=ideal" in line for line in lines), 3)
        for text in ("noise.distribution = checkpoint", "machine.ranks", "1Ki", "8Ki", "a  communication.collective = allreduce"):
            self.assertIn(text, done.stdout)

    def test_studies_are_listed_apart_from_lessons(self):
        self.assertIn("noise-and-collectives", self.call("study", "--list").stdout)
        self.assertNotIn("memory-bound", self.call("study", "--list").stdout)
        self.assertNotIn("noise-and-collectives", self.call("demo", "--list").stdout)
        self.assertEqual(self.call("study", "nothing").returncode, 2)

    def test_what_does_not_go_with_a_sweep_is_refused(self):
        self.refuses(self.scenario, "--against", "machine.ranks=4", says="--sweep")
        self.refuses(self.scenario, "--csv", "rows.csv", says="--sweep")
        self.refuses(self.scenario, "--chart", says="--against")
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
        result = self.sim(self.scenario, "--set", "machine.ranks=20", "--set", "program.steps=9", "--set", "machine.ranks=80", "--without-delays")
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
        self.refuses(self.scenario, "--window", "0.9:0.1", says="0.6:0.85")
        self.refuses(self.scenario, "--step-start", "200", says=["200", "199"])
        self.refuses(self.scenario, "--step-start", "-1")
        self.refuses(self.scenario, "--stream", "tcp://127.0.0.1:0", says="--realtime")
        self.refuses(self.scenario, "--frobnicate")
        self.refuses(says="scenario")

    def test_a_missing_trace_is_named(self):
        path = self.write("noisy.toml", REFERENCE + '[noise]\ndistribution = "trace"\nfile = "no-such.csv"\n')
        self.refuses(path, says="no-such.csv")

    def test_more_ranks_than_the_memory_holds_are_refused(self):
        little = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        if self.call("sim", "--version", preexec_fn=little).returncode != 0:
            self.skipTest("a program with a sanitizer does not start in so little memory")
        for options in ([], ["--sweep", "program.steps=100..103"]):
            self.refuses(self.scenario, "--set", "machine.ranks=100000000", *options, says=["GB", "fewer ranks"], preexec_fn=little)

    def test_ctrl_c_ends_a_long_run_with_what_it_has(self):
        run = self.start_long_run("--json")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, err), (0, ""))
        result = json.loads(out)
        self.assertTrue(result["stopped"])
        self.assertLess(result["rank_steps"], 200_000 * 1_000_000)

    def test_ctrl_c_is_told_to_people(self):
        run = self.start_long_run("--set", "program.kernel=core", "--set", "program.time=10ms")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, err), (0, ""))
        self.assertIn("interrupted", out)

    def test_ctrl_c_ends_a_sweep_without_half_a_row(self):
        run = self.start_long_run("--sweep", "machine.ranks_per_domain=8..10")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, out), (1, ""))
        self.assertIn("interrupted after 0 of 3 runs", err)


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
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0)
        self.assertIn("interrupted", out)
        self.assertIn("s.iw", err)
        self.assertFalse(recording.exists())


class Sweeps(SimTest):
    def test_rows_stay_in_order_and_are_single_runs_to_the_bit(self):
        rows = self.sim(self.scenario, "--sweep", "machine.ranks_per_domain=1..10", "--sweep", "delay.0.duration=0.6s,1.2s")
        settings = [{"machine.ranks_per_domain": str(n), "delay.0.duration": duration} for n in range(1, 11) for duration in ("0.6s", "1.2s")]
        self.assertEqual([row["set"] for row in rows], settings)
        for row in rows[::5] + rows[-1:]:
            single = self.sim(self.scenario, *[word for key, value in row["set"].items() for word in ("--set", f"{key}={value}")])
            self.assertEqual(row["makespan_s"], single["makespan_s"])
            self.assertEqual(row["rank_steps"], single["rank_steps"])
            self.assertEqual(row["active_means"], [domain["active_mean"] for domain in single["domains"]])

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


class Schedules(SimTest):
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
        done = self.call("sim", "--goal", self.write("stuck.goal", RING.replace("send 8b to 2 tag 7", "send 8b to 2 tag 8")), *NETWORK, "--json")
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


class Watched(SimTest):
    def test_a_demo_runs_with_simulated_ranks(self):
        done = self.call("demo", "memory-bound", "--simulated", "--headless", "6s", "--ranks", "40", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["ranks"], report["dropped"]), (40, 0))
        self.assertEqual([wave["origin_rank"] for wave in report["waves"]], [5])
        self.assertEqual([command["outcome"] for command in report["commands"]], ["accepted"])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)

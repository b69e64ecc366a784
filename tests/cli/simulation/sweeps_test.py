#!/usr/bin/env python3
"""Calls `idlewave sim --sweep` and `idlewave study`, alone and under a launcher. Usage: sweeps_test.py FOLDER-OF-PROGRAMS"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from simulations import BIN, PATIENCE, SimTest, main

STUDY = pathlib.Path(__file__).resolve().parents[3] / "workloads" / "scenarios" / "noise-and-collectives.toml"


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
        drawn = self.call("study", "overlap-bound").stdout.split("speedup  by overlap")[0]
        self.assertRegex(drawn, r"(?m)^ +69275 ns +88118 ns +242185 ns +571380 ns 2076033 ns 5273213 ns ")
        self.assertRegex(drawn, r"(?m)^ +a  speedup$")
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
                        "noise.interval=60 s,120 s", "--sweep", "noise.duration=0.5 s,1 s")
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


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Calls `idlewave sim` to record what it simulates, and with recordings. Usage: recordings_test.py FOLDER-OF-PROGRAMS"""
import json
import pathlib
import re
import signal

from simulations import NETWORK, PATIENCE, SimTest, main


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
        self.refuses(self.scenario, "--record", str(self.path / "no-such" / "s.iw"), says="no-such")

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
        self.assertEqual(run.returncode, 1)
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
        sizes = []

        def has_grown(run):
            if self.catches(run.pid, signal.SIGINT):
                sizes.append(self.megabytes(run.pid))
            return sizes and sizes[-1] > sizes[0] + 100

        run = self.start_sim(self.scenario, *size, "--json", until=has_grown)
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


if __name__ == "__main__":
    main()

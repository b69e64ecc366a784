#!/usr/bin/env python3
"""Plays the lessons that are shipped, as a student who answers by theory. Usage: lessons_test.py FOLDER-OF-PROGRAMS FOLDER-OF-SCENARIOS"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

BIN, SCENARIOS = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
PATIENCE = 100 * float(os.environ.get("IDLEWAVE_TEST_PATIENCE", 1))


class OfLessons(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "sessions").mkdir(mode=0o700)

    def demo(self, *arguments, **variables):
        environment = os.environ | {"IDLEWAVE_DIR": str(self.path / "sessions")} | variables
        return subprocess.run([BIN / "idlewave", "demo", *arguments], capture_output=True, text=True, timeout=PATIENCE, env=environment,
                              stdin=subprocess.DEVNULL)

    def lessons(self):
        scenarios = {path.stem: tomllib.loads(path.read_text()) for path in sorted(SCENARIOS.glob("*.toml"))}
        return {name: scenario for name, scenario in scenarios.items() if "lesson" in scenario}

    def refused(self, text, says):
        file = self.path / "l.toml"
        file.write_text(text)
        done = self.demo(file, "--headless", "--simulated")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def one_line(self, done, code, says):
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (code, "", 1), done.stderr)
        self.assertIn(says, done.stderr)


class Lessons(OfLessons):
    def test_every_lesson_shows_its_effect_on_simulated_ranks(self):
        played = 0
        for name, scenario in self.lessons().items():
            if scenario.get("program", {}).get("kernel") not in ("core", "memory"):
                continue
            with self.subTest(name):
                answers = self.path / f"{name}.json"
                done = self.demo(name, "--headless", "--simulated", "--answers", answers)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                pages = json.loads(answers.read_text())["pages"]
                measured = [page for page in pages if page["checks"]]
                self.assertEqual([page["verdict"] for page in measured], ["near"] * len(measured))
                self.assertGreaterEqual(len(measured), 1)
                self.assertEqual(len(re.findall(r"^page \d+ of \d+: ", done.stdout, re.MULTILINE)), len(measured))
                self.assertNotRegex(done.stdout, r"[{}]")
                played += 1
        self.assertGreaterEqual(played, 9)

    def test_a_delay_reaches_as_far_as_noise_lets_it_whatever_is_drawn(self):
        text = (SCENARIOS / "noise-in-one-direction.toml").read_text()
        file = self.path / "noise.toml"
        # D / mu of physics.md, and neither half nor twice of it.
        for seed, hold, code in ((2, "20 ms", 0), (3, "20 ms", 0), (4, "20 ms", 0), (4, "10 ms", 1), (4, "40 ms", 1)):
            with self.subTest(seed=seed, hold=hold):
                file.write_text(text.replace("seed = 1", f"seed = {seed}").replace('hold = "20 ms"', f'hold = "{hold}"'))
                done = self.demo(file, "--headless", "--simulated")
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def test_every_lesson_is_played_by_a_test(self):
        for name, scenario in self.lessons().items():
            simulated = scenario.get("program", {}).get("kernel") in ("core", "memory")
            self.assertTrue(simulated or name == "triad" or "play" in scenario, name)  # both: played_lessons_test.py

    def test_what_a_lesson_says_to_type_of_theory_is_accepted(self):
        calls = 0
        for name in self.lessons():
            for words in re.findall(r"`idlewave (theory [^`]*)`", (SCENARIOS / f"{name}.toml").read_text()):
                done = subprocess.run([BIN / "idlewave", *words.split()], capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual((done.returncode, done.stderr), (0, ""), f"{name}: {words}")
                calls += 1
        self.assertGreaterEqual(calls, 4)

    def test_a_simulated_lesson_comes_to_the_same_figures_every_time(self):
        runs = []
        for _ in range(2):
            answers = self.path / "a.json"
            self.assertEqual(self.demo("memory-bound", "--headless", "--simulated", "--answers", answers).returncode, 0)
            runs.append(json.loads(answers.read_text()) | {"session": None})
        self.assertEqual(*runs)

    def test_a_replay_shows_the_page_that_was_open(self):
        recording = self.path / "l.iw"
        self.assertEqual(self.demo("core-bound", "--headless", "--simulated", "--record", recording).returncode, 0)
        for arguments, page in ((["--at", "0.1s"], 1), ([], 3)):
            shown = subprocess.run([BIN / "idlewave", "replay", recording, "--once", "--size", "120x40", *arguments], capture_output=True,
                                   text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL).stdout
            self.assertIn(f"LESSON {page} of 3", shown)
            self.assertNotIn("Enter", shown.split("LESSON")[1].splitlines()[0])

    def test_of_ranks_that_could_not_be_started_no_recording_is_left(self):
        if not (BIN / "iw-ring").exists():
            self.skipTest("built without MPI: no lesson has real ranks")
        launcher, recording = self.path / "mpirun", self.path / "tried.iw"
        launcher.write_text("#!/no/such/interpreter\n")
        launcher.chmod(0o755)
        launcher.with_name("mpirun.openmpi").symlink_to(launcher)
        self.one_line(self.demo("memory-bound", "--headless", "2s", "--record", recording, PATH=str(self.path)), 1, "interpreter")
        self.assertFalse(recording.exists())

    def test_a_recording_holds_what_was_found_last(self):
        recording = self.path / "l.iw"
        self.assertEqual(self.demo("memory-bound", "--headless", "--simulated", "--record", recording).returncode, 0)
        shown = subprocess.run([BIN / "idlewave", "replay", recording, "--once", "--size", "160x48"], capture_output=True, text=True,
                               timeout=PATIENCE, stdin=subprocess.DEVNULL).stdout
        self.assertIn("You said lockstep. State of socket 2: measured", shown)

    def test_a_lesson_that_was_played_to_its_end_is_a_whole_session(self):
        recording = self.path / "l.iw"
        done = self.demo("core-bound", "--headless", "--simulated", "--json", "--record", recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["complete"])
        checked = subprocess.run([BIN / "idlewave", "info", "--check", recording], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_a_lesson_whose_effect_is_not_seen_fails(self):
        text = (SCENARIOS / "core-bound.toml").read_text().replace('theory = "1 rank/step"', 'theory = "2 ranks/step"', 1)
        (self.path / "wrong.toml").write_text(text)
        done = self.demo(self.path / "wrong.toml", "--headless", "--simulated")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not every effect of the lesson was seen", done.stderr)
        self.assertIn("The wave did not run as messages let it.", done.stdout)
        self.assertNotIn("load", done.stdout)
        self.assertNotIn("--simulated", done.stdout)

    def test_a_lesson_takes_as_few_ranks_as_it_says_and_no_fewer(self):
        file, with_bounds = self.path / "l.toml", 0
        for name, scenario in self.lessons().items():
            if least := scenario["lesson"].get("least_ranks"):
                with self.subTest(name):
                    flags = ["--headless", "--simulated", "--ranks"]
                    self.assertEqual(self.demo(name, *flags, str(least)).returncode, 0)
                    self.one_line(self.demo(name, *flags, str(least - 1)), 2, f"needs {least} ranks or more, and there are {least - 1}: ")
                    file.write_text((SCENARIOS / f"{name}.toml").read_text().replace(f"least_ranks = {least}\n", ""))
                    self.assertNotEqual(self.demo(file, *flags, str(least - 1)).returncode, 0)
                    with_bounds += 1
        self.assertGreaterEqual(with_bounds, 10)

    def test_what_the_command_line_leaves_of_a_scenario_is_said_to_come_of_it(self):
        file = self.path / "l.toml"
        file.write_text((SCENARIOS / "memory-bound.toml").read_text().replace("least_ranks = 30\n", ""))
        self.one_line(self.demo(file, "--headless", "--simulated", "--ranks", "3"), 2,
                      "there is no socket 1: this scenario has sockets 0 to 0; that comes of --ranks 3\n")

    def test_which_lessons_can_be_simulated_is_read_from_them(self):
        names = [name for name, scenario in self.lessons().items() if scenario.get("program", {}).get("kernel") in ("core", "memory")]
        self.one_line(self.demo("triad", "--simulated"), 2, f"--simulated goes with {', '.join(names)}\n")

    def test_a_lesson_whose_order_is_refused_ends_with_the_reason(self):
        lesson = self.path / "network.toml"
        collective = 'collective = "allreduce"\nL = "2 us"\no = "1 us"'
        good = (SCENARIOS / "core-bound.toml").read_text()
        lesson.write_text(good.replace('topology = "ring"\ndistances = [-1, 1]\nwait = "all"', collective, 1))
        done = self.demo(lesson, "--headless", "--simulated")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        reason = "a run on a LogGOPS network takes no orders while it runs"
        self.assertRegex(done.stderr, rf"(?m)^idlewave: the order of page \d was refused: {reason}\n\Z")

    def test_a_lesson_is_refused_for_sizes_of_which_its_words_are_not_true(self):
        for sizes, says in ((["memory-bound", "--ranks-per-domain", "4"], "is about 10 ranks on a socket, and can't be played with 4"),
                            (["delay-doubled", "--ranks", "20"], "is about 60 ranks, and can't be played with 20"),
                            (["memory-bound", "--ranks", "20"], "needs 30 ranks or more, and there are 20: give more by --ranks")):
            self.one_line(self.demo(*sizes, "--simulated", "--headless"), 2, says)
        good = (SCENARIOS / "core-bound.toml").read_text()
        self.refused(good.replace("[lesson]", '[lesson]\nfixed = ["steps"]', 1),
                     '"steps" is none of ranks, ranks_per_domain, bandwidths, saturated')

    def test_the_list_has_the_figure_of_each(self):
        listed = self.demo("--list").stdout
        width = max(map(len, self.lessons()))
        for name, scenario in self.lessons().items():
            player = f" [{scenario['play']['program']}]" if "play" in scenario else ""
            self.assertIn(f"{name:{width}} {scenario['lesson']['summary']}\n{'':{width}} {scenario['lesson']['figure']}{player}", listed)

    def test_every_path_of_a_lesson_is_a_key_of_the_report(self):
        file = self.path / "l.toml"
        file.write_text((SCENARIOS / "memory-bound.toml").read_text().replace("domains.1.active_mean", "nowhere"))
        paths = self.demo(file, "--headless", "--simulated").stderr.split("accepted, with a place for N (-1 is the last): ")[1].split()
        report = json.loads(self.demo("memory-bound", "--headless", "--simulated", "--json").stdout)
        self.assertGreaterEqual(len(paths), 15)
        for path in paths:
            value = report
            if path.startswith(("threads.", "matrix.")):  # no rank says any: of those that do, sleeping-threads and topology are played
                self.assertIsNone(report[path.split(".")[0]])
                continue
            for key in path.rstrip(",").split("."):
                value = [each for each in value if each is not None][-1] if key == "N" else value[key]  # what is in lockstep has no slope
            self.assertIsInstance(value, (int, float, str), path)

    def test_mistakes_are_named_by_file_line_and_key(self):
        good = (SCENARIOS / "core-bound.toml").read_text()
        lines = good.splitlines()
        for key, instead, says in (
                ('path = "waves.-1.up.end"', 'path = "waves.-1.up.ends"', "lesson.page.check.path: no finding is at"),
                ('tolerance = "0.2 ranks/step"', 'tolerance = "0.2"', 'lesson.page.check.tolerance: "0.2" is no number in ranks/step'),
                ('answer = "annihilated"', 'answer = "gone"', 'lesson.page.ask.answer: "gone" is none of the choices: annihilated'),
                ('text = "{ranks} ranks on', 'after = "far"\ntext = "{ranks} ranks on',
                 "lesson.page.after: leads nowhere: the page can't be reached")):
            number = next(i for i, line in enumerate(lines, 1) if line.startswith(key))
            self.refused(good.replace(key, instead, 1), f"l.toml:{number}: {says}")

    def test_answers_that_cant_be_kept_are_refused_before_anything_starts(self):
        done = self.demo("core-bound", "--headless", "--simulated", "--answers", self.path / "no" / "folder.json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("the answers could not be written to", done.stderr)
        scenario = self.path / "plain.toml"
        scenario.write_text((SCENARIOS / "core-bound.toml").read_text().split("[lesson]")[0])
        done = self.demo(scenario, "--headless", "--simulated", "--answers", self.path / "a.json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("asks nothing", done.stderr)


if __name__ == "__main__":
    unittest.main()

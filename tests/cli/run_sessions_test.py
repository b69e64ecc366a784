#!/usr/bin/env python3
"""Sessions of `idlewave run` by their names: who may join, order, record and come later.
Usage: run_sessions_test.py FOLDER-OF-PROGRAMS REPORTER [TEST...]"""
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

from run_cases import BIN, eventually, main, PATIENCE, RunCase


class Sessions(RunCase):
    def test_a_folder_that_cannot_hold_sessions_is_named(self):
        for folder in ("relative/folder", "/tmp/" + "x" * 200):
            self.environment["IDLEWAVE_DIR"] = folder
            code, _, err = self.shell("touch started")
            self.assertEqual((code, err.count(b"\n")), (2, 1), err)
            self.assertIn(b"IDLEWAVE_DIR=" + folder.encode(), err)
        self.assertFalse((self.path / "started").exists())

    def test_a_session_that_runs_is_not_disturbed_by_another_of_its_name(self):
        for listen in ([], ["--listen", "tcp://127.0.0.1:*"]):
            keys = {"XDG_CACHE_HOME": str(self.path / "cache")}
            self.environment.update(keys)
            first = self.start("--session", "one", "--record", f"s{len(listen)}.iw", *listen,
                               "--", "sh", "-c", "echo ready; read go; $REPORTER 5; exit 4", stdin=subprocess.PIPE)
            self.addCleanup(first.stdin.close)
            self.assertEqual(first.stdout.readline(), b"ready\n")
            self.assertTrue(eventually((self.sessions / "one/host").exists))
            before = sorted(p for p in self.path.rglob("*"))
            code, out, err = self.shell("echo started", "--session", "one", *listen)
            self.assertEqual((code, out, sorted(p for p in self.path.rglob("*"))), (2, b"", before), err)
            self.assertIn(b"'one' runs already", err)
            _, err = first.communicate(b"\n", timeout=PATIENCE)
            self.assertEqual(first.returncode, 4, err)
            info = subprocess.run([BIN / "idlewave", "info", "--check", self.path / f"s{len(listen)}.iw"], capture_output=True)
            self.assertEqual(info.returncode, 0, info.stdout)

    def test_two_programs_of_one_script_are_one_session(self):
        code, out, err = self.shell("$REPORTER 10; sleep 1.5; $REPORTER 20; exit 3", "--report", "r.json")
        self.assertEqual(code, 3, err)
        report = json.loads((self.path / "r.json").read_text())
        # start, stop, and three events a step
        self.assertEqual((report["events"], report["dropped"], out), (2 * 2 + 30 * 3, 0, b""))

    def test_nothing_listens_at_another_address_than_the_one_that_was_chosen(self):
        run = self.start("--listen", "tcp://127.0.0.1:*", "--", "sh", "-c", "echo ready; sleep 1; exit 6")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        sockets = set()
        for pid in self.processes("iw-host"):
            for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(os.readlink(fd))
        lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
        listening = [line[1].split(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets]
        self.assertEqual(listening, ["0100007F"] * 2)
        self.assertEqual(run.wait(timeout=PATIENCE), 6)

    def test_one_moment_has_one_time_on_the_screen_and_in_each_recording_whenever_it_was_begun(self):
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}", file=sys.stderr)
        dice = random.Random(seed)
        call = lambda *words: subprocess.run([BIN / "idlewave", *words], capture_output=True, text=True, cwd=self.path,
                                             env=self.environment, timeout=PATIENCE)
        run = self.start("--session", "clocked", "--allow-inject", "--json", "--", "sh", "-c", "$REPORTER 3000 2000")
        socket = self.sessions / "clocked/agent.sock"
        self.assertTrue(eventually(socket.exists))
        time.sleep(dice.uniform(0.5, 1.5))
        attached = subprocess.Popen([BIN / "idlewave", "attach", f"ipc://{socket}", "--view", "--headless", "--record", "direct.iw"],
                                    env=self.environment, cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(attached.wait)
        self.addCleanup(attached.kill)
        screen, other = self.screen_on("clocked")
        time.sleep(dice.uniform(0.2, 1))
        os.write(other, b"r")
        self.assertTrue(eventually((self.path / "clocked.iw").exists))
        self.assertTrue(eventually(lambda: (self.path / "direct.iw").exists()))
        time.sleep(0.2)
        self.assertEqual(call("inject", "--session", "clocked", "--ranks", "0", "--delay", "200ms").returncode, 0)
        whole = json.loads(run.communicate(timeout=PATIENCE)[0])
        attached.wait(timeout=PATIENCE)
        os.close(other)
        self.assertEqual(whole["from_s"], 0)
        began = whole["commands"][0]["took_effect_s"]
        for path in ("direct.iw", "clocked.iw"):
            with self.subTest(path=path, seed=seed):
                report = json.loads(call("report", path, "--json").stdout)
                self.assertEqual(report["commands"][0]["took_effect_s"], began)
                self.assertAlmostEqual(report["from_s"] + report["duration_s"], whole["duration_s"], delta=0.2)
                # Of the session, which begins when the rank does: some time after the socket is there.
                self.assertGreater(report["from_s"], 0)
                self.assertLess(report["from_s"], began)
                self.assertRegex(call("report", path).stdout.splitlines()[0], r" recorded from [0-9.]+ m?s, ")
                shown = call("replay", "--once", "--size", "160x48", "--at", f"{began + 0.1:.3f}s", path).stdout
                self.assertIn(f"recorded from {report['from_s']:.1f} s", shown)
                self.assertIn(f"PAUSED at {began + 0.1:.1f} s", shown)

    def test_a_rank_that_is_held_goes_on_when_its_launcher_has_ended(self):
        run = self.start("--allow-inject", "--session", "held", "--", "sh", "-c", "$REPORTER 200 & wait")
        self.assertTrue(eventually(lambda: (self.sessions / "held" / "agent").exists()))
        inject = lambda: subprocess.run([BIN / "idlewave", "inject", "--session", "held", "--ranks", "0", "--delay", "1h"],
                                        env=self.environment, capture_output=True)
        self.assertTrue(eventually(lambda: inject().returncode == 0))
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=PATIENCE), -signal.SIGTERM)
        self.assertTrue(eventually(lambda: not self.processes("cli_reporter")))

    def test_noise_ends_with_the_screen_that_ordered_it_and_that_of_a_script_stands(self):
        """Where a host stands between the two."""
        run = self.start("--session", "noisy", "--allow-inject", "--json", "--", "sh", "-c",
                         "$REPORTER 1000 10000 0 2 & $REPORTER 1000 10000 1 2; wait")
        self.assertTrue(eventually(lambda: (self.sessions / "noisy" / "agent").exists()))
        screen, other = self.screen_on("noisy")
        threading.Thread(target=self.read_all, args=(other,), daemon=True).start()
        for key in b"n", b"\r", b"y":
            os.write(other, key)
            time.sleep(0.2)
        inject = subprocess.run([BIN / "idlewave", "inject", "--session", "noisy", "--ranks", "1", "--noise", "exp:1ms"],
                                env=self.environment, capture_output=True)
        self.assertEqual(inject.returncode, 0, inject.stderr)
        time.sleep(0.5)
        screen.kill()
        report = json.loads(run.communicate(timeout=PATIENCE)[0])
        commands = [command for command in report["commands"] if command["outcome"] == "accepted"]
        of_screen, of_script, end = sorted(commands, key=lambda command: command["sent_s"])
        self.assertEqual((of_screen["kind"], of_screen["ends_with_giver"], of_script["kind"]), ("noise", True, "noise"))
        self.assertEqual((end["kind"], end["noise_of"], end["ranks"]), ("clear", of_screen["id"], []))
        self.assertLess(of_screen["ended_s"], report["duration_s"] - 1)
        self.assertNotIn("ends_with_giver", of_script)
        self.assertIsNone(of_script["ended_s"])

    def test_a_trace_ends_with_the_screen_that_ordered_it_and_that_of_a_script_when_it_is_cleared(self):
        """Where a host stands between. They are played at once, by different ranks, until the recording has all that was ordered."""
        (self.path / "third.txt").write_text("0 1000000\n3000000 0\n")
        (self.path / "half.txt").write_text("0 2000000\n4000000 0\n")
        run = self.start("--session", "traced", "--allow-inject", "--record", "traced.iw", "--json", "--", "sh", "-c",
                         "$REPORTER 12000 5000 0 2 & a=$!; $REPORTER 12000 5000 1 2 & b=$!; "
                         "while [ ! -e go ]; do sleep 0.02; done; kill $a $b; wait")
        self.assertTrue(eventually(lambda: (self.sessions / "traced" / "agent").exists()))
        screen, other = self.screen_on("traced")
        threading.Thread(target=self.read_all, args=(other,), daemon=True).start()

        def press(*keys):
            for key in keys:
                os.write(other, key)
                time.sleep(0.2)

        def recorded():
            """What was accepted and is in the recording, in the order in which it was sent."""
            told = subprocess.run([BIN / "idlewave", "report", "traced.iw", "--json"], cwd=self.path, capture_output=True, timeout=PATIENCE)
            commands = json.loads(told.stdout or "{}").get("commands", [])
            return sorted((command for command in commands if command["outcome"] == "accepted"), key=lambda command: command["sent_s"])

        def knows(place, what):
            return eventually(lambda: [command.get(what) for command in recorded()][place:place + 1] not in ([], [None]))

        def inject(*words):
            return subprocess.run([BIN / "idlewave", "inject", "--session", "traced", *words], env=self.environment, cwd=self.path,
                                  capture_output=True, text=True)

        press(b"n", b"trace:none.txt\r", b"\x7f" * 8 + b"third.txt\r", b"y")
        self.assertTrue(knows(0, "took_effect_s"))
        given = inject("--ranks", "1", "--noise", f"trace:{self.path}/half.txt")
        self.assertEqual((given.returncode, given.stderr), (0, ""))
        self.assertTrue(knows(1, "took_effect_s"))
        screen.kill()
        self.assertTrue(knows(0, "ended_s"))
        self.assertEqual(inject("--clear").returncode, 0)
        self.assertTrue(knows(1, "ended_s"))
        (self.path / "go").touch()
        report = json.loads(run.communicate(timeout=PATIENCE)[0])
        again = subprocess.run([BIN / "idlewave", "report", "traced.iw", "--json"], cwd=self.path, capture_output=True, timeout=PATIENCE)
        for commands in report["commands"], json.loads(again.stdout)["commands"]:
            of_screen, of_script, end, clear = sorted((command for command in commands if command["outcome"] == "accepted"),
                                                      key=lambda command: command["sent_s"])
            self.assertEqual([(noise["file"], noise["detours"], noise["ranks"]) for noise in (of_screen, of_script)],
                             [("third.txt", 2, []), ("half.txt", 2, [1])])
            self.assertEqual((end["noise_of"], clear["kind"]), (of_screen["id"], "clear"))
            for noise in of_screen, of_script:
                self.assertIsNotNone(noise["took_effect_s"])
            self.assertLess(of_screen["ended_s"], of_script["ended_s"])
        shown = subprocess.run([BIN / "idlewave", "replay", "--once", "--size", "160x48", "--at", f"{of_script['took_effect_s'] + 0.1}s",
                                "traced.iw"], cwd=self.path, capture_output=True, text=True, timeout=PATIENCE).stdout
        self.assertIn("noise trace:half.txt (2 detours, 50 % of 4 ms) in ranks 1", shown)

    def test_agents_are_told_by_which_group_of_likwid_they_count(self):
        self.assertEqual(self.shell("echo $IDLEWAVE_LIKWID_GROUP", "--likwid-group", "MEM_DP")[1], b"MEM_DP\n")
        self.assertEqual(self.shell("echo $IDLEWAVE_LIKWID_GROUP")[1], b"\n")

    def test_what_a_machine_file_says_is_known_of_ranks_that_say_nothing(self):
        (self.path / "machine.toml").write_text('[machine]\nranks_per_domain = 4\ncurve = ["10GB/s", "19GB/s", "24.5GB/s", "25GB/s"]\n')
        code, out, err = self.shell("$REPORTER 20", "--machine", "machine.toml", "--record", "s.iw", "--report", "live.json")
        self.assertEqual(code, 0, err)
        again = subprocess.run([BIN / "idlewave", "report", "s.iw", "--json"], cwd=self.path, capture_output=True, timeout=PATIENCE)
        for report in json.loads((self.path / "live.json").read_text()), json.loads(again.stdout):
            for domain in report["domains"]:
                self.assertEqual((domain["curve_gbs"], domain["curve_source"], domain["saturation_point"]),
                                 ([10, 19, 24.5, 25], "calibrated", 3))
        shown = subprocess.run([BIN / "idlewave", "report", "s.iw"], cwd=self.path, capture_output=True, text=True, timeout=PATIENCE).stdout
        self.assertIn("saturates at 3 (calibrated)", shown)

    def test_a_machine_file_that_says_nothing_is_refused_before_anything_is_started(self):
        (self.path / "none.toml").write_text("[machine]\nranks_per_domain = 4\n")
        for name, word in ("none.toml", "machine.curve"), ("nowhere.toml", "nowhere.toml"):
            code, out, err = self.shell("touch began", "--machine", name)
            self.assertEqual((code, out), (2, b""))
            self.assertIn(word, err.decode() if isinstance(err, bytes) else err)
        self.assertFalse((self.path / "began").exists())

    def test_a_command_waits_for_a_rank_that_has_yet_to_join(self):
        run = self.start("--session", "joins", "--allow-inject", "--", "sh", "-c",
                         "$REPORTER 400 10000 0 2 & sleep 2; $REPORTER 300 10000 1 2; wait")
        self.assertTrue(eventually(lambda: (self.sessions / "joins" / "agent").exists()))

        def inject(rank):
            return subprocess.run([BIN / "idlewave", "inject", "--session", "joins", "--ranks", rank, "--delay", "50ms"],
                                  env=self.environment, capture_output=True, text=True)

        self.assertEqual((inject("1").returncode, inject("0").returncode), (0, 0))
        beyond = inject("2")
        self.assertEqual((beyond.returncode, beyond.stderr), (1, "idlewave: refused: rank 2: the program has ranks 0 to 1\n"))
        self.assertEqual(run.wait(timeout=PATIENCE), 0)

    def test_who_comes_later_sees_what_was_before(self):
        run = self.start("--session", "later", "--", "sh", "-c", "$REPORTER 200; exit 4")
        self.assertTrue(eventually(lambda: (self.sessions / "later" / "agent").exists()))
        time.sleep(0.5)
        listed = subprocess.run([BIN / "idlewave", "attach"], env=self.environment, capture_output=True, text=True)
        self.assertRegex(listed.stdout, "later +sh -c")
        attached = subprocess.run([BIN / "idlewave", "attach", "later", "--headless", "--json", "--record", self.path / "later.iw"],
                                  env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(json.loads(attached.stdout)["events"], 2 + 200 * 3, attached.stderr)
        info = subprocess.run([BIN / "idlewave", "info", self.path / "later.iw"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertRegex(info.stdout, r"(?m)^session +later$")
        self.assertEqual(run.wait(timeout=PATIENCE), 4)


if __name__ == "__main__":
    main()

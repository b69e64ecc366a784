#!/usr/bin/env python3
"""Signals, and ours that are killed, stopped or hung up on: what is run under `idlewave run` comes to its result, with its exit code.
Usage: run_deaths_test.py FOLDER-OF-PROGRAMS REPORTER [TEST...]"""
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

from run_cases import BIN, eventually, lives, main, OWN_FAILURE, PATIENCE, RunCase


class Deaths(RunCase):
    def test_signals_reach_the_program_which_decides(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            run = self.start("--", "sh", "-c", f"trap 'echo got; exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.05; done")
            self.assertEqual(run.stdout.readline(), b"ready\n")
            run.send_signal(number)
            out, err = run.communicate(timeout=PATIENCE)
            self.assertEqual((run.returncode, out), (9, b"got\n"), err)

    def test_any_signal_reaches_the_program(self):
        numbers = [signal.SIGALRM, signal.SIGXCPU, signal.SIGPIPE, signal.SIGIO, signal.SIGPWR, signal.SIGWINCH, signal.SIGABRT,
                   signal.SIGRTMIN, signal.SIGRTMAX]
        catch = "import signal, sys, time\nfor n in sys.argv[1:]: signal.signal(int(n), lambda got, _: print(got, flush=True))\n" \
                "print('ready', flush=True)\nwhile True: signal.pause()"
        run = self.start("--", sys.executable, "-c", catch, *(str(int(number)) for number in numbers))
        self.assertEqual(run.stdout.readline(), b"ready\n")
        for number in numbers:
            run.send_signal(number)
            self.assertEqual(int(run.stdout.readline()), number)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(timeout=PATIENCE), -signal.SIGTERM)

    def test_a_stop_in_a_group_that_nobody_can_continue_stops_nobody(self):
        takes_it = "import signal, sys; signal.signal(signal.SIGTSTP, lambda *_: sys.exit(9)); print('ready', flush=True); signal.pause()"
        run = self.start("--", sys.executable, "-c", takes_it, start_new_session=True)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.send_signal(signal.SIGTSTP)
        try:
            run.communicate(timeout=PATIENCE)
        finally:
            run.kill()
        self.assertEqual(run.returncode, 9)

    def test_a_stop_stops_us_where_somebody_can_continue(self):
        run = self.start("--", "sh", "-c", "trap '' TSTP; echo ready; read line; exit 9", stdin=subprocess.PIPE, preexec_fn=os.setpgrp)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.send_signal(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(run.pid, os.WUNTRACED)[1]))
        run.send_signal(signal.SIGCONT)
        run.communicate(b"on\n", timeout=PATIENCE)
        self.assertEqual(run.returncode, 9)

    def test_it_ends_by_the_signal_that_ended_the_program_and_leaves_no_core(self):
        def allow_cores():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)

        for number in (signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE, signal.SIGRTMAX):
            code, out, err = self.shell(f"ulimit -S -c 0; echo out; kill -{int(number)} $$", preexec_fn=allow_cores)
            self.assertEqual((code, out), (-number, b"out\n"), err)
        self.assertEqual(list(self.path.glob("core*")), [])

    def test_a_script_ends_with_the_program_that_ctrl_c_has_ended(self):
        """A shell would not do for the program: until its child has begun it may swallow the signal, alone as well."""
        program = self.path / "program.py"
        program.write_text("import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nprint('ready', flush=True)\nsignal.pause()\n")
        run = subprocess.Popen(["bash", "-c", f"for i in 1 2; do {BIN}/idlewave run --headless -- {sys.executable} {program}; done"],
                               env=self.environment, cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        os.killpg(run.pid, signal.SIGINT)
        self.assertEqual(run.communicate(timeout=PATIENCE)[0], b"")
        self.assertEqual(run.returncode, -signal.SIGINT)

    def test_a_hangup_that_was_ignored_as_by_nohup_ends_nobody(self):
        run = self.start("--", "sh", "-c", "echo ready; sleep 0.5; exit 9", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.send_signal(signal.SIGHUP)
        self.assertEqual(run.wait(timeout=PATIENCE), 9)

    def test_what_was_ignored_reaches_a_program_that_cares_all_the_same(self):
        """As a launcher does that a script starts in the background."""
        ignored = (signal.SIGINT, signal.SIGQUIT, signal.SIGUSR2)
        for number in ignored:
            care = f"import signal, sys, time\nsignal.signal({int(number)}, lambda *_: sys.exit(5))\n" \
                   "print('ready', flush=True)\ntime.sleep(60)"
            run = self.start("--", sys.executable, "-c", care, preexec_fn=lambda: [signal.signal(n, signal.SIG_IGN) for n in ignored])
            self.assertEqual(run.stdout.readline(), b"ready\n")
            run.send_signal(number)
            self.assertEqual(run.wait(timeout=PATIENCE), 5)

    def test_a_host_that_is_killed_is_told_of_and_nobody_is_called_live(self):
        for hangs_up in (False, True):
            run = self.start("--session", "killed", "--size", "80x12", "--", "sh", "-c", "$REPORTER 150; exit 11")
            self.assertTrue(eventually(lambda: (self.sessions / "killed/agent").exists()))
            hosts = self.processes("iw-host")
            for pid in hosts:
                os.kill(pid, signal.SIGKILL)
            # Its memory, with what it is known by, goes before its descriptors do.
            self.assertTrue(eventually(lambda: not any(lives(pid) for pid in hosts)))
            if hangs_up:
                run.send_signal(signal.SIGHUP)
            _, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 128 + signal.SIGHUP if hangs_up else 11, err)
            self.assertNotIn(b"LIVE", err)
            self.assertIn(b"nothing records it any more" if hangs_up else b"the process that recorded the session was killed", err)
            self.assertTrue(eventually(lambda: not self.processes()))
            subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def survives(self, harm, expected_code, session="survivor"):
        """Something is done to one of ours while the program runs; the program writes its result all the same."""
        run = self.start("--record", "s.iw", "--session", session, "--", "sh", "-c", "$REPORTER 150; echo result > result; exit 11")
        self.assertTrue(eventually(lambda: (self.sessions / session / "agent").exists()))
        time.sleep(0.3)
        harm(run)
        self.assertEqual(run.wait(timeout=PATIENCE), expected_code)
        self.assertTrue(eventually((self.path / "result").exists))
        self.assertTrue(eventually(lambda: not self.processes()))

    def recorded_events(self):
        report = subprocess.run([BIN / "idlewave", "report", self.path / "s.iw", "--json"], capture_output=True, text=True)
        return json.loads(report.stdout)["events"]

    def test_nobody_is_woken_beside_the_ranks_for_frames_that_nobody_looks_at(self):
        self.assertEqual(self.shell("$REPORTER 300", "--record", str(self.path / "s.iw"))[0], 0)
        told = subprocess.run([BIN / "iw-print-frames", self.path / "s.iw"], capture_output=True, text=True, check=True)
        self.assertLess(len(told.stdout.splitlines()), 45)  # of three seconds; a screen would have got a hundred
        self.assertEqual(self.recorded_events(), 2 + 300 * 3)

    def test_a_monitor_that_is_killed_leaves_program_and_recording_running(self):
        self.survives(lambda run: run.kill(), -signal.SIGKILL)
        self.assertEqual(self.recorded_events(), 2 + 150 * 3)

    def test_a_hangup_leaves_program_and_recording_running(self):
        self.survives(lambda run: run.send_signal(signal.SIGHUP), 128 + signal.SIGHUP)
        self.assertEqual(self.recorded_events(), 2 + 150 * 3)

    def test_a_host_that_is_killed_leaves_the_program_and_its_exit_code(self):
        self.survives(lambda run: [os.kill(pid, signal.SIGKILL) for pid in self.processes("iw-host")], 11)
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_recording_that_was_not_closed_is_not_called_complete(self):
        """Between two programs all that was announced has come, and nobody knows of the second one."""
        run = self.start("--record", "s.iw", "--session", "twice", "--", "sh", "-c",
                         "$REPORTER 20; touch first; while [ ! -e go ]; do sleep 0.02; done; $REPORTER 20; exit 11")
        call = lambda *words: subprocess.run([BIN / "idlewave", *words], capture_output=True, text=True, cwd=self.path, timeout=PATIENCE)

        def only_not_closed():
            missing = json.loads(call("info", "--json", "s.iw").stdout or "{}").get("missing", {})
            whole = missing and not missing["nobody"] and not missing["nodes"] and not missing["ranks"]
            return whole and [entry["what"] for entry in missing["intervals"]] == ["recording_not_closed"]

        self.assertTrue(eventually((self.path / "first").exists))
        self.assertTrue(eventually(only_not_closed))
        for pid in self.processes("iw-host"):
            os.kill(pid, signal.SIGKILL)
        (self.path / "go").touch()
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        info = json.loads(call("info", "--json", "s.iw").stdout)
        self.assertEqual((info["closed"], info["complete"]), (False, False))
        self.assertIn("INCOMPLETE: the recording was not closed", call("report", "s.iw").stdout)
        self.assertEqual(call("info", "--check", "s.iw").returncode, 1)
        self.assertTrue(eventually(lambda: not self.processes()))
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_host_that_is_stopped_holds_neither_the_end_nor_a_signal(self):
        for act, expected in ((lambda run: (self.path / "go").touch(), 11), (lambda run: run.send_signal(signal.SIGUSR1), 12)):
            run = self.start("--", "sh", "-c", "trap 'exit 12' USR1; touch ready; while [ ! -e go ]; do sleep 0.02; done; exit 11")
            self.assertTrue(eventually((self.path / "ready").exists))
            for pid in self.processes("iw-host"):
                os.kill(pid, signal.SIGSTOP)
            act(run)
            self.assertEqual(run.wait(timeout=PATIENCE), expected)
            for name in "ready", "go":
                (self.path / name).unlink(missing_ok=True)

    def test_a_host_that_is_stopped_from_before_the_first_rank_on_hears_all(self):
        """Also an agent that takes no more ranks when the host is woken: its patience after the last one has passed by then."""
        for last in "true", "while ls $IDLEWAVE_DIR/*/agent; do sleep 0.01; done":
            script = f"touch ready; while [ ! -e go ]; do sleep 0.02; done; $REPORTER 100; {last}; exit 11"
            with self.subTest(last=last):
                run = self.start("--record", "s.iw", "--", "sh", "-c", script)
                self.assertTrue(eventually((self.path / "ready").exists))
                for pid in self.processes("iw-host"):
                    os.kill(pid, signal.SIGSTOP)
                (self.path / "go").touch()
                self.assertEqual(run.wait(timeout=PATIENCE), 11)
                said = [line for line in run.stderr.read().splitlines() if line.startswith(b"idlewave: ")]
                self.assertEqual(said, [b"idlewave: sh ended with code 11"])
                info = json.loads(subprocess.check_output([BIN / "idlewave", "info", "--json", self.path / "s.iw"]))
                self.assertEqual((info["ranks"], info["complete"]), (1, True))
                for name in "ready", "go", "s.iw":
                    (self.path / name).unlink()

    def test_a_host_that_is_stopped_while_it_starts_the_program_holds_nothing(self):
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}", file=sys.stderr)
        dice = random.Random(seed)
        for round in range(12):
            with self.subTest(seed=seed, round=round):
                before = set(self.processes("iw-host"))  # One that never was attached to stays a moment after its run.
                run = self.start("--", "sh", "-c", "exit 11")
                while not (hosts := set(self.processes("iw-host")) - before) and run.poll() is None:
                    pass
                time.sleep(dice.choice([0, dice.uniform(0, 0.03)]))
                for host in hosts:
                    with contextlib.suppress(OSError):  # it may be over
                        # The program has the host's name until it is itself.
                        if int(pathlib.Path(f"/proc/{host}/stat").read_text().rpartition(")")[2].split()[1]) not in hosts:
                            os.kill(host, signal.SIGSTOP)
                self.assertEqual(run.wait(timeout=PATIENCE), 11)

    def test_who_watches_and_is_stopped_does_not_hold_the_end(self):
        run = self.start("--session", "looked-at", "--", "sh", "-c", "$REPORTER 100; while [ ! -e go ]; do sleep 0.02; done; exit 11")
        self.assertTrue(eventually(lambda: (self.sessions / "looked-at" / "agent").exists()))
        screen, terminal = self.screen_on("looked-at")
        self.addCleanup(os.close, terminal)
        children = pathlib.Path(f"/proc/{screen.pid}/task/{screen.pid}/children").read_text().split()
        for pid in [screen.pid, *map(int, children)]:
            os.kill(pid, signal.SIGSTOP)
            self.addCleanup(os.kill, pid, signal.SIGKILL)
        (self.path / "go").touch()
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        self.assertTrue(self.processes("iw-host"), "the host waited for the onlooker before it said how the program ended")

    def test_ranks_that_are_left_behind_do_not_hold_the_end(self):
        run = self.start("--session", "left", "--", "sh", "-c",
                         "$REPORTER 900 2>&- & while [ ! -e go ]; do sleep 0.02; done; echo $!; exit 11")
        self.assertTrue(eventually(lambda: (self.sessions / "left" / "agent").exists()))
        (self.path / "go").touch()
        rank = int(run.stdout.readline())
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        self.assertTrue(lives(rank), "run ended with the rank")
        self.assertIn(b"ranks go on that the program has left behind", run.stderr.read())
        # Whose session goes on without us: nobody else's is mixed with it.
        code, out, err = self.shell("echo started", "--session", "left")
        self.assertEqual((code, out), (2, b""))
        self.assertIn(b"'left' still runs", err)
        os.kill(rank, signal.SIGKILL)

    def own_table(self):
        own = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*own, "true"], capture_output=True).returncode != 0:
            self.skipTest("no right to make a table of processes (unshare --pid)")
        return own

    def test_ranks_with_a_table_of_processes_of_their_own_leave_nothing_behind(self):
        """When the first process of such a table ends all others are killed, our agent among them."""
        code, _, err = self.run_it("--record", "s.iw", "--", *self.own_table(), "sh", "-c", "$REPORTER 20; exit 11")
        self.assertEqual(code, 11, err)
        self.assertNotIn(b"ranks go on", err)
        self.assertEqual(list(self.sessions.iterdir()), [])

    def of_table_that_ends(self, script):
        """Where the kernel takes the agent between a ring and the monitor, that is said: once in some hundred times."""
        for attempt in range(3):
            code, _, err = self.run_it("--report", "r.json", "--", *self.own_table(), "sh", "-c", script)
            self.assertEqual(code, 11, err)
            report = json.loads((self.path / "r.json").read_text())
            if report["complete"]:
                return report
        self.fail(f"{report['missing']} {err}")

    def test_all_is_told_of_ranks_whose_table_of_processes_ends_at_once_with_them(self):
        self.assertEqual(self.of_table_that_ends("$REPORTER 40; exit 11")["steps"], 40)
        self.assertEqual(self.of_table_that_ends("$REPORTER 1; exit 11")["steps"], 1)

    # Once the rank has found it: one that had no agent yet would not be watched.
    AGENT_IS_STOPPED = "$REPORTER 40 & until grep -q memfd: /proc/$!/maps; do sleep 0.01; done; " \
                       "agent=$(sed -n 's/^pid //p' $IDLEWAVE_DIR/*/agent); " \
                       "kill -STOP $(cat /proc/$agent/task/$agent/children) $agent; wait $!"

    def test_all_is_told_of_ranks_whose_agent_had_heard_nothing_when_it_died(self):
        self.assertEqual(self.of_table_that_ends(self.AGENT_IS_STOPPED + "; exit 11")["steps"], 40)

    def watched_by(self, wrapper, script="$REPORTER 20"):
        if subprocess.run([*wrapper, "true"], capture_output=True).returncode != 0:
            self.skipTest(f"no right to do it ({' '.join(wrapper)})")
        code, _, err = self.run_it("--report", "r.json", "--", *wrapper, "sh", "-c", f"{script}; exit 11")
        self.assertEqual(code, 11, err)
        return json.loads((self.path / "r.json").read_text()), err

    def test_a_rank_that_sees_no_processes_says_so_and_waits_for_no_agent(self):
        report, err = self.watched_by(["unshare", "--mount", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"])
        self.assertEqual(report["ranks"], 0)
        self.assertIn(b"a rank is not watched: /proc, where it would find its agent", err)

    def test_a_rank_with_a_time_of_its_own_is_watched_by_an_agent_of_that_time(self):
        """Processes have begun at other moments there, so that it would wait for one that it does not know."""
        report, err = self.watched_by(["unshare", "--time", "--boottime", "1000", "--fork"])
        self.assertEqual((report["ranks"], report["complete"]), (1, True), err)

    def test_an_agent_with_a_time_of_its_own_that_is_late_is_woken_and_heard(self):
        """Nobody here can tell by its number whether it lives."""
        report, err = self.watched_by(["unshare", "--time", "--boottime", "1000", "--fork"], self.AGENT_IS_STOPPED)
        self.assertEqual((report["ranks"], report["steps"], report["complete"]), (1, 40, True), err)

    def test_a_host_that_is_killed_after_the_program_has_ended_takes_no_exit_code_along(self):
        """It waits for its agents then: for ranks that were left behind three seconds."""
        run = self.start("--", "sh", "-c", "$REPORTER 500 2>&- & touch started; while [ ! -e go ]; do sleep 0.02; done; exit 11")
        self.assertTrue(eventually((self.path / "started").exists))
        time.sleep(0.5)
        program = [pid for pid in self.processes("sh")]
        (self.path / "go").touch()
        self.assertTrue(eventually(lambda: not any(lives(pid) for pid in program)))
        time.sleep(0.3)
        for pid in self.processes("iw-host"):
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        self.assertTrue(eventually(lambda: not self.processes()))
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_host_that_is_killed_while_it_starts_the_program_leaves_that_and_its_exit_code(self):
        seed = int(os.environ.get("IDLEWAVE_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}", file=sys.stderr)
        dice = random.Random(seed)
        for round in range(12):
            result = self.path / f"result{round}"
            run = self.start("--", "sh", "-c", f"sleep 0.5; touch '{result}'; exit 4")
            self.assertTrue(eventually(lambda: self.processes("iw-host") or run.poll() is not None))
            time.sleep(dice.uniform(0, 0.01))
            for pid in self.processes("iw-host"):
                with contextlib.suppress(ProcessLookupError):  # Starting is over in moments for some of that name.
                    os.kill(pid, signal.SIGKILL)
            code = run.wait(timeout=PATIENCE)
            with self.subTest(round=round, seed=seed):
                self.assertTrue(eventually(lambda: not self.processes()))
                # The program has the host's name until it is itself, and may be killed with it.
                self.assertIn(code, (4,) if result.exists() else (OWN_FAILURE, -signal.SIGKILL))
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)  # sweeps

    def test_a_program_that_has_ended_is_not_said_to_go_on(self):
        """Its agents are waited for when the time that was given is over."""
        code, out, err = self.shell("$REPORTER 500 2>&- & sleep 0.5; exit 7", "--headless", "1.5s", headless=False)
        self.assertEqual(code, 7, err)
        self.assertNotIn(b"goes on as session", err)

    def test_an_agent_that_begins_as_the_program_ends_is_told_so_and_ends(self):
        """It listens, and nobody can know who it is before the program has ended: then it is late by itself."""
        programs, stopped = self.path / "bin", self.path / "stopped"
        programs.mkdir()
        shutil.copy(BIN / "idlewave", programs)
        variables = f"ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD='{os.environ['STOPS_AT_RECORD']}'"
        (programs / "idlewave-agent").write_text(f"#!/bin/sh\n{variables} exec '{BIN}/idlewave-agent' \"$@\"\n")
        (programs / "idlewave-agent").chmod(0o755)
        self.environment["STOPPED"] = str(stopped)
        run = self.start("--session", "late", "--", "sh", "-c",
                         "$REPORTER 5 & until test -s $STOPPED; do sleep 0.01; done; kill -9 $!; exit 11", program=programs / "idlewave")
        self.assertTrue(eventually(lambda: stopped.exists() and stopped.read_text().endswith("\n")))
        has_ended = eventually(lambda: "code 11\n" in (self.sessions / "late/host").read_text())
        os.kill(int(stopped.read_text()), signal.SIGCONT)
        self.assertTrue(has_ended)
        _, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 11, err)
        self.assertNotIn(b"the agent is late", err)

    def test_what_watches_is_ended_before_the_program_where_memory_ends(self):
        if subprocess.run(["sh", "-c", "echo 1000 > /proc/self/oom_score_adj"], capture_output=True).returncode != 0:
            self.skipTest("no right to say what the kernel ends first")
        own = pathlib.Path("/proc/self/oom_score_adj").read_text()
        run = self.start("--", "sh", "-c", "$REPORTER 500 & while [ ! -e go ]; do sleep 0.02; done; wait; exit 11")
        self.assertTrue(eventually(lambda: self.processes("idlewave-agent") and self.processes("cli_reporter")))
        scores = {}
        for name in "iw-host", "idlewave-agent", "sh", "cli_reporter":
            for pid in self.processes(name):
                with contextlib.suppress(OSError):  # a shell's child, or who has started the agent, may have gone
                    scores.setdefault(name, set()).add(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())
        (self.path / "go").touch()
        self.assertEqual(run.wait(timeout=PATIENCE), 11)
        self.assertEqual(scores, {"iw-host": {"1000\n"}, "idlewave-agent": {"1000\n"}, "sh": {own}, "cli_reporter": {own}})

    def test_an_agent_that_is_killed_leaves_the_program_and_its_exit_code(self):
        self.survives(lambda run: [os.kill(pid, signal.SIGKILL) for pid in self.processes("idlewave-agent")], 11)
        subprocess.run([BIN / "idlewave", "run", "--headless", "--", "true"], env=self.environment, capture_output=True)


if __name__ == "__main__":
    main()

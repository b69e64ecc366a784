#!/usr/bin/env python3
"""What watching costs where there are many ranks and nodes, through `idlewave run` as a user starts it: the agent of a node with 128 ranks;
host and screen of 100 nodes with 10,000 ranks; what a program notices of its start, and of being watched. Prints JSON.
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

BIN = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin"
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 300  # seconds, for what a machine that others use may keep waiting

START = """
import ctypes, sys, time
probe = ctypes.CDLL(sys.argv[1])
time.sleep(0.05)  # MPI_Init takes longer
begin = time.perf_counter()
started = probe.idlewave_start(int(sys.argv[2]), 2)
print(time.perf_counter() - begin if started else "nan", flush=True)
sys.stdin.readline()
probe.idlewave_stop()
"""


def processor_seconds(pid):
    """None once it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return None


def with_children(pid):
    """An agent is two processes: the keeper, by which it is found, and its child, which does the work."""
    return [pid, *map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def record_of(path):
    """Lines of "key value", as agent and host write them."""
    return dict(line.split(" ", 1) for line in path.read_text().splitlines() if " " in line)


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    sys.exit(f"nodes_bench: {what} did not come")


class OnATerminal:
    """`idlewave run` with a screen of 160x48 that is read as fast as it is written."""

    def __init__(self, folder, arguments):
        near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 48, 160, 0, 0))
        environment = {**os.environ, "IDLEWAVE_DIR": str(folder / "sessions"), "TERM": "tmux-256color", "LC_ALL": "C.UTF-8"}
        self.folder, self.near = folder, near
        self.program = subprocess.Popen([BIN / "idlewave", "run", *arguments], stdin=far, stdout=far, stderr=far, env=environment,
                                        start_new_session=True)
        os.close(far)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while os.read(self.near, 65536):
                pass
        except OSError:
            pass

    def processes(self):
        """Of idlewave: who waits, who draws, and the host."""
        mark = f"IDLEWAVE_DIR={self.folder / 'sessions'}".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or os.readlink(entry / "exe") != str(BIN / "idlewave"):
                    continue
                if mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def quit(self):
        end = time.monotonic() + PATIENCE
        while self.program.poll() is None and time.monotonic() < end:
            os.write(self.near, b"q")
            time.sleep(0.2)
        if self.program.poll() is None:
            sys.exit("nodes_bench: the session did not end")


def share_of_a_core(pids, seconds):
    """Processor time that they take together in a second."""
    before = {pid: processor_seconds(pid) for pid in pids}
    begin = time.monotonic()
    time.sleep(seconds)
    elapsed = time.monotonic() - begin
    after = {pid: processor_seconds(pid) for pid in pids}
    if any(value is None for value in [*before.values(), *after.values()]):
        sys.exit("nodes_bench: one of ours ended too early")
    return (sum(after.values()) - sum(before.values())) / elapsed


def printed_json(arguments):
    return json.loads(subprocess.run([BIN / "idlewave", *arguments], check=True, capture_output=True, text=True).stdout)


def report(recording):
    return printed_json(["report", "--json", recording])


def agent_of_128_ranks():
    ranks, rate = 128, 2000
    with tempfile.TemporaryDirectory(prefix="iw-nodes-") as name:
        folder = pathlib.Path(name)
        environment = {**os.environ, "IDLEWAVE_DIR": str(folder / "sessions")}
        command = [BIN / "idlewave", "run", "--headless", "--session", "one-node", "--record", folder / "s.iw", "--"]
        program = [BIN / "iw-soak-ranks", str(ranks), "10", str(ranks * rate), folder / "counted"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        session = subprocess.Popen([*command, *program], env=environment, **quiet)
        agent = wait_for(lambda: next((folder / "sessions").rglob("agent"), None), "the agent")
        time.sleep(2)
        share = share_of_a_core(with_children(int(record_of(agent)["pid"])), 6)
        if session.wait() != 0:
            sys.exit("nodes_bench: the ranks failed")
        return {"nodes_agent_core_share": round(share, 4), "nodes_agent_dropped": report(folder / "s.iw")["dropped"]}


def monitor_of_100_nodes():
    nodes, ranks, rate, seconds = 100, 100, 2_000_000, 12
    with tempfile.TemporaryDirectory(prefix="iw-nodes-") as name:
        folder = pathlib.Path(name)
        program = [BIN / "iw-bench-fleet", str(nodes), str(ranks), str(rate), str(seconds), folder / "told"]
        terminal = OnATerminal(folder, ["--session", "fleet", "--record", folder / "s.iw", "--", *program])
        wait_for((folder / "told").exists, "the first event")
        time.sleep(3)
        share = share_of_a_core(terminal.processes(), 6)
        told = wait_for(lambda: record_of(folder / "told").get("events"), "the last event")
        time.sleep(1)
        terminal.quit()
        found = report(folder / "s.iw")
        return {"nodes_monitor_core_share": round(share, 4), "nodes_monitor_missing_events": int(told) - found["events"],
                "nodes_monitor_events_per_s": round(int(told) / found["duration_s"]), "nodes_monitor_complete": int(found["complete"])}


def start_of_a_rank():
    """The first rank of a node starts the agent, the others find it."""
    with tempfile.TemporaryDirectory(prefix="iw-nodes-") as name:
        environment = {**os.environ, "IDLEWAVE_DIR": name, "IDLEWAVE_SESSION": "start"}
        library = BIN.parent / "lib" / "libidlewave-probe.so"
        took, ranks = [], []
        for rank in range(2):
            ranks.append(subprocess.Popen([sys.executable, "-c", START, library, str(rank)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          text=True, env=environment))
            took.append(float(ranks[-1].stdout.readline()) * 1e3)
        for rank in ranks:
            rank.communicate("\n")
        return took


def starts(rounds=15):
    took = [start_of_a_rank() for _ in range(rounds)]
    first, second = (sorted(rank)[rounds // 2] for rank in zip(*took))
    return {"nodes_start_first_rank_ms": round(first, 2), "nodes_start_rank_ms": round(second, 2)}


def ring_of_two_ranks(turns=5):
    """Steps of 1 ms on two cores of their own, by the ring's own clock, alone and watched in turns. Long runs: what starts beside the ranks
    takes some 50 ms of a core."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    launcher = ["mpirun", *root, "-n", "2", "--bind-to", "core"]
    ring = [*launcher, BIN / "iw-ring", "--kernel", "divide", "--time", "1ms", "--steps", "6000", "--json"]

    def step(words):
        return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)["step_mean_s"]

    added = [step([BIN / "idlewave", "run", "--headless", "--", *ring]) / step(ring) - 1 for _ in range(turns)]
    return {"nodes_watched_added_share": statistics.mean(added), "nodes_watched_added_share_error": statistics.stdev(added) / turns**0.5}


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(json.dumps({**agent_of_128_ranks(), **monitor_of_100_nodes(), **starts(), **ring_of_two_ranks()}))


if __name__ == "__main__":
    main()

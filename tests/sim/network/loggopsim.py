#!/usr/bin/env python3
"""Random GOAL schedules, run by LogGOPSim itself: at which nanosecond does each rank finish?

  loggopsim.py compare DIR IDLEWAVE [--seeds 0:1000]  with idlewave, says where they differ; exit code 1 if they do
  loggopsim.py write DIR FILE                         what the tests hold against idlewave: tests/golden/loggopsim.txt

DIR holds LogGOPSim and txt2bin, built from https://github.com/spcl/LogGOPSim. It is not needed for anything else."""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

LONGEST_KEPT = 2500  # Characters of a schedule.
DEFAULT_SEEDS = "0:200,281,531,746,1622"  # In the last four the order decides in which two ranks go on at one time.
UNITS = {"L": "ns", "o": "ns", "g": "ns", "G": "ns/B", "O": "ns/B", "S": "B"}


class Schedule:
    """The operations of each rank, and what waits for what: (later, earlier, for its start only)."""

    def __init__(self, rng, ranks):
        self.rng = rng
        self.ops = [[] for _ in range(ranks)]
        self.waits = [[] for _ in range(ranks)]
        self.cpus = rng.choice([1, 1, 1, 3])
        self.nics = rng.choice([1, 1, 2])
        self.rendezvous = {}

    def add(self, rank, op):
        self.ops[rank].append(op)
        return len(self.ops[rank]) - 1

    def after(self, rank, later, earlier, start=False):
        if earlier is not None:
            self.waits[rank].append((later, earlier, start))

    def calc(self, rank, lengths):
        return self.add(rank, f"calc {self.rng.choice(lengths)}{self.units()}")

    def message(self, source, target, tag, sizes, wildcards=False):
        """Its send and its receive. All messages of a channel are on one side of S, for the reason in goal_run.h."""
        channel = target if wildcards else (source, target, tag)
        fitting = sizes[self.rendezvous.setdefault(channel, self.rng.random() < 0.4)]
        size = self.rng.choice(fitting)
        expected = size if self.rng.random() < 0.7 else self.rng.choice(fitting)
        sender = -1 if wildcards and self.rng.random() < 0.3 else source
        expected_tag = -1 if wildcards and self.rng.random() < 0.3 else tag
        send = self.add(source, f"send {size}b to {target} tag {tag}{self.units()}{self.interface()}")
        receive = self.add(target, f"recv {expected}b from {sender} tag {expected_tag}{self.units()}{self.interface()}")
        return send, receive

    def units(self):
        return f" cpu {self.rng.randrange(self.cpus)}" if self.cpus > 1 else ""

    def interface(self):
        return f" nic {self.rng.randrange(self.nics)}" if self.nics > 1 else ""

    def text(self):
        lines = [f"num_ranks {len(self.ops)}"]
        for rank, ops in enumerate(self.ops):
            lines.append(f"rank {rank} {{")
            lines += [f"l{number}: {op}" for number, op in enumerate(ops)]
            lines += [f"l{later} {'irequires' if start else 'requires'} l{earlier}" for later, earlier, start in self.waits[rank]]
            lines.append("}")
        return "\n".join(lines) + "\n"


def random_messages(rng, sizes, lengths):
    """Messages and calculations that wait for what was there before: no deadlock, but by wildcards and rendezvous."""
    ranks = rng.randint(1, 9)
    schedule = Schedule(rng, ranks)
    wildcards, for_start = rng.random() < 0.25, rng.choice([0, 0.2, 0.5])
    before = [[] for _ in range(ranks)]
    target_of_all = rng.randrange(ranks) if rng.random() < 0.3 else None

    def link(rank, op, known):
        for _ in range(rng.randint(0, 2) if known else 0):
            schedule.after(rank, op, rng.choice(known[-6:]), rng.random() < for_start)
        before[rank].append(op)

    for _ in range(rng.randint(1, 8 * ranks)):
        if rng.random() < 0.4:
            rank = rng.randrange(ranks)
            link(rank, schedule.calc(rank, lengths), list(before[rank]))
            continue
        source, target = rng.randrange(ranks), rng.randrange(ranks)
        if target_of_all is not None and rng.random() < 0.7:
            target = target_of_all
        known = list(before[source]), list(before[target])
        send, receive = schedule.message(source, target, rng.randrange(3), sizes, wildcards)
        link(source, send, known[0])
        link(target, receive, known[1])
    return schedule


def released_at_once(rng, sizes, lengths):
    """One operation of each rank that many others of all kinds wait for."""
    ranks = rng.randint(2, 5)
    schedule = Schedule(rng, ranks)
    first = [schedule.calc(rank, lengths) for rank in range(ranks)]
    for _ in range(rng.randint(5, 25) * ranks // 2):
        if rng.random() < 0.3:
            schedule.calc(rng.randrange(ranks), lengths)
        else:
            schedule.message(rng.randrange(ranks), rng.randrange(ranks), rng.randrange(2), sizes)
    for rank in range(ranks):
        for op in range(1, len(schedule.ops[rank])):
            schedule.after(rank, op, first[rank], rng.random() < 0.3)
    return schedule


def collectives(rng, sizes, lengths):
    """Dissemination, and binomial trees from and to a root, with calculations between them."""
    ranks = rng.randint(2, 16)
    schedule = Schedule(rng, ranks)
    last = [None] * ranks

    def calc(rank):
        op = schedule.calc(rank, lengths)
        schedule.after(rank, op, last[rank])
        last[rank] = op

    def exchange(pairs, tag):
        ends = []
        for source, target in pairs:
            send, receive = schedule.message(source, target, tag, sizes)
            schedule.after(source, send, last[source])
            schedule.after(target, receive, last[target], rng.random() < 0.1)
            ends += [(source, send), (target, receive)]
        for rank in {rank for rank, _ in ends}:
            join = schedule.add(rank, "calc 0")
            for _, op in filter(lambda end: end[0] == rank, ends):
                schedule.after(rank, join, op)
            last[rank] = join

    for tag in range(rng.randint(1, 4)):
        for rank in range(ranks):
            calc(rank)
        distances = [1 << bit for bit in range((ranks - 1).bit_length())]
        kind, root = rng.choice(["dissemination", "broadcast", "reduce"]), rng.randrange(ranks)
        for distance in distances if kind != "reduce" else reversed(distances):
            if kind == "dissemination":
                exchange([(rank, (rank + distance) % ranks) for rank in range(ranks)], tag)
                continue
            pairs = [((at + root) % ranks, (at + distance + root) % ranks) for at in range(distance) if at + distance < ranks]
            exchange(pairs if kind == "broadcast" else [pair[::-1] for pair in pairs], tag)
    return schedule


def example(seed):
    """A schedule and the network's parameters; half of all with times of 0, 1 and 2 ns, so that much happens at once."""
    rng = random.Random(seed)
    if rng.random() < 0.5:
        network = {"L": [0, 0, 1, 2], "o": [0, 0, 1], "g": [0, 1, 2], "G": [0, 0, 1], "O": [0, 0, 1], "S": [1, 2, 4]}
        lengths = [0, 0, 1, 2]
    else:
        network = {"L": [0, 1, 10, 100, 2500], "o": [0, 1, 10, 1500], "g": [0, 5, 20, 1000], "G": [0, 1, 2, 6],
                   "O": [0, 0, 1, 5], "S": [1, 4, 8, 65535]}
        lengths = [0, 1, 5, 10, 100, 100000]
    network = {name: rng.choice(values) for name, values in network.items()}
    S = network["S"]
    sizes = {False: [1, S, max(1, S // 2)], True: [S + 1, S + 2, S + 9]}
    family = rng.choice([random_messages, random_messages, released_at_once, collectives])
    return family(rng, sizes, lengths).text(), network


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)


class LogGOPSim:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        for program in ("LogGOPSim", "txt2bin"):
            if not (self.folder / program).is_file():
                sys.exit(f"loggopsim.py: no {program} in {folder}; build it there")

    def finish(self, goal, network):
        """Of each rank, nanoseconds; nothing: it does not end, and LogGOPSim says no times then."""
        binary = goal.with_suffix(".bin")
        made = run(self.folder / "txt2bin", "-i", goal, "-o", binary)
        if made.returncode != 0:
            sys.exit(f"loggopsim.py: txt2bin: {made.stdout}{made.stderr}")
        done = run(self.folder / "LogGOPSim", "-f", binary, *(word for name, value in network.items() for word in (f"-{name}", value)))
        return [int(time) for time in re.findall(r"^Host \d+: (\d+)", done.stdout, re.M)]


def idlewave_finish(program, goal, network):
    settings = [word for name, value in network.items() for word in ("--set", f"loggops.{name}={value}{UNITS[name]}")]
    done = run(program, "sim", "--goal", goal, "--json", *settings)
    if not done.stdout.startswith("{"):
        sys.exit(f"loggopsim.py: {done.stderr}")
    result = json.loads(done.stdout)
    return result["finish_ns"] if result["complete"] else []


def compare(loggopsim, program, seeds, folder):
    differ = ended = 0
    for seed in seeds:
        text, network = example(seed)
        goal = folder / "random.goal"
        goal.write_text(text)
        theirs, ours = loggopsim.finish(goal, network), idlewave_finish(program, goal, network)
        ended += bool(theirs)
        if theirs != ours:
            differ += 1
            print(f"seed {seed}, {network}: LogGOPSim {theirs or 'deadlock'}, idlewave {ours or 'deadlock'}")
    print(f"{len(seeds)} schedules, {ended} to their end, {differ} differ")
    return differ


def write(loggopsim, path, seeds, folder):
    with open(path, "w") as out:
        out.write("// Random GOAL schedules, and when each of their ranks finishes by LogGOPSim, in nanoseconds; deadlock: "
                  "they do not end.\n"
                  "// Written by tests/sim/network/loggopsim.py.\n")
        for seed in seeds:
            text, network = example(seed)
            if len(text) > LONGEST_KEPT:
                continue
            goal = folder / "random.goal"
            goal.write_text(text)
            finish = " ".join(map(str, loggopsim.finish(goal, network))) or "deadlock"
            out.write(f"network {' '.join(str(network[name]) for name in UNITS)}\nfinish {finish}\n{text}")


def seeds_of(text):
    for part in text.split(","):
        first, colon, end = part.partition(":")
        yield from range(int(first), int(end)) if colon else [int(first)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "write"])
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("other", metavar="IDLEWAVE|FILE")
    parser.add_argument("--seeds", default=DEFAULT_SEEDS, metavar="FIRST:END,SEED,...")
    arguments = parser.parse_args()
    seeds = list(seeds_of(arguments.seeds))
    loggopsim = LogGOPSim(arguments.folder)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.what == "write":
            return write(loggopsim, arguments.other, seeds, pathlib.Path(folder))
        return int(compare(loggopsim, arguments.other, seeds, pathlib.Path(folder)) > 0)


if __name__ == "__main__":
    sys.exit(main())

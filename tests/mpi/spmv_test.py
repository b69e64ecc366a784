#!/usr/bin/env python3
"""iw-spmv as it is used: right in all modes, with any number of ranks, whatever the MPI.
Usage: spmv_test.py FOLDER-OF-PROGRAMS [unittest options]"""
import json
import os
import random
import unittest

from each_mpi import BIN, OfEachMpi

SEED = int(os.environ.get("IDLEWAVE_TEST_SEED", random.SystemRandom().randrange(1 << 31)))
MODES = ["vector", "overlap", "task"]


def element(vector, j):
    return 1 + j * 7919 % 1009 / 1009 if vector == 0 else 2 - j * 104729 % 997 / 997


class OfSpmv(OfEachMpi):
    PROGRAM = "iw-spmv"

    def measure(self, mpi, ranks, *options):
        return self.json_of(mpi, ranks, "--products", "4", *options)

    def check(self, found, ranks):
        self.assertEqual([run["mode"] for run in found["runs"]], MODES)
        for run in found["runs"]:
            self.assertEqual((run["wrong"], run["processes"], len(run["ranks"])), (0, ranks, ranks))
            self.assertEqual(sum(rank["rows"] for rank in run["ranks"]), run["rows"])
            self.assertEqual(sum(rank["nonzeros"] for rank in run["ranks"]), run["nonzeros"])
            self.assertEqual(len({(run["rows"], run["nonzeros"]) for run in found["runs"]}), 1)
            self.assertGreater(run["flop_per_s"], 0)


class Products(OfSpmv):
    def test_each_matrix_is_right_in_all_modes(self):
        for mpi in self.mpis:
            for matrix in (["HMeP", "--phonons", "2"], ["HMEp", "--phonons", "2"], ["poisson", "--rows", "900"],
                           ["banded", "--rows", "700"]):
                with self.subTest(mpi=mpi, matrix=matrix):
                    found = self.measure(mpi, 3, "--matrix", *matrix)
                    self.check(found, 3)
                    for run in found["runs"]:
                        self.assertLess(run["symmetry_error"], 1e-12)

    def test_more_ranks_than_rows_leave_some_without_rows(self):
        for mpi in self.mpis:
            for distribute in ("rows", "nonzeros"):
                with self.subTest(mpi=mpi, distribute=distribute):
                    found = self.measure(mpi, 5, "--matrix", "poisson", "--rows", "3", "--distribute", distribute)
                    self.check(found, 5)
                    self.assertIn(0, [rank["rows"] for rank in found["runs"][0]["ranks"]])

    def test_one_process_needs_nothing_of_others(self):
        for mpi in self.mpis:
            for rank in self.measure(mpi, 1, "--phonons", "1")["runs"][0]["ranks"]:
                self.assertEqual((rank["received_bytes"], rank["sources"]), (0, 0))

    def test_a_matrix_of_one_zero_is_multiplied_too(self):
        for mpi in self.mpis:
            self.check(self.measure(mpi, 2, "--electrons", "0", "--phonons", "0"), 2)

    def test_threads_share_a_process(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        for mpi in self.mpis:
            self.check(self.measure(mpi, 2, "--threads", "2", "--phonons", "2"), 2)

    def test_a_thread_that_is_reserved_is_held_against_masteronly(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        for mpi in self.mpis:
            vector, reserved = self.measure(mpi, 2, "--threads", "2", "--phonons", "2", "--modes", "vector,reserved")["runs"]
            self.assertEqual((reserved["mode"], reserved["wrong"], vector["ratio"]), ("reserved", 0, None))
            self.assertAlmostEqual(reserved["ratio"], vector["product_s"] / reserved["product_s"])
            self.assertTrue(0.5 <= reserved["theory_ratio"] <= 1.5)

    def test_reserved_threads_share_every_message(self):
        """Of m threads each has an m-th of what a process sends, at 200 kB/s."""
        for mpi in self.mpis:
            vector, *runs = self.measure(mpi, 3, "--kernel", "virtual", "--threads", "8", "--message-bandwidth", "200kB/s", "--phonons",
                                         "1", "--modes", "vector,reserved,multiple", "--reserved", "2,3,7")["runs"]
            self.assertEqual([(run["mode"], run["reserved"], run["wrong"]) for run in runs],
                             [("reserved", 1, 0), ("multiple", 2, 0), ("multiple", 3, 0), ("multiple", 7, 0)])
            sent = sum(rank["received_bytes"] for rank in vector["ranks"]) / 200e3
            for run in runs:
                with self.subTest(mpi=mpi, reserved=run["reserved"]):
                    took = sum(rank["parts_s"]["communication"] for rank in run["ranks"])
                    self.assertGreaterEqual(took, sent / run["reserved"] * 0.999)
                    self.assertAlmostEqual(run["ratio"], vector["product_s"] / run["product_s"])
                    self.assertTrue(1 - run["reserved"] / 8 <= run["theory_ratio"] <= 1 + run["reserved"] * 7 / 8)

    def test_numbers_of_processes_come_one_after_another(self):
        for mpi in self.mpis:
            found = self.measure(mpi, 4, "--processes", "1,4,2", "--phonons", "1")
            self.assertEqual([run["processes"] for run in found["runs"]], [1] * 3 + [4] * 3 + [2] * 3)
            forms = [run["form"] for run in found["runs"]]
            for form in forms:
                self.assertAlmostEqual(form / forms[0], 1, places=12)

    def test_matrices_come_one_after_another(self):
        for mpi in self.mpis:
            found = self.measure(mpi, 3, "--matrix", "HMeP,HMEp", "--processes", "2,3", "--phonons", "2", "--modes", "vector")["runs"]
            self.assertEqual([(run["matrix"], run["processes"]) for run in found], [("HMeP", 2), ("HMeP", 3), ("HMEp", 2), ("HMEp", 3)])
            self.assertEqual(len({(run["rows"], run["nonzeros"]) for run in found}), 1)
            self.assertEqual([run["wrong"] for run in found], [0] * 4)

    def test_virtual_sockets_take_as_long_as_their_bandwidth_says(self):
        """Each of two processes, alone on its socket, moves by eq. 1 half of what the matrix has, at 20 MB/s."""
        for mpi in self.mpis:
            found = self.measure(mpi, 2, "--kernel", "virtual", "--ranks-per-domain", "1", "--core-bandwidth", "20MB/s",
                                 "--domain-bandwidth", "20MB/s", "--phonons", "2", "--modes", "vector", "--distribute", "rows")
            (run,) = found["runs"]
            for rank in run["ranks"]:
                seconds = (12 * rank["nonzeros"] + 24 * rank["rows"]) / 20e6
                self.assertGreaterEqual(rank["parts_s"]["product"], seconds)

    def test_threads_of_a_virtual_process_share_its_socket(self):
        """Two of them move as fast as their socket lets them, and the one that communicates takes what its messages do."""
        for mpi in self.mpis:
            vector, reserved = self.measure(mpi, 2, "--kernel", "virtual", "--threads", "2", "--ranks-per-domain", "1", "--core-bandwidth",
                                            "20MB/s", "--domain-bandwidth", "30MB/s", "--message-bandwidth", "1MB/s", "--phonons", "2",
                                            "--modes", "vector,reserved")["runs"]
            sent = [rank["received_bytes"] / 1e6 for rank in reversed(vector["ranks"])]
            for rank, seconds in zip(vector["ranks"], sent):
                self.assertGreaterEqual(rank["parts_s"]["product"], (12 * rank["nonzeros"] + 24 * rank["rows"]) / 30e6 * 0.999)
                self.assertGreaterEqual(rank["parts_s"]["communication"], seconds)
            for rank, seconds in zip(reserved["ranks"], sent):
                self.assertGreaterEqual(rank["parts_s"]["local"], 24 * rank["rows"] / 20e6)
                self.assertGreaterEqual(rank["parts_s"]["parallel_region"], seconds)
            self.assertEqual((vector["wrong"], reserved["wrong"]), (0, 0))

    def test_contributions_make_up_the_product(self):
        parts = {"vector": ["gather", "communication", "product"], "overlap": ["gather", "local", "communication", "nonlocal"],
                 "task": ["parallel_region", "nonlocal"]}
        for run in self.measure(self.mpis[0], 2)["runs"]:
            self.assertEqual(set(run["cost_s"]), set(parts[run["mode"]]))
            for rank in run["ranks"]:
                self.assertLessEqual(sum(rank["parts_s"][part] for part in parts[run["mode"]]), rank["product_s"] * (1 + 1e-9))


class Files(OfSpmv):
    def write(self, generator, symmetric):
        rows = generator.randint(1, 40)
        places = {(generator.randrange(rows), generator.randrange(rows)) for _ in range(generator.randint(1, 5 * rows))}
        entries = [(*(sorted(place, reverse=True) if symmetric else place), generator.uniform(-1, 1)) for place in places]
        entries = list({(i, j): (i, j, value) for i, j, value in entries}.values())
        generator.shuffle(entries)
        kind = "symmetric" if symmetric else "general"
        path = self.folder / "matrix.mtx"
        path.write_text(f"%%MatrixMarket matrix coordinate real {kind}\n{rows} {rows} {len(entries)}\n"
                        + "".join(f"{i + 1} {j + 1} {value!r}\n" for i, j, value in entries))
        return path, entries + [(j, i, value) for i, j, value in entries if symmetric and i != j]

    def test_a_file_is_multiplied_as_its_entries_say(self):
        generator = random.Random(SEED)
        for mpi in self.mpis:
            for symmetric in (False, True):
                for distribute in ("nonzeros", "rows"):
                    with self.subTest(seed=SEED, mpi=mpi, symmetric=symmetric, distribute=distribute):
                        path, entries = self.write(generator, symmetric)
                        found = self.measure(mpi, 3, "--matrix", f"file:{path}", "--distribute", distribute)
                        self.check(found, 3)
                        self.assertEqual(found["runs"][0]["nonzeros"], len(entries))
                        expected = sum(element(1, i) * value * element(0, j) for i, j, value in entries)
                        size = sum(4 * abs(value) for _, _, value in entries)
                        for run in found["runs"]:
                            self.assertLessEqual(abs(run["form"] - expected), 1e-13 * size)
                            self.assertEqual(run["symmetry_error"] is None, not symmetric)

    def test_any_threads_of_any_ranks_multiply_a_file_as_its_entries_say(self):
        """In one job all ways share one exchange; some ranks have no rows, and some threads nothing of a message."""
        generator = random.Random(SEED)
        for mpi in self.mpis:
            for _ in range(3):
                ranks, threads = generator.randint(1, 6), generator.randint(2, 7)
                reserved = generator.sample(range(1, threads), generator.randint(1, min(3, threads - 1)))
                modes = generator.sample([*MODES, "reserved", "multiple"], 5)
                with self.subTest(seed=SEED, mpi=mpi, ranks=ranks, threads=threads, reserved=reserved, modes=modes):
                    path, entries = self.write(generator, generator.random() < 0.5)
                    runs = self.measure(mpi, ranks, "--matrix", f"file:{path}", "--kernel", "virtual", "--threads", threads, "--modes",
                                        ",".join(modes), "--reserved", ",".join(map(str, reserved)))["runs"]
                    self.assertEqual([run["reserved"] for run in runs if run["mode"] == "multiple"], reserved)
                    expected = sum(element(1, i) * value * element(0, j) for i, j, value in entries)
                    size = sum(4 * abs(value) for _, _, value in entries)
                    for run in runs:
                        self.assertEqual(run["wrong"], 0)
                        self.assertLessEqual(abs(run["form"] - expected), 1e-13 * size)

    def test_a_file_that_lies_is_refused_in_one_line(self):
        path = self.folder / "lies.mtx"
        head = "%%MatrixMarket matrix coordinate real general\n"
        for text, message in ((head + "2 2 2\n1 1 1\n2 3 1\n", "line 4: column \"3\""),
                              (head + "2 2 2\n1 1 1.00000\n", "promises 2 entries and has 1"),
                              (head + "9 9 1000000000000\n1 1 1\n", "can't hold them"), ("", "line 1"),
                              (head + "900000000000 900000000000 1\n1 1 1\n", "of memory, and there are")):
            path.write_text(text)
            for mpi in self.mpis:
                with self.subTest(mpi=mpi, message=message):
                    self.assertIn(message, self.refuse(mpi, 2, "--matrix", f"file:{path}"))


class Use(OfSpmv):
    def test_bad_input_is_one_line_of_its_own(self):
        for mpi in self.mpis:
            for options, message in ((["--threads", "1000"], "--threads: 1000 are asked for"), (["--processes", "3"], "--processes"),
                                     (["--modes", "multiple"], "nobody is left to work"),
                                     (["--modes", "multiple", "--threads", "1000"], "--threads: 1000 are asked for"),
                                     (["--matrix", "file:/nowhere.mtx"], "/nowhere.mtx: can't be read"),
                                     (["--matrix", "banded", "--rows", "900000000000"], "of memory, and there are"),
                                     (["--nonsense"], "--nonsense")):
                with self.subTest(mpi=mpi, options=options):
                    self.assertIn(message, self.refuse(mpi, 2, *options))

    def test_without_a_launcher_it_is_one_process(self):
        for mpi in self.mpis:
            done = self.call([self.program(mpi), "--phonons", "0", "--products", "2"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Sampled rows agree with a serial product", done.stdout)

    def test_a_session_shows_steps_waits_and_partners(self):
        for mpi in self.mpis:
            found = self.report_of(mpi, 4, "--kernel", "virtual", "--phonons", "1", "--products", "6")
            self.assertEqual((found["ranks"], found["steps"], found["complete"], found["partners"]), (4, 3 * (2 + 6), True, "declared"))

    def test_a_session_shows_how_many_threads_sleep_while_one_communicates(self):
        """Against what the program measures of itself. What messages and sockets take stands beside what a busy machine does, which may
        take as long to start the program as that takes for all its products: looked at is what comes at the end."""
        for mpi in self.mpis:
            recording = self.folder / f"{mpi}.iw"
            printed, found = self.watch(mpi, 2, "--kernel", "virtual", "--threads", "4", "--ranks-per-domain", "1", "--core-bandwidth",
                                        "5MB/s", "--domain-bandwidth", "20MB/s", "--message-bandwidth", "500kB/s", "--phonons", "2",
                                        "--products", "8", "--modes", "vector", "--json", flags=["--record", recording])
            (run,) = json.loads(printed)["runs"]
            products = 8 * run["product_s"] / found["duration_s"]
            done = self.call([BIN / "idlewave", "report", "--json", "--window", f"{max(1 - 0.9 * products, 0):.6f}:0.98", recording])
            use = json.loads(done.stdout)["threads"]
            share = sum(rank["parts_s"]["communication"] / rank["product_s"] for rank in run["ranks"]) / 2
            with self.subTest(mpi=mpi, share=share, use=use):
                self.assertGreater(share, 0.3)
                self.assertEqual((use["ranks"], use["most"]), (2, 8))
                self.assertAlmostEqual(use["calling"] / 2, share, delta=0.1)
                self.assertAlmostEqual(use["asleep"] / 6, share, delta=0.1)
                self.assertAlmostEqual(use["working"] + use["calling"] + use["asleep"], 8)


if __name__ == "__main__":
    unittest.main()

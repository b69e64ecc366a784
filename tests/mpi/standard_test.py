#!/usr/bin/env python3
"""`idlewave run` with programs that are linked with the standard's own binary interface (libmpi_abi), and with the library of the same MPI
that has another and all functions of this one: what is shown is held against what the programs know.
Usage: standard_test.py FOLDER-OF-IDLEWAVE FOLDER-OF-PROGRAMS [unittest options]"""
import sys
import unittest

from any_program import OfErrors, OfHandles, OfPersistent, OfPrograms, launcher_of
from partners_test import OfPartners

ALL = "standard", "mpich5"


class OfTheStandard(unittest.TestCase):
    def setUp(self):
        if not launcher_of("standard"):
            self.skipTest("no mpicc_abi was found: an MPI with libmpi_abi is needed (scripts/setup --tests installs one)")
        super().setUp()

    def each(self, test):
        for mpi in ALL:
            with self.subTest(mpi=mpi):
                test(mpi)


class Programs(OfTheStandard, OfPrograms):
    def test_halo(self):
        self.each(self.halo)

    def test_transpose(self):
        self.each(self.transpose)

    def test_farm(self):
        self.each(self.farm)


class Handles(OfTheStandard, OfHandles):
    def test_in_all_calls(self):
        self.each(self.handles)


class Persistent(OfTheStandard, OfPersistent):
    def test_sends_count_as_others(self):
        self.each(self.persistent)


class Errors(OfTheStandard, OfErrors):
    def test_that_a_handler_takes_back(self):
        self.each(lambda mpi: self.forgiving("forgiving", mpi, "types", "one"))

    def test_that_one_of_many_handlers_takes_back(self):
        self.each(lambda mpi: self.forgiving_with_many_handlers(mpi, "types"))


class Partners(OfTheStandard, OfPartners):
    def test_of_messages(self):
        self.each(self.messages)

    def test_in_communicators_and_collectives(self):
        self.each(self.communicators)

    def test_in_collectives_that_are_started(self):
        self.each(self.started)

    def test_of_windows(self):
        self.each(self.one_sided)

    def test_in_topologies(self):
        self.each(self.topologies)

    def test_however_messages_are_waited_for(self):
        self.each(self.completion)

    def test_that_are_not_certain_are_not_said(self):
        self.each(self.unknown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

#!/usr/bin/env python3
"""The table of MPI functions against the headers of the MPIs that are installed, and the library against the table.
Usage: table_test.py TABLE LIBRARY COMPILER-OF-THE-STANDARD [unittest options]"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

TABLE, LIBRARY = (pathlib.Path(argument) for argument in sys.argv[1:3])
COMPILERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich", "standard": sys.argv[3]}


def rows():
    """Name -> (class, arguments or None), forms with large counts by their own names."""
    table = {}
    for line in TABLE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        kind, *words = line.split()
        if kind == "local":
            for word in words:
                name = word.removesuffix("+c")
                table["MPI_" + name] = (kind, None)
                if word != name:
                    table[f"MPI_{name}_c"] = (kind, None)
        else:
            arguments = [word for word in words[1:] if word[0] not in "=+"]
            table["MPI_" + words[0]] = (kind, arguments)
            if words[-1] == "+c":
                table[f"MPI_{words[0]}_c"] = (kind, arguments)
    return table


def split_arguments(text):
    """At commas outside of parentheses; () and (void) are none."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    parts = [part.strip() for part in parts]
    return [] if parts in ([""], ["void"]) else parts


def prototypes(mpi):
    """Name -> (what it returns, its arguments)."""
    compiler = shutil.which(COMPILERS[mpi])
    if not compiler:
        raise unittest.SkipTest(f"a compiler of {mpi} is not here")
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n", capture_output=True, text=True,
                          check=True).stdout
    text = re.sub(r"\s+", " ", text)
    found = {}
    for match in re.finditer(r"(?<=[;}] )(?:extern )?(?:__attribute__\s*\(\(.*?\)\) )?([\w ]+?[ *]+)(MPI_[A-Z]\w*) ?\(", text):
        end, depth = match.end(), 1
        while depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        found[match.group(2)] = (match.group(1).strip(), split_arguments(text[match.end():end - 1]))
    return {name: rest for name, rest in found.items() if "typedef" not in rest[0]}


class Table(unittest.TestCase):
    def check(self, mpi, at_least):
        functions, table = prototypes(mpi), rows()
        self.assertGreater(len(functions), at_least)
        for name, (returned, arguments) in functions.items():
            with self.subTest(function=name):
                if re.search(r"_(f2c|c2f|fromint|toint)$", name) and name not in table:
                    continue  # handles from language to language, or as numbers
                self.assertTrue(name in table, "not in the table: is it one that may wait, or that moves data?")
                kind, known = table[name]
                if kind == "local":
                    continue
                self.assertEqual(len(arguments), len(known), arguments)
                # What does not travel as a machine word would be lost on the way.
                self.assertEqual(returned, "int")
                self.assertEqual([a for a in arguments if re.match(r"(const )?(float|double|struct \w+|MPI_Status)\b[^*\[]*$", a)], [])

    def test_of_open_mpi_nothing_is_missing(self):
        self.check("openmpi", 380)

    def test_of_mpich_nothing_is_missing(self):
        self.check("mpich", 500)

    def test_of_the_standard_nothing_is_missing(self):
        self.check("standard", 500)

    def test_the_library_has_every_name_of_what_is_not_local(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1] for line in listed.splitlines()}
        for name, (kind, _) in rows().items():
            if kind == "local":
                self.assertFalse(name in names, name)
                continue
            self.assertTrue(name in names, name)
            fortran = name.lower()
            if not name.endswith("_c"):
                for form in (fortran + "_", fortran + "__", fortran + "_f08_", fortran + "_f08ts_"):
                    self.assertTrue(form in names, form)
        self.assertEqual({name for name in names if not name.lower().startswith("mpi_")}, {"idlewave_stand_back_", "ompt_start_tool"})

    def test_the_library_needs_no_mpi(self):
        needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sorted(re.findall(r"NEEDED.*\[(.*)\]", needed)), ["libc.so.6", "libm.so.6"])

    def test_no_call_of_a_program_looks_for_an_argument_by_its_name(self):
        """Where a place was no constant it was looked up in every call, which took longer than all else."""
        listed = subprocess.run(["nm", "-C", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertIn("idlewave::mpi::enter(", listed)
        self.assertNotIn("idlewave::mpi::place_of(", listed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)

"""What tests of programs that behave badly, or as few do, have in common: alone and watched, under every MPI that is here."""
import re
import shutil
import sys

from any_program import AnyProgram

# Hydra and UCX tell of processes and moments on standard output.
OF_THE_MOMENT = re.compile(rb"^=   PID |^\[\d+\.\d+\] ")


def each_mpi(test):
    """The test, once for each MPI."""
    def run(self):
        for mpi in "openmpi", "mpich":
            with self.subTest(mpi=mpi):
                if shutil.which(f"mpirun.{mpi}"):
                    test(self, mpi)
                else:
                    print(f"mpirun.{mpi} is not here", file=sys.stderr)
    return run


class Rough(AnyProgram):
    maxDiff = None

    def launcher(self, mpi, ranks=2):
        return [*super().launcher(mpi)[:1], "-n", str(ranks)]

    def files(self, name):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def contents(self, folder):
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def output(self, done):
        """The lines of ranks come in any order."""
        return sorted(line for line in done.stdout.splitlines() if not OF_THE_MOMENT.match(line))

    def both(self, command, code=0, **options):
        """Alone and watched; what the second one said of itself, and its report."""
        alone_files, watched_files = self.files("alone"), self.files("watched")
        alone = self.call(command, OWN_FILES=str(alone_files), **options)
        its_code = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
        if code is not None:
            self.assertEqual(its_code, code, alone.stderr)
        done, report = self.watch(command, OWN_FILES=str(watched_files), **options)
        self.assertEqual((done.returncode, self.output(done)), (alone.returncode, self.output(alone)), done.stderr)
        self.assertEqual(self.contents(watched_files), self.contents(alone_files))
        said = [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("idlewave: ")]
        print(*said, sep="\n", file=sys.stderr)
        return said, report

    def counts(self, report):
        return {function["name"]: function["calls"] for function in report["functions"] or []}

    def check_sums(self, report, expected, ranks=2):
        """Nothing is lost: every call of every rank is there."""
        self.assertEqual((report["ranks"], report["dropped"]), (ranks, 0))
        counts = self.counts(report)
        self.assertEqual({name: counts.get(name) for name in expected}, expected)

    def lost(self, report):
        return [rank["rank"] for rank in report["lost_ranks"]]

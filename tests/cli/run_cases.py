"""What tests of `idlewave run` share. Their arguments are the folder of the programs, and the reporter."""
import contextlib
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BIN, REPORTER = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
OWN_FAILURE = 125
PATIENCE = 60


def eventually(condition):
    """Looks less often the longer it takes: most look at all processes of the machine."""
    deadline, pause = time.monotonic() + PATIENCE, 0.02
    while not (found := condition()):
        if time.monotonic() > deadline:
            return found
        time.sleep(pause)
        pause = min(1.25 * pause, 0.15)
    return found


def read_to_the_end(fd):
    with contextlib.suppress(OSError):  # a terminal that nobody has open any more
        while os.read(fd, 4096):
            pass


def lives(pid):
    """Of a process that is killed the first thread may be over while others still end, and have its files open."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return state[0] != "X" and (state[0] != "Z" or int(state[17]) > 1)


class RunCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.sessions = self.path / "sessions"
        self.environment = {**os.environ, "IDLEWAVE_DIR": str(self.sessions), "REPORTER": str(REPORTER)}
        self.addCleanup(self.nothing_is_left)

    def processes(self, name=None):
        """Ours that live, known by the folder of their sessions in their environment."""
        sign = f"IDLEWAVE_DIR={self.sessions}\0".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and sign in (entry / "environ").read_bytes() and lives(entry.name):
                    if name in (None, (entry / "comm").read_text().strip()):
                        found.append(int(entry.name))
            except OSError:
                pass
        return found

    def nothing_is_left(self):
        def left():
            # A walk passes over a folder that goes meanwhile.
            return [f"{folder}/{name}" for folder, folders, files in os.walk(self.sessions) if folder != str(self.sessions)
                    for name in folders + files] + self.processes()

        eventually(lambda: not left())
        self.assertEqual(left(), [])

    def start(self, *arguments, headless=True, program=BIN / "idlewave", **options):
        words = [program, "run", *(["--headless"] if headless else []), *arguments]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.path, **options}
        process = subprocess.Popen(words, env=self.environment, **options)
        self.addCleanup(process.stdout.close if process.stdout else int)
        self.addCleanup(process.stderr.close if process.stderr else int)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_it(self, *arguments, input=None, **options):
        process = self.start(*arguments, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL, **options)
        out, err = process.communicate(input, timeout=PATIENCE)
        return process.returncode, out, err

    def shell(self, script, *options, **more):
        return self.run_it(*options, "--", "sh", "-c", script, **more)

    def on_terminal(self, script, prepare=lambda: None, **environment):
        """A screen on a terminal of its own, which it is the first to have. Returns it and the other end, once it shows something."""
        other, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

        def become_session():
            os.setsid()
            prepare()

        self.environment.update({"TERM": "xterm-256color", **environment})
        run = self.start("--session", "screen", "--", "sh", "-c", script, headless=False, stdin=terminal, stdout=terminal,
                         preexec_fn=become_session)
        os.close(terminal)
        return run, other

    def screen_on(self, session):
        """A screen that attaches, on a terminal. Returns it and the other end, once it is live."""
        other, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 48, 160, 0, 0))
        screen = subprocess.Popen([BIN / "idlewave", "attach", session], env={**self.environment, "TERM": "xterm-256color"}, cwd=self.path,
                                  stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL, preexec_fn=os.setsid)
        os.close(terminal)
        self.addCleanup(screen.wait)
        self.addCleanup(screen.kill)
        shown = b""
        while b"LIVE" not in shown:
            shown += os.read(other, 65536)
        return screen, other

    @staticmethod
    def read_all(terminal):
        try:
            while os.read(terminal, 1 << 20):
                pass
        except OSError:
            pass


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

/* What processes of an MPI program do besides computing. Usage: rough MODE STEPS [PROGRAM [ARGUMENT]]; a step is an exchange in a ring.
 * Each rank writes what it has got to $OWN_FILES/rank.N when its steps are over.
 *   plain       nothing
 *   fork        a child goes on beside the parent, writes a file and ends by _exit
 *   fork-exit   a child calls exit, and so runs what is to run at a program's end
 *   fork-exec   a child becomes PROGRAM, the parent waits for it
 *   exec        rank 0 becomes PROGRAM after its steps
 *   exec-first  every rank becomes PROGRAM before MPI_Init
 *   first-ends  MPI is called by another thread, once the first one has ended
 *   abort       the last rank calls abort() after its steps
 *   unended     all call exit(3) and nobody MPI_Finalize
 *   other-exit  the same, by another thread
 *   stop        the last rank is stopped for a while in the middle of its steps
 *   close       after the steps all descriptors are closed but the standard ones and sockets, by which a launcher sees a rank end;
 *               nobody calls MPI_Finalize
 *   nofile      eight descriptors at most from MPI_Init on
 *   room        each rank writes how much address space it has after its steps
 *   memory      no more address space than so many bytes (PROGRAM), from before MPI_Init on; after it 300 MB are taken
 *   filter      a rank may not open files, start processes or ask for sockets during its steps: such a call would kill it
 *   adopt       takes in orphans from before MPI_Init on, and waits after its steps until no child is left
 *   deaf        does not care how its children end (SIGCHLD), from before MPI_Init on
 *   no-start    no process may be started, from before MPI_Init on: such a call fails
 *   no-lock     no file may be locked, from before MPI_Init on: such a call fails
 *   no-connect  nobody may be connected to, from before MPI_Init on: such a call fails
 *   no-send     nothing may be sent, from before MPI_Init on: such a call fails
 *   no-clock    how much processor time it has used is told to nobody during its steps: such a call fails. Each rank writes how
 *               often errno was as before behind a question (MPI_Iprobe) after a pause
 *   die         the last rank kills itself after its steps */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char* mode;
static char** others; /* program and argument */
static int rank, size;

static int is(const char* name) { return strcmp(mode, name) == 0; }

static void fail(const char* what) {
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, strerror(errno));
  exit(99);
}

static void write_file(const char* name, long value) {
  char path[4096];
  FILE* file;
  if (getenv("OWN_FILES") == NULL) return;
  snprintf(path, sizeof path, "%s/%s.%d", getenv("OWN_FILES"), name, rank);
  file = fopen(path, "w");
  if (file == NULL) fail(path);
  fprintf(file, "%ld\n", value);
  fclose(file);
}

static long exchange(int steps) {
  long sum = 0;
  int step;
  for (step = 0; step < steps; ++step) {
    long out = rank + step, in = 0;
    MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sum += in;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  }
  return sum;
}

static void print_at_end(void) { printf("a process of rank %d ends\n", rank); }

/* With memory of its own, so that the parent's must not change under it. */
static void child(void) {
  if (is("fork-exec")) {
    execv(others[0], others);
    _exit(98);
  }
  write_file("child", (long)rank * 1000);
  if (is("fork-exit")) exit(4);
  usleep(100000); /* beside the parent's steps */
  _exit(4);
}

static pid_t start_child(void) {
  const pid_t pid = fork();
  if (pid == 0) child();
  if (pid < 0) fail("fork");
  return pid;
}

static void wait_for(pid_t pid) {
  int status;
  if (waitpid(pid, &status, 0) != pid) fail("waitpid");
  printf("rank %d: its child ended with %d\n", rank, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* One of them is a grandchild that was left behind. */
static void wait_for_all(void) {
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    if (fork() == 0) usleep(50000);
    _exit(0);
  }
  while (waitpid(-1, NULL, 0) > 0) continue;
  if (errno != ECHILD) fail("waitpid");
}

/* A child wakes what is stopped. */
static void be_stopped(void) {
  const pid_t self = getpid(), waker = fork();
  int status;
  if (waker < 0) fail("fork");
  if (waker == 0) {
    usleep(300000);
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
  waitpid(waker, &status, 0);
}

static void limit(int what, rlim_t to) {
  const struct rlimit both = {to, to};
  if (setrlimit(what, &both) != 0) fail("setrlimit");
}

static long address_space(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &pages) != 1) fail("statm");
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void refuse(const int* calls, int count, unsigned how) {
  struct sock_filter code[64];
  struct sock_fprog program = {0, code};
  unsigned short length = 0;
  int i;
  code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (i = 0; i < count; ++i) {
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, how);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program.len = length;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    fail("a filter of system calls");
}

static void refuse_files_and_processes(void) {
  const int calls[] = {SYS_openat, SYS_execve, SYS_memfd_create, SYS_clone, SYS_clone3, SYS_socket, SYS_mmap, SYS_kill};
  refuse(calls, sizeof calls / sizeof *calls, SECCOMP_RET_KILL_PROCESS);
}

static void refuse_processes(void) {
  const int calls[] = {SYS_execve, SYS_vfork, SYS_fork};
  refuse(calls, sizeof calls / sizeof *calls, SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_locks(void) {
  const int calls[] = {SYS_flock};
  refuse(calls, 1, SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_connections(void) {
  const int calls[] = {SYS_connect};
  refuse(calls, 1, SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_sending(void) {
  const int calls[] = {SYS_sendto};
  refuse(calls, 1, SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_clocks(void) {
  const int calls[] = {SYS_clock_gettime};
  refuse(calls, 1, SECCOMP_RET_ERRNO | EPERM);
}

static long questions_that_keep_errno(void) {
  const struct timespec pause = {0, 50000};
  long kept = 0;
  int i, flag;
  for (i = 0; i < 100; ++i) {
    errno = ENOTBLK;
    MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    kept += errno == ENOTBLK;
    nanosleep(&pause, NULL);
  }
  return kept;
}

static void close_all_but_sockets(void) {
  struct stat status;
  int fd;
  for (fd = 3; fd < 1024; ++fd)
    if (fstat(fd, &status) == 0 && !S_ISSOCK(status.st_mode)) close(fd);
}

static void* exit_there(void* unused) {
  (void)unused;
  exit(3);
}

int main(int argc, char** argv);

static int is_first_thread_there(void) {
  char line[1024] = "";
  FILE* file = fopen("/proc/self/stat", "r");
  if (file == NULL || fgets(line, sizeof line, file) == NULL) fail("/proc/self/stat");
  fclose(file);
  return strstr(line, ") Z ") == NULL;
}

static void* go_on_there(void* words) {
  while (is_first_thread_there()) usleep(1000);
  exit(main(3, (char**)words));
}

static void end_first_thread(char** words) {
  pthread_t thread;
  pthread_create(&thread, NULL, go_on_there, words);
  pthread_exit(NULL);
}

int main(int argc, char** argv) {
  const int steps = atoi(argv[2]);
  pid_t beside = 0;
  long sum;
  mode = argv[1];
  others = argv + 3;
  if (is("exec-first")) {
    execv(others[0], others);
    fail(others[0]);
  }
  if (is("first-ends") && syscall(SYS_gettid) == getpid()) end_first_thread(argv);
  if (is("no-start")) refuse_processes();
  if (is("no-lock")) refuse_locks();
  if (is("no-connect")) refuse_connections();
  if (is("no-send")) refuse_sending();
  if (is("adopt") && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail("prctl");
  if (is("deaf")) signal(SIGCHLD, SIG_IGN);
  if (is("memory")) limit(RLIMIT_AS, (rlim_t)atol(others[0]));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (is("fork-exit") || is("unended")) atexit(print_at_end);
  if (is("memory") && mmap(NULL, (size_t)300 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1, 0) == MAP_FAILED)
    fail("mmap");
  if (is("nofile")) limit(RLIMIT_NOFILE, 8);
  sum = exchange(steps);
  if (is("filter")) refuse_files_and_processes();
  if (is("no-clock")) {
    refuse_clocks();
    write_file("errno", questions_that_keep_errno());
  }
  if (strncmp(mode, "fork", 4) == 0) beside = start_child();
  if (is("stop") && rank == size - 1) be_stopped();
  sum += exchange(steps);
  if (beside > 0) wait_for(beside);
  if (is("adopt")) wait_for_all();
  if (is("room")) write_file("room", address_space());
  if (!is("filter") && !is("nofile")) write_file("rank", sum);
  if (rank == 0) printf("%s: %ld\n", mode, sum);
  fflush(stdout);
  if (is("filter")) _exit(0);
  if (is("close")) {
    MPI_Barrier(MPI_COMM_WORLD);
    close_all_but_sockets();
    _exit(5);
  }
  if (is("exec") && rank == 0) {
    execv(others[0], others);
    fail(others[0]);
  }
  if (is("abort") && rank == size - 1) abort();
  if (is("die") && rank == size - 1) kill(getpid(), SIGKILL);
  if (is("other-exit")) {
    pthread_t thread;
    pthread_create(&thread, NULL, exit_there, NULL);
    pthread_join(thread, NULL);
  }
  if (is("unended")) exit(3);
  MPI_Finalize();
  return 0;
}

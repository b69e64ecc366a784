// What this library calls of the C library, past a program that has a function of its own by the same name: it may be called send, poll
// or flock, and stands before the C library where the dynamic linker looks. The linker has our calls of each function below go by here
// (--wrap, CMakeLists.txt).

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Found at once, as a look-up takes a stack that may be small. Who calls before that gets what the dynamic linker has found.
#define PAST_PROGRAM(name, result, parameters, arguments)                                  \
  extern "C" result __real_##name parameters;                                              \
  static decltype(&__real_##name) next_##name = __real_##name;                             \
  [[gnu::constructor(101)]] static void find_##name() {                                    \
    if (void* found = dlsym(RTLD_NEXT, #name)) next_##name = decltype(next_##name)(found); \
  }                                                                                        \
  extern "C" result __wrap_##name parameters { return next_##name arguments; }

// clang-format off
PAST_PROGRAM(access, int, (const char* path, int mode), (path, mode))
PAST_PROGRAM(chmod, int, (const char* path, mode_t mode), (path, mode))
PAST_PROGRAM(clock_nanosleep, int, (clockid_t clock, int flags, const timespec* time, timespec* left), (clock, flags, time, left))
PAST_PROGRAM(clone, int, (int (*body)(void*), void* stack, int flags, void* argument, ...), (body, stack, flags, argument))
PAST_PROGRAM(close, int, (int fd), (fd))
PAST_PROGRAM(closedir, int, (DIR* folder), (folder))
PAST_PROGRAM(connect, int, (int fd, const sockaddr* address, socklen_t length), (fd, address, length))
PAST_PROGRAM(dl_iterate_phdr, int, (int (*visit)(dl_phdr_info*, size_t, void*), void* data), (visit, data))
PAST_PROGRAM(dladdr, int, (const void* address, Dl_info* info), (address, info))
PAST_PROGRAM(flock, int, (int fd, int operation), (fd, operation))
PAST_PROGRAM(fmin, double, (double a, double b), (a, b))
PAST_PROGRAM(fstat, int, (int fd, struct stat* status), (fd, status))
PAST_PROGRAM(getsockopt, int, (int fd, int level, int name, void* value, socklen_t* length), (fd, level, name, value, length))
PAST_PROGRAM(kill, int, (pid_t pid, int signal), (pid, signal))
PAST_PROGRAM(log, double, (double x), (x))
PAST_PROGRAM(lstat, int, (const char* path, struct stat* status), (path, status))
PAST_PROGRAM(madvise, int, (void* address, size_t length, int advice), (address, length, advice))
PAST_PROGRAM(memfd_create, int, (const char* name, unsigned flags), (name, flags))
PAST_PROGRAM(mkdir, int, (const char* path, mode_t mode), (path, mode))
PAST_PROGRAM(opendir, DIR*, (const char* path), (path))
PAST_PROGRAM(poll, int, (pollfd* descriptors, nfds_t count, int patience), (descriptors, count, patience))
PAST_PROGRAM(pread, ssize_t, (int fd, void* to, size_t size, off_t offset), (fd, to, size, offset))
PAST_PROGRAM(pthread_attr_destroy, int, (pthread_attr_t* attributes), (attributes))
PAST_PROGRAM(pthread_attr_getstack, int, (const pthread_attr_t* attributes, void** stack, size_t* size), (attributes, stack, size))
PAST_PROGRAM(pthread_getattr_np, int, (pthread_t thread, pthread_attr_t* attributes), (thread, attributes))
PAST_PROGRAM(read, ssize_t, (int fd, void* to, size_t size), (fd, to, size))
PAST_PROGRAM(readdir, dirent*, (DIR* folder), (folder))
PAST_PROGRAM(readlink, ssize_t, (const char* path, char* to, size_t size), (path, to, size))
PAST_PROGRAM(readlinkat, ssize_t, (int folder, const char* path, char* to, size_t size), (folder, path, to, size))
PAST_PROGRAM(realpath, char*, (const char* path, char* to), (path, to))
PAST_PROGRAM(recv, ssize_t, (int fd, void* to, size_t size, int flags), (fd, to, size, flags))
PAST_PROGRAM(rename, int, (const char* from, const char* to), (from, to))
PAST_PROGRAM(rmdir, int, (const char* path), (path))
PAST_PROGRAM(sched_getcpu, int, (), ())
PAST_PROGRAM(sched_yield, int, (), ())
PAST_PROGRAM(send, ssize_t, (int fd, const void* from, size_t size, int flags), (fd, from, size, flags))
PAST_PROGRAM(sigpending, int, (sigset_t* signals), (signals))
PAST_PROGRAM(sigtimedwait, int, (const sigset_t* signals, siginfo_t* info, const timespec* patience), (signals, info, patience))
PAST_PROGRAM(socket, int, (int domain, int type, int protocol), (domain, type, protocol))
PAST_PROGRAM(stat, int, (const char* path, struct stat* status), (path, status))
PAST_PROGRAM(symlinkat, int, (const char* target, int folder, const char* path), (target, folder, path))
PAST_PROGRAM(time, time_t, (time_t* to), (to))
PAST_PROGRAM(uname, int, (utsname* names), (names))
PAST_PROGRAM(unlink, int, (const char* path), (path))
PAST_PROGRAM(waitpid, pid_t, (pid_t pid, int* status, int options), (pid, status, options))
PAST_PROGRAM(write, ssize_t, (int fd, const void* from, size_t size), (fd, from, size))
// clang-format on

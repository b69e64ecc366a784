// Loaded into an agent: stops that where it would let ranks and the host know that it is there, after it has begun to listen.
// STOPPED names the file that tells which process has stopped.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell_who_stops(void) {
  char text[16];
  const int length = snprintf(text, sizeof text, "%d\n", getpid());
  const int file = open(getenv("STOPPED"), O_WRONLY | O_CREAT, 0600);
  if (write(file, text, length) != length) abort();
  close(file);
}

int rename(const char* from, const char* to) {
  const char* name = strrchr(to, '/');
  if (name != NULL && strcmp(name, "/agent") == 0) {
    tell_who_stops();
    raise(SIGSTOP);
  }
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

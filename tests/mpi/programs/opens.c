/* A tool that notes how often a process has opened an object, in OWN_FILES/opened.PID. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int opened;

void* dlopen(const char* file, int mode) {
  void* (*next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  ++opened;
  return next(file, mode);
}

__attribute__((destructor)) static void note(void) {
  char path[4096];
  FILE* file;
  snprintf(path, sizeof path, "%s/opened.%d", getenv("OWN_FILES"), (int)getpid());
  file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%d\n", opened);
  fclose(file);
}

/* A program that is linked with no MPI, and loads one late. Usage: late HOW PLUGIN STEPS
 *   local, global   PLUGIN is linked with MPI and does everything
 *   by-hand         MPI_Init and MPI_Finalize are looked up in the library
 *   twice-local, twice-global   the plugin is unloaded, and loaded again for all of it a second time */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*Begin)(int*, char***);
typedef int (*End)(void);
typedef int (*Exchange)(int);

static int work_with(void* plugin, int is_by_hand, int steps) {
  Begin begin = (Begin)dlsym(plugin, is_by_hand ? "MPI_Init" : "begin");
  End end = (End)dlsym(plugin, is_by_hand ? "MPI_Finalize" : "end");
  Exchange exchange = (Exchange)dlsym(plugin, "exchange");
  if (begin == NULL || end == NULL || exchange == NULL) return 98;
  begin(NULL, NULL);
  printf("%d\n", exchange(steps));
  fflush(stdout);
  return end();
}

int main(int argc, char** argv) {
  const int is_global = argc > 3 && strstr(argv[1], "global") != NULL;
  const int times = argc > 3 && strncmp(argv[1], "twice", 5) == 0 ? 2 : 1;
  int i;
  for (i = 0; i < times; ++i) {
    void* plugin = argc > 3 ? dlopen(argv[2], RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL)) : NULL;
    int failed;
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 99;
    }
    failed = work_with(plugin, strcmp(argv[1], "by-hand") == 0, atoi(argv[3]));
    if (failed) return failed;
    if (times > 1 && dlclose(plugin) != 0) return 97;
  }
  return 0;
}

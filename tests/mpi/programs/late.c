/* A program that is linked with no MPI, and loads one late. Usage: late HOW PLUGIN STEPS
 *   local, global   PLUGIN is linked with MPI and does everything
 *   by-hand         MPI_Init and MPI_Finalize are looked up in the library */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const int is_global = argc > 3 && strcmp(argv[1], "global") == 0;
  void* plugin = argc > 3 ? dlopen(argv[2], RTLD_NOW | (is_global ? RTLD_GLOBAL : RTLD_LOCAL)) : NULL;
  int (*begin)(int*, char***);
  int (*end)(void);
  int (*exchange)(int);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 99;
  }
  begin = (int (*)(int*, char***))dlsym(plugin, strcmp(argv[1], "by-hand") == 0 ? "MPI_Init" : "begin");
  end = (int (*)(void))dlsym(plugin, strcmp(argv[1], "by-hand") == 0 ? "MPI_Finalize" : "end");
  exchange = (int (*)(int))dlsym(plugin, "exchange");
  if (begin == NULL || end == NULL || exchange == NULL) return 98;
  begin(&argc, &argv);
  printf("%d\n", exchange(atoi(argv[3])));
  fflush(stdout);
  return end();
}

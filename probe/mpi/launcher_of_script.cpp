// A script is started with this library in its environment, and so is the launcher that it starts: that knows which MPI its ranks
// have, which nobody knew before. Of the two libraries, which differ in the functions of large counts, it hands on the right one.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <initializer_list>

namespace idlewave::mpi {
namespace {

constexpr const char* kLargeCounts = "/libidlewave-mpi.so";
constexpr const char* kSmallCounts = "/libidlewave-mpi-small-counts.so";

/// By its name alone, which costs other programs no system call.
bool may_be_a_launcher() {
  const auto* const file = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (file == nullptr) return false;
  const char* const slash = strrchr(file, '/');
  const char* const name = slash != nullptr ? slash + 1 : file;
  for (const char* known : {"mpirun", "mpiexec", "orterun", "prterun"})
    if (strncmp(name, known, strlen(known)) == 0) return true;
  return false;
}

bool lies_in(const char* folder, const char* name) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length > 0 && length < PATH_MAX && access(path, X_OK) == 0;
}

/// Null: this process is no launcher, or of neither kind for certain (as monitor/host/launcher.h knows them).
const char* library_of_ranks() {
  char folder[PATH_MAX] = {};
  if (readlink("/proc/self/exe", folder, sizeof folder - 1) <= 0) return nullptr;
  char* const slash = strrchr(folder, '/');
  if (slash == nullptr) return nullptr;
  *slash = '\0';
  const char* const name = slash + 1;
  for (const char* known : {"orterun", "prterun", "prte", "mpirun.openmpi", "mpiexec.openmpi"})
    if (strcmp(name, known) == 0) return kSmallCounts;
  if (strcmp(name, "mpiexec.hydra") == 0) return kLargeCounts;
  if (strcmp(name, "mpirun") != 0 && strcmp(name, "mpiexec") != 0) return nullptr;
  const bool is_open_mpi = lies_in(folder, "prterun") || lies_in(folder, "orterun");
  if (is_open_mpi == lies_in(folder, "hydra_pmi_proxy")) return nullptr;
  return is_open_mpi ? kSmallCounts : kLargeCounts;
}

/// Where the name begins by which that library's path in a list ends; null: it is not there.
const char* find(const char* list, const char* library) {
  const std::size_t length = strlen(library);
  for (const char* at = strstr(list, library); at != nullptr; at = strstr(at + 1, library))
    if (at[length] == '\0' || at[length] == ':' || at[length] == ' ') return at;
  return nullptr;
}

/// Says the other library in the place of the one that was said, where it lies beside that: what is not there is an error of the
/// dynamic linker's in every rank.
void say_in_place_of(const char* before, const char* now, const char* list) {
  const char* const at = find(list, before);
  if (at == nullptr) return;
  const char* begin = at;
  while (begin > list && begin[-1] != ':' && begin[-1] != ' ') --begin;
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%.*s%s", static_cast<int>(at - begin), begin, now);
  if (length < 0 || length >= PATH_MAX || access(path, R_OK) != 0) return;
  const std::size_t room = strlen(list) + strlen(now) + 1;
  auto* const text = static_cast<char*>(malloc(room));
  if (text == nullptr) return;
  snprintf(text, room, "%.*s%s%s", static_cast<int>(begin - list), list, path, at + strlen(before));
  setenv("LD_PRELOAD", text, 1);
  free(text);
}

[[gnu::constructor]] void hand_on_the_right_library() {
  const char* const list = getenv("LD_PRELOAD");
  if (list == nullptr || getenv("IDLEWAVE_SESSION") == nullptr || !may_be_a_launcher()) return;
  const char* const wanted = library_of_ranks();
  if (wanted != nullptr) say_in_place_of(wanted == kSmallCounts ? kLargeCounts : kSmallCounts, wanted, list);
}

}  // namespace
}  // namespace idlewave::mpi

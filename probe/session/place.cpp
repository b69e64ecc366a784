#include "probe/session/place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "probe/session/files.h"
#include "probe/session/node_name.h"

// Paths of any length would not fit on a small stack, on which a program may begin MPI.
namespace idlewave::session {
namespace {

constexpr int kPlaceLimit = 128;

/// Where one agent looks after a session: node, boot, and table of processes, in which numbers and moments at which processes
/// began mean what they mean here.
struct Place {
  char node[kPlaceLimit] = {};
  char run[kPlaceLimit] = {};
};

/// The link holds both, with a blank between them.
bool read_place(const char* folder, Place& out) {
  char text[2 * kPlaceLimit];
  const Descriptor inside(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
  const ssize_t length = inside ? readlinkat(inside.get(), "place", text, sizeof text - 1) : 0;
  if (length <= 0) return false;
  text[length] = '\0';
  char* blank = strrchr(text, ' ');
  if (blank == nullptr) return false;
  *blank = '\0';
  return print_to(out.node, "%s", text) && print_to(out.run, "%s", blank + 1);
}

/// By so many seconds processes are said here to have begun later than they have; where none are, empty.
void read_delay_of_beginnings(char (&out)[32]) {
  char text[256] = {};
  long long seconds = 0;
  read_small_file("/proc/self/timens_offsets", text);
  const char* const line = strstr(text, "boottime");
  if (line != nullptr) seconds = strtoll(line + strlen("boottime"), nullptr, 10);
  out[0] = '\0';
  if (seconds != 0) print_to(out, "%+lld", seconds);
}

Place this_place() {
  Place place;
  char node[kNodeNameLimit], boot[64] = {}, processes[64] = {}, delay[32];
  read_small_file("/proc/sys/kernel/random/boot_id", boot);
  boot[strcspn(boot, "\n")] = '\0';
  if (readlink("/proc/self/ns/pid", processes, sizeof processes - 1) <= 0) processes[0] = '\0';
  read_delay_of_beginnings(delay);
  node_name(node);
  node[strcspn(node, ".")] = '\0';  // Slurm leaves out the domain, where the machine says it.
  print_to(place.node, "%s", node);
  print_to(place.run, "%s/%s%s", boot, processes, delay);
  return place;
}

bool is_on_this_machine(const Place& place, const Place& here) {
  const std::size_t boot = strcspn(here.run, "/");
  return strcmp(place.node, here.node) == 0 && strncmp(place.run, here.run, boot + 1) == 0;
}

/// What a node left before it was started anew is its own to sweep.
bool is_here(const Place& place, const Place& here) {
  const bool is_this_node = strcmp(place.node, here.node) == 0;
  return is_this_node && (!is_on_this_machine(place, here) || strcmp(place.run, here.run) == 0);
}

}  // namespace

bool belongs_elsewhere(const char* folder) {
  Place place;
  return read_place(folder, place) && !is_here(place, this_place());
}

bool belongs_to_other_processes(const char* folder) {
  Place place;
  const Place here = this_place();
  return read_place(folder, place) && !is_here(place, here) && is_on_this_machine(place, here);
}

void settle_place(const char* folder) {
  char text[2 * kPlaceLimit];
  const Place here = this_place();
  const Descriptor inside(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (inside && print_to(text, "%s %s", here.node, here.run)) (void)!symlinkat(text, inside.get(), "place");
}

/// FNV-1a.
std::uint32_t digest_of_this_place() {
  const Place place = this_place();
  std::uint32_t sum = 2166136261u;
  for (const char* text : {place.node, place.run})
    for (const char* c = text; *c != '\0'; ++c) sum = (sum ^ static_cast<unsigned char>(*c)) * 16777619u;
  return sum;
}

}  // namespace idlewave::session

// How many threads of the rank work, as an OpenMP runtime tells it that has the standard's interface for tools (OpenMP 5.0,
// chapter 4): LLVM's and its relatives. It asks for `ompt_start_tool` when it begins, and calls what it was given on the
// threads concerned. Where nobody is to be told, or another tool is there, it gets nothing.

#include <dlfcn.h>
#include <idlewave/probe.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe/mpi/watcher.h"

namespace idlewave::mpi {
namespace {

// What is used of the interface, as the standard lays it down for C.
union Data {
  std::uint64_t value;
  void* pointer;
};
using AnyFunction = void (*)();
using Lookup = AnyFunction (*)(const char* name);
using SetCallback = int (*)(int event, AnyFunction callback);
struct Tool {
  int (*initialize)(Lookup lookup, int initial_device, Data* data);
  void (*finalize)(Data* data);
  Data data;
};
constexpr int kImplicitTask = 7;
constexpr int kScopeBegins = 1, kScopeEnds = 2;
constexpr int kInitialTask = 1;

/// Regions that the thread which reports is in, one inside the other. It alone uses this.
constinit int depth = 0;

void tell(unsigned threads, const void* frame, const void* caller) {
  if (!take_turn(frame, caller)) return;
  idlewave_threads_(static_cast<int>(threads));
  end_turn();
}

/// A thread begins or ends its part of a parallel region. Those of the outermost region all work: of one that waits for
/// the others at a barrier it is not known whether it does tasks meanwhile.
void take_part(int endpoint, Data*, Data*, unsigned threads, unsigned, int flags) {
  if ((flags & kInitialTask) != 0 || !is_reporting()) return;
  const void* const caller = CALLER;
  if (endpoint == kScopeBegins && depth++ == 0) tell(threads, FRAME, caller);
  // It may have begun to report inside a region.
  if (endpoint == kScopeEnds && depth > 0 && --depth == 0) tell(1, FRAME, caller);
}

int begin_telling(Lookup lookup, int, Data*) {
  const auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (set != nullptr) set(kImplicitTask, reinterpret_cast<AnyFunction>(&take_part));
  return set != nullptr;
}

void end_telling(Data*) {}

bool is_set(const char* variable) {
  const char* text = getenv(variable);
  return text != nullptr && text[0] != '\0';
}

using StartTool = Tool* (*)(unsigned version, const char* runtime);

/// Of a tool behind us; null: there is none. The runtime has a function of that name itself, which looks on behind it.
Tool* other_tool(unsigned version, const char* runtime) {
  const auto next = reinterpret_cast<StartTool>(dlsym(RTLD_NEXT, "ompt_start_tool"));
  return next != nullptr ? next(version, runtime) : nullptr;
}

constinit Tool tool{begin_telling, end_telling, {0}};

}  // namespace
}  // namespace idlewave::mpi

extern "C" [[gnu::visibility("default")]] void* ompt_start_tool(unsigned version, const char* runtime) {
  using namespace idlewave::mpi;
  if (Tool* other = other_tool(version, runtime)) return other;
  return is_set("IDLEWAVE_SESSION") && !is_set("OMP_TOOL_LIBRARIES") ? &tool : nullptr;
}

// What the threads of the rank do, as an OpenMP runtime tells it that has the standard's interface for tools (OpenMP 5.0,
// chapter 4): LLVM's and its relatives. It asks for `ompt_start_tool` when it begins, and calls what it was given on the
// threads concerned. Where nobody is to be told, or another tool is there, it gets nothing.

#include <dlfcn.h>
#include <idlewave/probe.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe/client/own_rank.h"
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
constexpr int kParallelBegin = 3, kTaskSchedule = 6, kImplicitTask = 7, kSyncRegionWait = 16;
constexpr int kScopeBegins = 1, kScopeEnds = 2;
constexpr int kInitialTask = 1;

/// Of the outermost parallel regions that the thread which reports is in, each is told in one of two ways.
enum Region : std::uint64_t {
  kNotOutermost = 0,  ///< As the runtime leaves it.
  kByLanes = 1,       ///< Each thread of the team has a lane.
  kByCount = 2,       ///< They are too many for that, and all count as active until it ends.
};

/// The thread which reports alone uses these.
constinit int depth = 0;  ///< Regions that it is in, one inside the other.
constinit bool is_counted = false;
constinit bool has_large_teams = false;

void tell(unsigned threads, const void* frame, const void* caller) {
  if (!take_turn(frame, caller)) return;
  idlewave_threads_(static_cast<int>(threads));
  end_turn();
}

/// On the thread that comes to the region, before any of its team. Once a team was too large none has lanes, or those would
/// count beside the others.
void begin_region(Data*, const void*, Data* region, unsigned threads, int, const void*) {
  if (!is_reporting() || depth > 0) return;
  has_large_teams = has_large_teams || threads > shm::kThreadPlaces + 1;
  region->value = has_large_teams ? kByCount : kByLanes;
}

/// Another thread of a team that has lanes: works, but where it waits for the others. It may do tasks meanwhile.
class Member {
 public:
  void begin(bool has_lane) {
    if (regions_++ > 0) return;
    is_there_ = has_lane;
    waits_ = 0;
    if (is_there_) say([](client::LaneWriter& lane) { lane.begin(wire::Phase::kCompute); });
  }
  void end() {
    if (regions_ == 0 || --regions_ > 0 || !is_there_) return;
    is_there_ = false;
    say([](client::LaneWriter& lane) { lane.end(); });
  }
  void begin_wait(const Data* task) {
    if (!is_there_) return;
    if (waits_ < kMostWaits) waiting_[waits_] = task;
    ++waits_;
    say([](client::LaneWriter& lane) { lane.begin(wire::Phase::kNone); });
  }
  void end_wait() {
    if (!is_there_ || waits_ == 0) return;
    --waits_;
    say([](client::LaneWriter& lane) { lane.end(); });
  }
  void go_on_with(const Data* task) {
    if (!is_there_ || waits_ == 0 || waits_ > kMostWaits) return;
    const bool waits = task == waiting_[waits_ - 1];
    say([waits](client::LaneWriter& lane) { lane.switch_to(waits ? wire::Phase::kNone : wire::Phase::kCompute); });
  }

 private:
  static constexpr int kMostWaits = client::LaneWriter::kMaxDepth - 1;

  template <class Say>
  static void say(Say what) {
    client::LaneWriter* const lane = client::probe.threads.acquire();
    if (lane == nullptr) return;
    what(*lane);
    client::probe.threads.release();
  }

  int regions_ = 0;  ///< One inside the other.
  bool is_there_ = false;
  int waits_ = 0;  ///< One inside the other, as in a task that is done within the wait of another.
  const Data* waiting_[kMostWaits] = {};
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Member member;

/// A thread begins or ends its part of a parallel region.
void take_part(int endpoint, Data* region, Data*, unsigned threads, unsigned, int flags) {
  if ((flags & kInitialTask) != 0) return;
  if (!is_reporting()) {
    if (endpoint == kScopeBegins) member.begin(region != nullptr && region->value == kByLanes);
    if (endpoint == kScopeEnds) member.end();
    return;
  }
  const void* const caller = CALLER;
  if (endpoint == kScopeBegins && depth++ == 0) {
    is_counted = region == nullptr || region->value != kByLanes;
    if (is_counted) tell(threads, FRAME, caller);
  }
  // It may have begun to report inside a region.
  if (endpoint == kScopeEnds && depth > 0 && --depth == 0 && is_counted) tell(1, FRAME, caller);
}

void wait_in_region(int, int endpoint, Data*, Data* task, const void*) {
  endpoint == kScopeBegins ? member.begin_wait(task) : member.end_wait();
}

void schedule_task(Data*, int, Data* next) {
  if (next != nullptr) member.go_on_with(next);
}

int begin_telling(Lookup lookup, int, Data*) {
  const auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  set(kParallelBegin, reinterpret_cast<AnyFunction>(&begin_region));
  set(kImplicitTask, reinterpret_cast<AnyFunction>(&take_part));
  set(kSyncRegionWait, reinterpret_cast<AnyFunction>(&wait_in_region));
  set(kTaskSchedule, reinterpret_cast<AnyFunction>(&schedule_task));
  return 1;
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

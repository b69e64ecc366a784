#include "probe/mpi/call_of_thread.h"

#include <atomic>

#include "probe/client/own_rank.h"
#include "probe/mpi/messages.h"
#include "probe/mpi/trouble.h"
#include "probe/mpi/watcher.h"

namespace idlewave::mpi {

namespace {

constinit std::atomic<bool> thread_is_noted{false};

/// Frame of the outermost call of this thread that goes on, if it is not the one that reports; null: none. What it left by
/// longjmp was left for a frame that is less deep.
[[gnu::tls_model("initial-exec")]] thread_local constinit const void* inside_of_thread = nullptr;

void note_thread_without_lane() {
  client::probe.threads.count_unseen_call();
  if (!thread_is_noted.exchange(true))
    note(
        "more threads call MPI at a time than are watched: calls of the others are not seen, and a rank that waits in "
        "one is shown as it was before");
}

}  // namespace

CallOfThread::CallOfThread(Call call, wire::Phase phase, const void* frame) : call_(call) {
  if (watch.reporter.load(std::memory_order_relaxed) == nullptr || is_reporting() || frame < inside_of_thread) return;
  is_outermost_ = true;
  inside_of_thread = frame;
  messages.note_unseen_start();
  client::LaneWriter* const lane = client::probe.threads.acquire();
  if (lane == nullptr) {
    note_thread_without_lane();
    return;
  }
  handles_ = &handles_of_thread(client::probe.threads.own_place());
  handles_->thread_calls();
  lane->switch_to(phase);
  began_ = lane->last();
  client::probe.threads.release();
}

CallOfThread::~CallOfThread() {
  if (is_outermost_) inside_of_thread = nullptr;
  client::LaneWriter* const lane = handles_ != nullptr ? client::probe.threads.acquire() : nullptr;
  if (lane == nullptr) return;
  lane->switch_to(wire::Phase::kCompute);
  shm::CallBook& book = client::probe.membership.slot().calls;
  count_call_of_thread(book, call_, lane->last() - began_, bytes_);
  if (is_message_) client::count_message_of_thread(book, receiver_, bytes_);
  client::probe.threads.release();
}

}  // namespace idlewave::mpi

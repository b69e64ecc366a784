#include "workloads/spmv/product.h"

#include <idlewave/probe.h>
#include <omp.h>

#include <algorithm>
#include <thread>

#include "workloads/distributed/patience.h"
#include "workloads/distributed/threads.h"
#include "workloads/support/pause.h"

namespace idlewave::spmv {
namespace {

using distributed::in_team;
using support::monotonic_now;
using wire::Nanoseconds;

/// Of schubert-2011, section 1.2: of each nonzero its value and column; of each row its element of x once, and that of y,
/// which is read before it is written.
constexpr std::uint64_t kOfNonzero = 8 + 4;
constexpr std::uint64_t kOfX = 8;
constexpr std::uint64_t kOfY = 16;

/// The times of one product, part by part.
class Stopwatch {
 public:
  explicit Stopwatch(std::array<double, kParts>& times) : times_(times) {}
  void lap(Part part) {
    const Nanoseconds now = monotonic_now();
    add(part, begin_, now);
    begin_ = now;
  }
  void add(Part part, Nanoseconds from, Nanoseconds to) {
    times_[static_cast<std::size_t>(part)] += std::chrono::duration<double>(to - from).count();
  }

 private:
  std::array<double, kParts>& times_;
  Nanoseconds begin_ = monotonic_now();
};

/// A thread that waits on a virtual socket has to wake up in time.
void wake_up_in_time() {
  thread_local const bool asked = (support::ask_for_prompt_wake_ups(), true);
  static_cast<void>(asked);
}

}  // namespace

Product::Phases::Phases()
    : gather(idlewave_define_phase("gather", IDLEWAVE_COMPUTE)),
      communication(idlewave_define_phase("communication", IDLEWAVE_WAIT)),
      whole(idlewave_define_phase("product", IDLEWAVE_COMPUTE)),
      local(idlewave_define_phase("local", IDLEWAVE_COMPUTE)),
      nonlocal(idlewave_define_phase("nonlocal", IDLEWAVE_COMPUTE)),
      parallel_region(idlewave_define_phase("parallel region", IDLEWAVE_COMPUTE)) {}

void Product::Progress::begin(int communicating, int workers, int all) {
  gather.expect(workers);
  communication.expect(communicating);
  local.expect(workers);
  nonlocal.expect(all);
  communication_times.assign(static_cast<std::size_t>(communicating), {});
  local_times.assign(static_cast<std::size_t>(workers), {});
}

Product::Product(const Way& way, const sparse::Rows& rows, const sparse::Halo& halo, const Manner& manner,
                 distributed::Exchange& exchange)
    : mode_(way.mode),
      manner_(manner),
      exchange_(exchange),
      reserved_(way.reserved),
      communicating_(std::max(reserved_, 1)),
      workers_(manner.threads - reserved_),
      rows_(static_cast<std::size_t>(rows.count())),
      first_(mode_ == Mode::kVector ? sparse::whole(rows, halo) : sparse::local_part(rows), workers_),
      nonlocal_(mode_ == Mode::kVector ? sparse::Crs{} : sparse::nonlocal_part(rows, halo), manner.threads) {
  exchange_.share_out(communicating_);
}

void Product::run(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times) {
  idlewave_threads(manner_.threads);
  switch (mode_) {
    case Mode::kVector: run_vector(x, y, times); break;
    case Mode::kOverlap: run_overlap(x, y, times); break;
    case Mode::kTask:
    case Mode::kReserved:
    case Mode::kMultiple: run_task(x, y, times); break;
  }
  if (manner_.seats) idlewave_domain_bytes(manner_.seats->front()->bytes_moved());
  idlewave_switch(IDLEWAVE_NONE);
}

/// What the first thread does while the others sleep.
template <class Work>
void Product::alone(Work work) {
  idlewave_threads(1);
  work();
  idlewave_threads(manner_.threads);
}

void Product::run_vector(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times) {
  Stopwatch watch(times);
  exchange_.post_receives(halo_in(x));
  gather(x);
  watch.lap(Part::kGather);
  alone([&] {
    tell_waiting();
    send();
    exchange_.wait(manner_.asleep);
  });
  watch.lap(Part::kCommunication);
  idlewave_switch(phases_.whole);
  compute(first_, false, traffic_of_whole(), x.data(), y.data());
  watch.lap(Part::kWhole);
}

void Product::run_overlap(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times) {
  Stopwatch watch(times);
  exchange_.post_receives(halo_in(x));
  gather(x);
  watch.lap(Part::kGather);
  alone([&] { send(); });
  watch.lap(Part::kCommunication);
  idlewave_switch(phases_.local);
  compute(first_, false, traffic_of_local(), x.data(), y.data());
  watch.lap(Part::kLocal);
  alone([&] {
    tell_waiting();
    exchange_.wait(manner_.asleep);
  });
  watch.lap(Part::kCommunication);
  idlewave_switch(phases_.nonlocal);
  compute(nonlocal_, true, traffic_of_nonlocal(), halo_in(x), y.data());
  watch.lap(Part::kNonlocal);
}

/// Thread 0, which called MPI_Init_thread, is among those that communicate.
void Product::with_team(const std::function<void()>& products) {
  if (!has_communicating_thread(mode_)) return products();
  orders_ = 0;
#pragma omp parallel num_threads(communicating_ + workers_)
  {
    const int thread = omp_get_thread_num();
    if (thread == 0) {
      products();
      order({});
    } else {
      serve(thread);
    }
  }
}

void Product::order(const Task& task) {
  task_ = task;
  ++orders_;
  orders_.notify_all();
}

void Product::serve(int thread) {
  for (int seen = 0;; ++seen) {
    orders_.wait(seen);
    if (!task_.goes_on) return;
    thread < communicating_ ? communicate_in_task(thread) : work_in_task(thread - communicating_);
  }
}

void Product::run_task(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times) {
  const Nanoseconds begin = monotonic_now();
  Stopwatch watch(times);
  exchange_.post_receives(halo_in(x));
  idlewave_switch(phases_.gather);
  progress_.begin(communicating_, workers_, manner_.threads);
  idlewave_threads(workers_);
  order({true, x.data(), y.data()});
  progress_.gather.await();
  watch.lap(Part::kGather);
  idlewave_switch(phases_.parallel_region);
  idlewave_traffic(traffic_of_local());
  communicate(0);
  progress_.local.await();
  if (!progress_.communication.is_done()) tell_waiting();
  progress_.communication.await();
  watch.add(Part::kCommunication, {}, std::ranges::max(progress_.communication_times));
  watch.add(Part::kLocal, {}, std::ranges::max(progress_.local_times));
  const Nanoseconds all_local = monotonic_now();
  watch.add(Part::kParallelRegion, begin, all_local);
  idlewave_switch(phases_.nonlocal);
  idlewave_traffic(traffic_of_nonlocal());
  idlewave_threads(manner_.threads);
  if (reserved_) {
    multiply_nonlocal(0);
    progress_.nonlocal.done();
  }
  progress_.nonlocal.await();
  watch.add(Part::kNonlocal, all_local, monotonic_now());
}

void Product::work_in_task(int worker) {
  const auto own = static_cast<std::size_t>(worker);
  const sparse::Range range = sparse::share_of(exchange_.to_gather(), worker, workers_);
  exchange_.gather(task_.x, range.begin, range.end);
  progress_.gather.done();
  const Nanoseconds begin = monotonic_now();
  multiply(first_.crs, first_.ranges[own], task_.x, task_.y);
  move(worker + reserved_, traffic_of_local() / std::uint64_t(workers_));
  progress_.local_times[own] = monotonic_now() - begin;
  progress_.local.done();
  end_in_task(worker + reserved_);
}

/// Of a thread that is reserved beside thread 0.
void Product::communicate_in_task(int thread) {
  exchange_.post_receives(task_.x + rows_, thread);
  progress_.gather.await();
  communicate(thread);
  end_in_task(thread);
}

void Product::communicate(int thread) {
  const Nanoseconds begin = monotonic_now();
  send(thread);
  wait_beside(thread);
  progress_.communication_times[std::size_t(thread)] = monotonic_now() - begin;
  progress_.communication.done();
}

void Product::end_in_task(int thread) {
  progress_.communication.await();
  progress_.local.await();
  multiply_nonlocal(thread);
  progress_.nonlocal.done();
}

void Product::multiply_nonlocal(int thread) {
  multiply_and_add(nonlocal_.crs, nonlocal_.ranges[std::size_t(thread)], task_.x + rows_, task_.y);
  move(thread, traffic_of_nonlocal() / std::uint64_t(manner_.threads));
}

void Product::move(int thread, std::uint64_t bytes) {
  if (!manner_.seats) return;
  wake_up_in_time();
  (*manner_.seats)[std::size_t(thread)]->move(bytes);
}

void Product::send(int thread) {
  if (manner_.message_bandwidth > 0) {
    const double bytes = double(exchange_.to_gather() * sizeof(double)) / communicating_;
    const double seconds = bytes / manner_.message_bandwidth;
    support::sleep_until(monotonic_now() + Nanoseconds(std::int64_t(seconds * 1e9)));
  }
  exchange_.post_sends({}, thread);
}

void Product::gather(const std::vector<double>& x) {
  idlewave_switch(phases_.gather);
  in_team(manner_.threads, [&](int thread) {
    const sparse::Range range = sparse::share_of(exchange_.to_gather(), thread, manner_.threads);
    exchange_.gather(x.data(), range.begin, range.end);
  });
}

void Product::tell_waiting() {
  idlewave_switch(phases_.communication);
  exchange_.tell_probe();
}

void Product::compute(const SharedCrs& part, bool add, std::uint64_t traffic, const double* x, double* y) {
  idlewave_traffic(traffic);
  in_team(manner_.threads, [&](int thread) {
    const sparse::Range& rows = part.ranges[static_cast<std::size_t>(thread)];
    add ? multiply_and_add(part.crs, rows, x, y) : multiply(part.crs, rows, x, y);
    move(thread, traffic / std::uint64_t(manner_.threads));
  });
}

/// The rank works as long as others of its threads do; then it waits.
void Product::wait_beside(int thread) {
  for (distributed::Patience patience; !progress_.local.is_done();) {
    if (exchange_.is_done(thread)) return;
    manner_.asleep ? patience.sleep() : std::this_thread::yield();
  }
  if (exchange_.is_done(thread)) return;
  if (thread == 0) tell_waiting();
  exchange_.wait(manner_.asleep, thread);
}

std::uint64_t Product::traffic_of_whole() const { return first_.crs.nonzeros() * kOfNonzero + rows_ * (kOfX + kOfY); }
std::uint64_t Product::traffic_of_local() const { return traffic_of_whole(); }
std::uint64_t Product::traffic_of_nonlocal() const { return nonlocal_.crs.nonzeros() * kOfNonzero + rows_ * kOfY; }

}  // namespace idlewave::spmv

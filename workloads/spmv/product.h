#pragma once
// Products of one rank in all modes.

#include <atomic>
#include <functional>
#include <vector>

#include "workloads/distributed/exchange.h"
#include "workloads/distributed/seat.h"
#include "workloads/sparse/kernel.h"
#include "workloads/spmv/distribute.h"
#include "workloads/spmv/figures.h"

namespace idlewave::spmv {

/// How a rank runs.
struct Manner {
  int threads = 1;      ///< That compute.
  bool asleep = false;  ///< Whether it leaves its core while it waits.
  /// Where its threads wait for as long as their traffic takes; else null.
  const distributed::Seats* seats = nullptr;
  double message_bandwidth = 0;  ///< Of what it sends; 0: what MPI takes.
};

/// A part of the matrix, shared out among threads.
struct SharedCrs {
  SharedCrs(sparse::Crs part, int threads) : crs(std::move(part)), ranges(sparse::shared_out(crs, threads)) {}
  sparse::Crs crs;
  std::vector<sparse::Range> ranges;
};

/// A matrix in the form that one mode multiplies. The thread that made it calls it; that one alone calls the probe, and
/// MPI but in mode multiple.
class Product {
 public:
  /// `exchange` has to outlive it, and is shared out as the mode wants.
  Product(const Way& way, const sparse::Rows& rows, const sparse::Halo& halo, const Manner& manner,
          distributed::Exchange& exchange);

  /// Calls run() any number of times in `products`, while the threads of modes with one that communicates are there.
  void with_team(const std::function<void()>& products);

  /// y = A x. `x`: own elements, then room for the halo. What each part took is added to `times`, in seconds.
  void run(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times);

 private:
  struct Phases {
    Phases();
    int gather, communication, whole, local, nonlocal, parallel_region;
  };
  /// Of several threads: all have done something. Whoever waits for it leaves its core, as an OpenMP barrier does not.
  class Milestone {
   public:
    void expect(int threads) { missing_ = threads; }
    void done() {
      if (--missing_ == 0) missing_.notify_all();
    }
    bool is_done() const { return missing_ == 0; }
    void await() const {
      for (int missing = missing_; missing != 0; missing = missing_) missing_.wait(missing);
    }

   private:
    std::atomic<int> missing_{0};
  };
  /// Where the threads of such a mode stand in a product.
  struct Progress {
    void begin(int communicating, int workers, int all);  ///< All multiply the nonlocal part.
    Milestone gather, communication, local, nonlocal;
    // Of each thread; read when all are through.
    std::vector<wire::Nanoseconds> communication_times, local_times;
  };
  /// What they are to do next: a product, or nothing any more.
  struct Task {
    bool goes_on = false;
    double* x = nullptr;
    double* y = nullptr;
  };

  void run_vector(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times);
  void run_overlap(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times);
  void run_task(std::vector<double>& x, std::vector<double>& y, std::array<double, kParts>& times);

  void gather(const std::vector<double>& x);
  template <class Work>
  void alone(Work work);
  void compute(const SharedCrs& part, bool add, std::uint64_t traffic, const double* x, double* y);
  void order(const Task& task);
  void serve(int thread);
  void work_in_task(int worker);
  void communicate_in_task(int thread);
  void communicate(int thread);
  void end_in_task(int thread);
  void multiply_nonlocal(int thread);
  void move(int thread, std::uint64_t bytes);
  void send(int thread = 0);
  void wait_beside(int thread);
  void tell_waiting();

  double* halo_in(std::vector<double>& x) const { return x.data() + rows_; }
  std::uint64_t traffic_of_whole() const;
  std::uint64_t traffic_of_local() const;
  std::uint64_t traffic_of_nonlocal() const;

  Mode mode_;
  Manner manner_;
  distributed::Exchange& exchange_;
  Phases phases_;
  int reserved_;       ///< Of the threads that compute, while messages are under way.
  int communicating_;  ///< Threads that call MPI, the first ones: those that are reserved, or one.
  int workers_;        ///< Those that compute and are not reserved.
  std::size_t rows_;
  SharedCrs first_;     ///< Whole or local.
  SharedCrs nonlocal_;  ///< Empty in mode vector.
  Task task_;
  Progress progress_;
  std::atomic<int> orders_{0};
};

}  // namespace idlewave::spmv

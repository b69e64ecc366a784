#pragma once
// The communication of a product of a matrix that is distributed by rows: which elements go where. Found once, as it
// depends on the matrix alone.

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "probe/wire/vocabulary.h"
#include "workloads/ranks/place.h"
#include "workloads/sparse/halo.h"

namespace idlewave::distributed {

/// One rank's messages. The thread that calls MPI uses all of it; gather() may be called by several at once. Where threads
/// share it out, each of them calls what takes its number, at the same time as others (MPI_THREAD_MULTIPLE).
class Exchange {
 public:
  /// Tells other ranks which of their elements are needed here, each of which is `width` numbers that stand together.
  /// `pattern`: the probe's number of these partners. Collective.
  Exchange(const sparse::Halo& halo, const sparse::Bounds& bounds, const ranks::Group& ranks, int pattern, int width);

  /// From now on so many threads have a share of every message each. By all ranks alike, between products.
  void share_out(int threads) { requests_.resize(std::size_t(threads)); }

  // A product, in this order.
  void post_receives(double* halo, int thread = 0);                    ///< Room for the elements of the halo.
  void gather(const double* own, std::size_t begin, std::size_t end);  ///< Of the to_gather() elements that are sent.
  /// `done`: since when this rank could have sent them. Goes with the messages where they tell times.
  void post_sends(wire::Nanoseconds done = {}, int thread = 0);
  void tell_probe() const;  ///< Whom the next wait depends on.
  void wait(bool asleep, int thread = 0);
  bool is_done(int thread = 0);  ///< Looks whether wait() would return at once.

  /// From now on each message says when its sender was done. Those who look at one clock: the ranks of one node. By all.
  void tell_times() { told_.emplace(sources_.size()); }
  /// After wait(): the last of these moments; 0 where they are not told, or nothing came.
  wire::Nanoseconds last_done() const;

  std::size_t to_gather() const { return sent_elements_.size(); }

 private:
  struct Target {
    int rank = 0;
    std::size_t first = 0;  ///< In the buffer.
    int count = 0;
  };

  /// What a thread has of a message.
  struct Share {
    std::ptrdiff_t begin = 0;  ///< In numbers, of the message.
    int count = 0;             ///< Of them; of a short message some threads have none.
  };
  Share share_of(int elements, int thread) const;
  void ask_owners(const sparse::Halo& halo, const sparse::Bounds& bounds);

  ranks::Group ranks_;
  int pattern_;
  int width_;
  std::vector<sparse::Halo::Source> sources_;
  std::vector<Target> targets_;
  std::vector<std::int32_t> sent_elements_;  ///< Own elements in the order of the buffer.
  std::vector<double> buffer_;
  std::vector<std::vector<MPI_Request>> requests_{1};   ///< By thread.
  std::optional<std::vector<wire::Nanoseconds>> told_;  ///< By source.
  wire::Nanoseconds own_done_{};
  std::vector<int> from_;
  std::vector<int> to_;
};

}  // namespace idlewave::distributed

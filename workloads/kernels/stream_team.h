#pragma once
// Threads that stream through the memory of one domain at the same time: its bandwidth over their number.

#include <functional>
#include <memory>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/kernels/stream.h"
#include "workloads/support/huge_pages.h"

namespace idlewave::kernels {

/// Arrays that all threads share out among them, however many they are (strong scaling, as in afzal-2020, Fig. 3a), in
/// memory that threads on the domain's processors have touched first. One thread calls it.
class StreamTeam {
 public:
  /// `processors`: the system's numbers, one for each thread, all of one domain. Arrays of `elements` doubles each, of
  /// which there are `arrays`: 3, or 4 where kSlowTriad is asked for. Error: one line; there is no memory, or a thread
  /// can't be bound.
  static wire::Result<StreamTeam> create(std::vector<int> processors, std::size_t elements, std::size_t arrays);

  /// Bytes per second of the first `threads` processors together, by bytes_per_iteration(); each counts what it moved
  /// until the same moment, about `time` after all of them have begun. Goes on where it stopped the time before.
  wire::Result<double> bandwidth(StreamKind kind, int threads, wire::Nanoseconds time);

 private:
  struct Free {
    std::size_t bytes = 0;
    void operator()(double* memory) const { support::free_huge(memory, bytes); }
  };
  using Array = std::unique_ptr<double[], Free>;

  StreamTeam(std::vector<int> processors, std::size_t elements)
      : processors_(std::move(processors)), elements_(elements), positions_(processors_.size()) {}

  wire::Status touch();
  void run(StreamKind kind, std::size_t begin, std::size_t length);

  std::vector<int> processors_;
  std::size_t elements_;
  std::vector<Array> arrays_;
  std::vector<std::size_t> positions_;  ///< Of each thread, in its share.
};

}  // namespace idlewave::kernels

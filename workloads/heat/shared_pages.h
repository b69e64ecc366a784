#pragma once
// Distributed virtual shared memory, as Cluster OpenMP has it (rabenseifner-2007, slides "Consistency Protocol"): each
// process sees all of the memory, what others have changed is seen after a barrier, and then a page is fetched when it is
// first touched.

#include <mpi.h>

#include <cstdlib>
#include <memory>

#include "workloads/heat/page_table.h"
#include "workloads/heat/traffic.h"
#include "workloads/ranks/place.h"

namespace idlewave::heat {

/// One process's view. Pages have their homes on the processes in equal parts; the others work on copies and put what
/// they have changed where it belongs at the barrier. Where the lecture's system takes a fault of the processor for the
/// first touch, here the program says what it is about to touch. The thread that calls MPI uses it.
class SharedPages {
 public:
  /// All zero. Collective, as is the end.
  SharedPages(std::size_t doubles, const ranks::Group& ranks);
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  double* data() { return memory_.get(); }

  void will_read(const Span& part);
  void will_write(const Span& part);  ///< No two processes the same double between two barriers.
  void barrier();                     ///< Collective.

  const Traffic& traffic() const { return traffic_; }

 private:
  struct Free {
    void operator()(double* memory) const { std::free(memory); }
  };

  static Span home_of(std::size_t doubles, const ranks::Group& ranks);
  int owner_of(std::size_t page) const { return int(page / pages_of_home_); }
  MPI_Aint place_at_home(std::size_t at) const;
  void fetch(std::size_t page);
  void put_changes(std::size_t page);

  ranks::Group ranks_;
  std::size_t pages_of_home_;
  std::unique_ptr<double[], Free> memory_;
  PageTable table_;
  MPI_Win window_ = MPI_WIN_NULL;  ///< Null where there is one process.
  Traffic traffic_;
};

}  // namespace idlewave::heat

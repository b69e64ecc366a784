#pragma once
// The plate's rows as one process has them, and how it comes by those of others.

#include <memory>

#include "workloads/heat/options.h"
#include "workloads/heat/traffic.h"
#include "workloads/ranks/place.h"

namespace idlewave::heat {

/// Rows [first, end) inside the walls.
struct Rows {
  int first = 0;
  int end = 0;
};
Rows rows_of(const Square& square, const ranks::Group& ranks);

/// The thread that calls MPI calls all but now() and next(), whose rows threads may share out.
class Storage {
 public:
  virtual ~Storage() = default;

  virtual double* now(int row) = 0;   ///< Own rows, and those on either side of them.
  virtual double* next(int row) = 0;  ///< Own rows.

  virtual void
  begin_step() = 0;             ///< What others have of the rows that are needed is here, and own ones may be written.
  virtual void end_step() = 0;  ///< What is next is now. Collective.
  virtual void begin_look() = 0;  ///< Own rows may be read.

  virtual Traffic traffic() const = 0;
};

/// Collective, as are the calls.
std::unique_ptr<Storage> make_storage(Memory memory, const Square& square, const ranks::Group& ranks, bool asleep);

}  // namespace idlewave::heat

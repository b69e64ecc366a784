#pragma once
// How the ranks of a group come to share what one of them makes.

#include <unistd.h>

#include <array>

#include "probe/wire/result.h"
#include "workloads/ranks/place.h"

namespace idlewave::ranks {

/// The group's first rank makes a `Shared`, the others open it; Shared has create, open(owner, descriptor, ...) and
/// descriptor(). `size` goes to create alone, `arguments` to both. Collective over the group; the Error is on the ranks
/// that failed only.
template <class Shared, class... Arguments>
wire::Result<Shared> share(const Group& group, int size, const Arguments&... arguments) {
  constexpr int kNone = -1;
  std::array<int, 2> owner_and_descriptor{getpid(), kNone};
  const auto announce = [&] {
    MPI_Bcast(owner_and_descriptor.data(), owner_and_descriptor.size(), MPI_INT, 0, group.ranks);
  };
  if (group.rank == 0) {
    auto made = Shared::create(size, arguments...);
    if (made) owner_and_descriptor[1] = made->descriptor();
    announce();
    return made;
  }
  announce();
  const auto [owner, descriptor] = owner_and_descriptor;
  if (descriptor == kNone)
    return wire::Error{"the first rank of this node could not make the memory that its ranks share"};
  return Shared::open(owner, descriptor, arguments...);
}

}  // namespace idlewave::ranks

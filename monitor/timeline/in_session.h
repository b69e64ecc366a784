#pragma once

#include <ranges>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// Takes a record from lane time to session time.
struct ToSession {
  wire::Nanoseconds correction{};
  template <class Record>
  Record operator()(const Record& stored) const {
    return stored.in_session(correction);
  }
};

/// Records that are stored in lane time, read in session time: a view whose elements are values. Of random access; for
/// a search it takes each record that it looks at from the one time to the other. Valid until the store is changed.
template <class Store>
using InSession = std::ranges::transform_view<std::ranges::ref_view<const Store>, ToSession>;

template <class Store>
InSession<Store> in_session(const Store& store, wire::Nanoseconds correction) {
  return {std::ranges::ref_view<const Store>(store), ToSession{correction}};
}

}  // namespace idlewave::timeline

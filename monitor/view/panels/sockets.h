#pragma once
// A contention domain with what is known of its activity, and what all forms of the sockets' panel draw of it.

#include <string>
#include <vector>

#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"

namespace idlewave::view::panels {

/// A unit of bandwidth.
struct RateUnit {
  double size = 1;  ///< Bytes per second.
  const char* name = "";
};

/// Borrowed from a model.
struct Socket {
  const timeline::Timeline& timeline;
  int index;
  const timeline::Domain& domain;
  const analysis::domains::DomainActivity& activity;
  std::string name() const { return timeline.name_of_domain(index); }
  int ranks() const { return static_cast<int>(domain.ranks.size()); }
  bool measured() const { return activity.source != wire::BandwidthSource::kNone; }
  RateUnit unit()
      const;  ///< Of what is measured: that in which the saturated bandwidth, where it is known, is 1 or more.
  std::string bandwidth() const;  ///< In that unit, without it; "?" where it is not known.
  std::string power() const;      ///< Of the first of its meters that tells it, with its unit; empty without one.
};

Socket socket(const Model& model, int index);
int sockets_of(const Model& model);

/// The active processes of all domains in at most `columns` columns; figures whole or not at all. Empty if not even the
/// shortest fits.
std::string active_in_words(const Model& model, int columns);

struct Bar {
  double value = 0;
  double full = 1;
  double mark = 0;  ///< 0: none.
  paint::Ink ink = paint::Ink::kActive;
};

/// Takes `columns` columns, frame included. Returns the next x.
int draw_bar(paint::Canvas& canvas, int x, int y, int columns, const Bar& bar);

}  // namespace idlewave::view::panels

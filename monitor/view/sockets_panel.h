#pragma once
// How many processes compute on each contention domain, against how many its memory can feed.

#include <string>

#include "monitor/view/panel.h"

namespace idlewave::view {

Panel sockets_panel();

/// The active processes of all domains in at most `columns` columns; figures whole or not at all. Empty if not even the
/// shortest fits.
std::string active_in_words(const Model& model, int columns);

}  // namespace idlewave::view

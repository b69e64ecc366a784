#pragma once
// What iw-orthogonal prints.

#include <string>

#include "workloads/internode/orthogonal.h"

namespace idlewave::internode {

std::string tables(const OrthogonalOptions& options, const Figures& figures);  ///< Lines that end.

std::string json(const OrthogonalOptions& options, const Figures& figures);

}  // namespace idlewave::internode

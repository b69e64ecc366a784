#pragma once

#include <cstdint>

namespace idlewave::mpi {

/// Whose handles they are, and whose places in arrays: from 0 in C, from 1 in Fortran.
enum class Language : std::uint8_t { kC, kFortran };

}  // namespace idlewave::mpi

#pragma once
// A process may hold this client twice: the program's own, from libidlewave-probe, and that of the library which is
// loaded ahead of programs that know nothing of us. The program's own one reports, and the other stands back.

#include <cstdint>

namespace idlewave::client {

/// Of the ELF note that libidlewave-probe carries, so that the other one sees it in whatever is linked with it.
inline constexpr char kNoteName[] = "idlewave";
inline constexpr std::uint32_t kNoteType = 1;

/// Called before the program's own client joins: the other one, if it is there and already reports because nothing of
/// ours had been loaded when MPI began, ends its reports. Each of the two libraries has its own.
void take_precedence();

}  // namespace idlewave::client

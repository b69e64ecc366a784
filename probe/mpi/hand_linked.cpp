#include "probe/mpi/hand_linked.h"

#include <link.h>
#include <string.h>

#include <cstddef>

#include "probe/client/precedence.h"

namespace idlewave::mpi {
namespace {

std::size_t padded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

bool is_our_note(const ElfW(Nhdr) & header, const char* name) {
  return header.n_type == client::kNoteType && header.n_namesz == sizeof client::kNoteName &&
         memcmp(name, client::kNoteName, sizeof client::kNoteName) == 0;
}

/// The notes of one segment.
bool holds_our_note(const char* at, std::size_t bytes) {
  const char* const end = at + bytes;
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    memcpy(&header, at, sizeof header);
    const std::size_t size = sizeof header + padded(header.n_namesz) + padded(header.n_descsz);
    if (size > static_cast<std::size_t>(end - at)) return false;
    if (is_our_note(header, at + sizeof header)) return true;
    at += size;
  }
  return false;
}

/// The segments that are aligned to 8 hold what the linker writes for itself.
int look_at_object(dl_phdr_info* object, std::size_t, void*) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE || segment.p_align > 4) continue;
    if (holds_our_note(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz)) return 1;
  }
  return 0;
}

}  // namespace

bool is_hand_linked() { return dl_iterate_phdr(look_at_object, nullptr) != 0; }

}  // namespace idlewave::mpi

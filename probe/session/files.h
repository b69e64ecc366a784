#pragma once
// What the files of a session's folder are read, written and locked with. For the files of this folder that know such
// files; the C library only, as directory.h has it.

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstddef>

#include "probe/session/descriptor.h"

namespace idlewave::session {

/// False if it does not fit.
template <std::size_t size, class... Values>
bool print_to(char (&out)[size], const char* format, Values... values) {
  const int length = snprintf(out, size, format, values...);
  return length >= 0 && static_cast<std::size_t>(length) < size;
}

/// Reads a small file whole, with a NUL after it. False if it can't be read or does not fit.
bool read_small_file(const char* path, char* out, std::size_t size);

template <std::size_t size>
bool read_small_file(const char* path, char (&out)[size]) {
  return read_small_file(path, out, size);
}

bool write_all(int fd, const char* text, std::size_t size);

/// A folder of ours that nobody else can write.
bool is_private_folder(const char* path);
bool make_private_folder(
    const char* path);            ///< Unless there is one already. False: errno says why, if nothing is there.
bool is_there(const char* path);  ///< Anything of that name.

/// Takes the lock of a file, which is made if missing, and does not wait. Returns a descriptor whose close() frees it,
/// or -1, and errno says why: EWOULDBLOCK where somebody else has it.
int try_lock(const char* path, int how = LOCK_EX);

/// On a Unix socket; true where that can't be told.
bool somebody_listens(const char* path);

/// Who connected over this Unix socket, whatever the permissions of the folder have become.
bool is_of_our_user(int socket);

/// Calls visit(name) for each entry of a folder but "." and ".."; stops when it returns false.
template <class Visit>
void for_each_entry(const char* folder, Visit visit) {
  DIR* entries = opendir(folder);
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (!is_dots && !visit(entry->d_name)) break;
  }
  closedir(entries);
}

}  // namespace idlewave::session

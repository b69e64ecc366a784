#pragma once
// What not every C library has, or has under another name. The program may have another C library than the one we were
// built with (a script under `run` may start programs linked with musl), and would not start if that lacked one function.

#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>

#ifdef __GLIBC__

extern "C" {
[[gnu::weak]] int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t*, int) noexcept;
[[gnu::weak]] const char* strerrordesc_np(int) noexcept;
// pthread_atfork is a part of each object that is linked with glibc, which calls this one.
[[gnu::weak]] int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept;
extern void* __dso_handle __attribute__((visibility("hidden")));
}

namespace idlewave::client {

/// False where files can't all be closed, or there is no memory.
inline bool close_from(posix_spawn_file_actions_t& files, int first) {
  return &posix_spawn_file_actions_addclosefrom_np != nullptr &&
         posix_spawn_file_actions_addclosefrom_np(&files, first) == 0;
}

/// "No such file or directory"; in any thread.
inline const char* description_of(int error) {
  return &strerrordesc_np != nullptr ? strerrordesc_np(error) : "it is not known why";
}

inline void in_forked_children(void (*handler)()) {
  if (&__register_atfork != nullptr)
    return static_cast<void>(__register_atfork(nullptr, nullptr, handler, __dso_handle));
  using Register = int(void (*)(), void (*)(), void (*)());
  if (auto* const other = reinterpret_cast<Register*>(dlsym(RTLD_DEFAULT, "pthread_atfork")))
    other(nullptr, nullptr, handler);
}

}  // namespace idlewave::client

#else

namespace idlewave::client {

inline bool close_from(posix_spawn_file_actions_t&, int) { return false; }
inline const char* description_of(int) { return "it is not known why"; }
inline void in_forked_children(void (*handler)()) { pthread_atfork(nullptr, nullptr, handler); }

}  // namespace idlewave::client

#endif

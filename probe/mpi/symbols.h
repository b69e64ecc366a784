#pragma once
// Functions and constants of the program's MPI, found by name while it runs.

namespace idlewave::mpi {

/// Where the linker would have gone on from us: the next object in its order that has `name`; where the MPI library was
/// loaded for one part of the program alone, as Python does, what the object of `caller` (an address inside it) sees, or
/// the library that was found before. Null: none of them has it. Takes the linker's lock; for the first call of each
/// function.
void* find_next(const char* name, const void* caller);

/// The first of two names of a function that there is, as find_next.
template <class Function>
Function* find_either(const char* name, const char* other, const void* caller) {
  void* found = find_next(name, caller);
  if (found == nullptr) found = find_next(other, caller);
  return reinterpret_cast<Function*>(found);
}

/// In whatever object of the process has it or was linked with it: a call that ends a function goes back to who called
/// that, who may know nothing of MPI. Null: nobody has it. For what the program could not go on without.
void* find_anywhere(const char* name);

/// What the linker shows to all objects, as RTLD_DEFAULT, which would keep the object where a name is found loaded for as
/// long as ours is. Opened once for many names: the thread sanitizer's library reads the whole map of the process again
/// whenever something is opened or closed.
class NamesForAll {
 public:
  NamesForAll();
  ~NamesForAll();
  NamesForAll(const NamesForAll&) = delete;
  NamesForAll& operator=(const NamesForAll&) = delete;

  void* find(const char* name) const;  ///< Null: nobody has it.
  /// Whether who calls that function comes to us: not where the program has one of its own.
  bool come_to_us(const char* name) const;

 private:
  void* program_;
};

/// Whether an address lies in an object that has the MPI library's functions, for C or for Fortran. Takes the linker's
/// lock.
bool is_in_library(const void* address);

/// A variable of the MPI library as the program sees it, which may hold a copy of its own.
void* find_variable(const char* name, const void* caller);

}  // namespace idlewave::mpi

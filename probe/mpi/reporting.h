#pragma once
// Since when and until when the rank is shown: between MPI_Init and MPI_Finalize, and while there are MPI sessions.

#include "probe/mpi/language.h"
#include "probe/mpi/roles.h"

namespace idlewave::mpi {

/// MPI_Init has returned to `caller`: joins the session, if there is one and nobody else reports for this process.
[[gnu::cold]] void begin(const void* caller);
/// Before MPI_Finalize. Goes on while the program has MPI sessions.
[[gnu::cold]] void end();

/// The program has neither begun MPI nor an MPI session.
[[gnu::cold]] bool is_without_mpi(const void* caller);
/// MPI_Session_init has returned to `caller`, and left the handle there. As begin(), where nothing has begun.
[[gnu::cold]] void begin_mpi_session(const void* handle, Language language, const void* caller);
/// While MPI_Session_finalize of the handle that stands there goes on. With the last one the rank has nothing more to show,
/// unless MPI_Init was called as well; another one may follow.
class EndOfMpiSession {
 public:
  [[gnu::cold]] EndOfMpiSession(const void* handle, Language language, const void* caller);
  [[gnu::cold]] ~EndOfMpiSession();
  EndOfMpiSession(const EndOfMpiSession&) = delete;
  EndOfMpiSession& operator=(const EndOfMpiSession&) = delete;

 private:
  const void* handle_;
  int before_ = 0;    ///< The first word of what stood there, which becomes another when the session is over.
  Word session_ = 0;  ///< 0: none that is known.
};

}  // namespace idlewave::mpi

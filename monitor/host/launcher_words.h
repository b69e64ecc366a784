#pragma once
// Which launcher a command begins with, and where its own words end and the program begins.

#include <cstddef>
#include <string>
#include <vector>

namespace idlewave::host {

/// What the user says of the launcher.
enum class MpiChoice { kAuto, kOpenMpi, kMpich };

enum class LauncherKind { kOpenMpi, kMpich, kSlurm, kOther };

/// By the program that the name leads to, links followed (mpirun is orterun in Open MPI, mpiexec.hydra in MPICH); where it is
/// called mpirun or mpiexec and no more, by what lies beside it.
LauncherKind launcher_kind(const std::string& launcher, MpiChoice choice);

/// The flags of a launcher that begin at `from` end here: what follows, from the first word on that is a program and no
/// flag's value, is not ours to read. Of a command that is no launcher's only the first words are looked at.
std::size_t end_of_flags(const std::vector<std::string>& command, std::size_t from, LauncherKind kind);

/// What stands between commas; where nothing does, that is left out.
std::vector<std::string> parts_of(const std::string& list);

/// "mpirun -n 4 ./a.out --x" is best named after its program: the first word that is no launcher's and can be run, else
/// the launcher.
std::string program_label(const std::vector<std::string>& command, LauncherKind kind);

}  // namespace idlewave::host

#pragma once
// Words of the command line of `run`.

#include <string>
#include <string_view>

#include "probe/wire/result.h"

namespace idlewave::cli {

/// An MPI function that may wait, as in MPI_Allreduce. Error: names the one that was probably meant.
wire::Result<std::string> waiting_call(std::string_view word);

/// A name that a group of LIKWID may have; which there are is known on the nodes alone.
wire::Result<std::string> likwid_group(std::string_view word);

/// Of a machine file, as words::DomainCurve, short enough for any launcher. Error: the file, the place, what is wrong.
wire::Result<std::string> domain_curve_of(std::string_view path);

}  // namespace idlewave::cli

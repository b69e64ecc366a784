#include "probe/mpi/calls.h"

namespace idlewave::mpi {
namespace {

constexpr CallInfo kCalls[] = {
#include "probe/mpi/call_names.inc"
};

}  // namespace

std::span<const CallInfo> calls() { return kCalls; }

}  // namespace idlewave::mpi

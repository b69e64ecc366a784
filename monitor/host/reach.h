#pragma once
// Where agents on other nodes find a session that listens over tcp.

#include <string>
#include <vector>

namespace idlewave::host {

/// `bound` as other machines write it: the wildcard address becomes the one of this machine from which the way leads to
/// one of `peers` or, in a cluster of Slurm's, to its controller. Where no way is known, that of the machine's name if
/// that is not a loopback address, else that of its first interface that is up; alone, the machine is reached by itself.
std::string reachable_endpoint(const std::string& bound, std::vector<std::string> peers = {});

}  // namespace idlewave::host

#pragma once
// Loops that stream through memory.
//
// Bytes per iteration count what crosses the memory interface: 8 B for each array that is read, 8 B for each that is
// written, and 8 B more for the write-allocate, by which an ordinary store first reads the line that it is about to
// overwrite; a non-temporal store does not (Treibig, Hager: "Introducing a performance model for bandwidth-limited loop
// kernels", PPAM 2009).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/support/scenario.h"

namespace idlewave::kernels {

enum class StreamKind {
  kTriad,      ///< A = B + s C, the STREAM triad; 32 B.
  kTriadNt,    ///< The same with non-temporal stores; 24 B.
  kSlowTriad,  ///< A = B + cos(C / D), which saturates later (afzal-2020, section 4.2); 40 B.
};

/// The kernel of scenarios that runs it; nothing where a kernel is no such loop.
support::Kernel kernel_of(StreamKind kind);
std::optional<StreamKind> stream_of(support::Kernel kernel);

std::size_t bytes_per_iteration(StreamKind kind);

/// Bytes of memory that a Stream of so many elements takes.
std::size_t memory_of(StreamKind kind, std::size_t elements);

/// The factor s of a triad.
inline constexpr double kScale = 3.0;

/// The loops themselves. All spans have the length of `a`.
void triad(std::span<double> a, std::span<const double> b, std::span<const double> c, double s);
void slow_triad(std::span<double> a, std::span<const double> b, std::span<const double> c, std::span<const double> d);

/// Where the processor has no non-temporal stores this is triad(), and `kHasNonTemporalStores` says so.
void triad_nt(std::span<double> a, std::span<const double> b, std::span<const double> c, double s);
extern const bool kHasNonTemporalStores;

/// The arrays of one rank. Each run goes on where the one before stopped and begins anew at the end, so that a short
/// run does not find its data in a cache. The thread that makes it touches the memory first.
class Stream {
 public:
  Stream(StreamKind kind, std::size_t elements);

  /// Moves as many bytes as whole iterations allow.
  void move(std::uint64_t bytes);

 private:
  void run(std::size_t begin, std::size_t end);

  StreamKind kind_;
  std::vector<double> a_, b_, c_, d_;
  std::size_t position_ = 0;
};

}  // namespace idlewave::kernels

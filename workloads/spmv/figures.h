#pragma once
// What is measured of products, and what follows from it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/spmv/options.h"

namespace idlewave::spmv {

/// Contributions to the time of a product; schubert-2011, Fig. 5.
enum class Part {
  kGather,          ///< Elements that others need are copied into send buffers.
  kCommunication,   ///< Sends are posted, and all messages waited for.
  kWhole,           ///< The product with all elements; ca.
  kLocal,           ///< With own elements; lc.
  kNonlocal,        ///< With those of others; nl.
  kParallelRegion,  ///< Mode task: gather, and then communication beside the local part; pr.
};
inline constexpr std::size_t kParts = std::size_t(Part::kParallelRegion) + 1;
std::string_view name_of(Part part);

/// Those that make up the time of a product, in their order. Of kParallelRegion the parts inside are known as well.
std::vector<Part> parts_of(Mode mode);
std::vector<Part> parts_inside(Mode mode);

/// One process. Seconds are of one product, on average over all.
struct RankFigures {
  std::array<double, kParts> seconds{};
  double product = 0;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t local = 0;     ///< Of them with own elements.
  std::int64_t received = 0;  ///< Bytes of others' elements in a product.
  std::int64_t sources = 0;   ///< From so many ranks.
  std::int64_t wrong = 0;     ///< Elements of the results that were looked at and were not what they should be.

  double part(Part which) const { return seconds[static_cast<std::size_t>(which)]; }
};

/// A mode on a number of processes, with a number of reserved threads.
struct Run {
  Way way;
  std::vector<RankFigures> ranks;
  std::string matrix;
  double form = 0;                        ///< x1 A x0, of both vectors that are multiplied in turn.
  std::optional<double> symmetry_error;   ///< |x1 A x0 - x0 A x1| / |x1| |A| |x0|, if A is symmetric.
  std::optional<double> triad_bandwidth;  ///< Bytes per second of all processes together.
};

std::int64_t rows_of(const Run& run);
std::int64_t nonzeros_of(const Run& run);
std::int64_t wrong_in(const Run& run);

/// Of a product on all processes: that of the slowest.
double product_time(const Run& run);
double performance(const Run& run);  ///< Flop per second: two for each nonzero.

/// Flop per second if communication took no time: of each process with the time in which it computed, summed up.
double compute_performance(const Run& run);

/// Eq. 1, or 2 for a product in two parts, with kappa 0: bytes per flop.
double code_balance(const Run& run);

/// By eq. 1 or 2, of compute_performance and the triad's bandwidth: bytes per nonzero by which elements of the vector are
/// loaded again, if the memory was the limit and at most otherwise. Nothing if the triad was not measured, or was slower:
/// then the product came from caches.
std::optional<double> kappa_limit(const Run& run);

/// How many times as fast as masteronly, which is kVector, a product with reserved threads is, and should be by
/// rabenseifner-2007; nothing of another mode, and where masteronly was not measured of that matrix, on as
/// many processes.
struct Ratio {
  double measured = 0;
  double theory = 0;
};
std::optional<Ratio> ratio_of(const Run& run, const std::vector<Run>& runs, int threads);

/// Over all processes, by linear interpolation between them.
double percentile(std::vector<double> values, double percent);

}  // namespace idlewave::spmv

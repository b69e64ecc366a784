#include "workloads/spmv/distribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "workloads/ranks/agreement.h"
#include "workloads/sparse/banded.h"
#include "workloads/sparse/matrix_market.h"
#include "workloads/sparse/poisson.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::spmv {
namespace {

using ranks::Group;
using sparse::Bounds;
using sparse::Index;
using sparse::Rows;
using sparse::Triplet;
using wire::Error;
using wire::ok;
using wire::Result;
using wire::Status;

template <class T>
Status status_of(const Result<T>& result) {
  return result ? ok() : Status{result.error()};
}

/// Before anything is allocated: what the rows and the products of this node's ranks take, if ranks have equally much.
Status check_memory(Kind kind, double rows, double nonzeros, const Group& ranks, const Group& node) {
  constexpr double kVectors = 4, kStarts = 4;  // two of either; of the rows, of both parts, and what grows
  const double of_nonzero = 2 * sizeof(sparse::Entry) + 8 + 4 + (kind == Kind::kFile ? 4 * sizeof(Triplet) : 0);
  const double of_row = 8 * (kVectors + kStarts) + 4;
  const double share = double(node.size) / ranks.size;
  const double bytes = std::min((rows * of_row + nonzeros * of_nonzero) * share, 9e18);
  return support::check_memory(static_cast<std::size_t>(bytes), "give a smaller matrix, or start it on more nodes",
                               node.size);
}

/// By a thousand rows all over it.
double estimated_nonzeros(const sparse::Matrix& matrix) {
  constexpr Index kMost = 1000;
  const Index some = std::min(matrix.rows, kMost);
  std::vector<sparse::Entry> entries;
  for (Index number = 0; number < some; ++number) matrix.append_row(number * 1'000'003 % matrix.rows, entries);
  return double(entries.size()) / double(some) * double(matrix.rows);
}

/// The bounds of all, from how many entries the rows of each rank's slice have. Collective.
Bounds balanced(Index first, const std::vector<std::uint32_t>& entries, const Group& ranks) {
  std::int64_t own = std::accumulate(entries.begin(), entries.end(), std::int64_t{0});
  std::int64_t up_to = 0, total = 0;
  MPI_Scan(&own, &up_to, 1, MPI_INT64_T, MPI_SUM, ranks.ranks);
  MPI_Allreduce(&own, &total, 1, MPI_INT64_T, MPI_SUM, ranks.ranks);
  Bounds bounds = sparse::bounds_by_entries({first, entries, up_to - own}, total, ranks.size);
  MPI_Allreduce(MPI_IN_PLACE, bounds.data(), static_cast<int>(bounds.size()), MPI_INT64_T, MPI_MAX, ranks.ranks);
  return bounds;
}

Bounds bounds_of(const sparse::Matrix& matrix, Distribution distribution, const Group& ranks) {
  const Bounds slices = sparse::bounds_by_rows(matrix.rows, ranks.size);
  if (distribution == Distribution::kRows) return slices;
  const auto own = static_cast<std::size_t>(ranks.rank);
  std::vector<std::uint32_t> counts;
  std::vector<sparse::Entry> entries;
  for (Index row = slices[own]; row < slices[own + 1]; ++row) {
    entries.clear();
    matrix.append_row(row, entries);
    counts.push_back(static_cast<std::uint32_t>(entries.size()));
  }
  return balanced(slices[own], counts, ranks);
}

Result<sparse::Matrix> generator(const Matrix& matrix) {
  switch (matrix.kind) {
    case Kind::kPoisson: return sparse::poisson(matrix.rows);
    case Kind::kBanded: return sparse::banded(matrix.rows);
    case Kind::kHmep:
    case Kind::kHmEp:
    case Kind::kFile: break;
  }
  return sparse::holstein_hubbard(matrix.model);
}

std::optional<Distributed> generate(const Matrix& what, Distribution distribution, const Group& ranks,
                                    const Group& node) {
  const auto matrix = generator(what);
  auto fits = status_of(matrix);
  if (fits) fits = check_memory(what.kind, double(matrix->rows), estimated_nonzeros(*matrix), ranks, node);
  if (!ranks::all_succeeded(ranks.ranks, fits)) return std::nullopt;
  Bounds bounds = bounds_of(*matrix, distribution, ranks);
  const auto own = static_cast<std::size_t>(ranks.rank);
  Rows rows = rows_of(*matrix, bounds[own], bounds[own + 1]);
  return Distributed{std::move(bounds), std::move(rows), matrix->symmetric};
}

/// Where each rank's part of a buffer begins, and how long it is.
struct Counts {
  std::vector<int> counts;
  std::vector<int> begins;
  std::int64_t total = 0;

  void settle() {
    for (const int count : counts) {
      begins.push_back(static_cast<int>(std::min<std::int64_t>(total, std::numeric_limits<int>::max())));
      total += count;
    }
  }
};

/// Each triplet goes to the rank that has its row. Collective.
std::optional<std::vector<Triplet>> sent_home(std::vector<Triplet> triplets, const Bounds& bounds, const Group& ranks) {
  const auto size = static_cast<std::size_t>(ranks.size);
  std::ranges::sort(triplets, {}, &Triplet::row);
  Counts sent{std::vector<int>(size), {}}, received{std::vector<int>(size), {}};
  for (const Triplet& triplet : triplets) ++sent.counts[std::size_t(sparse::part_with(bounds, triplet.row))];
  MPI_Alltoall(sent.counts.data(), 1, MPI_INT, received.counts.data(), 1, MPI_INT, ranks.ranks);
  sent.settle();
  received.settle();
  const bool too_many = std::max(sent.total, received.total) > std::numeric_limits<int>::max();
  const Status fits = too_many ? Status{Error{"a rank has more than 2147483647 entries; start more ranks"}} : ok();
  if (!ranks::all_succeeded(ranks.ranks, fits)) return std::nullopt;
  std::vector<Triplet> home(static_cast<std::size_t>(received.total));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Triplet), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Alltoallv(triplets.data(), sent.counts.data(), sent.begins.data(), type, home.data(), received.counts.data(),
                received.begins.data(), type, ranks.ranks);
  MPI_Type_free(&type);
  return home;
}

/// What this rank reads of the file, if all parts can be read and together have what the header promises.
std::optional<std::vector<Triplet>> read_part(const sparse::MarketHeader& header, const Group& ranks) {
  auto part = read_market_part(header, ranks.rank, ranks.size);
  if (!ranks::all_succeeded(ranks.ranks, status_of(part))) return std::nullopt;
  MPI_Allreduce(MPI_IN_PLACE, &part->lines, 1, MPI_INT64_T, MPI_SUM, ranks.ranks);
  if (!ranks::all_succeeded(ranks.ranks, check_lines(header, part->lines))) return std::nullopt;
  return std::move(part->triplets);
}

/// First to slices of equally many rows, which tell how many entries each row has.
std::optional<Distributed> read(const Matrix& what, Distribution distribution, const Group& ranks, const Group& node) {
  const auto header = sparse::read_market_header(what.file);
  auto fits = status_of(header);
  if (fits)
    fits = check_memory(what.kind, double(header->rows), (header->symmetric ? 2.0 : 1.0) * double(header->entries),
                        ranks, node);
  if (!ranks::all_succeeded(ranks.ranks, fits)) return std::nullopt;
  auto triplets = read_part(*header, ranks);
  if (!triplets) return std::nullopt;
  Bounds bounds = sparse::bounds_by_rows(header->rows, ranks.size);
  auto home = sent_home(std::move(*triplets), bounds, ranks);
  if (home && distribution == Distribution::kNonzeros) {
    const auto own = static_cast<std::size_t>(ranks.rank);
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(bounds[own + 1] - bounds[own]));
    for (const Triplet& triplet : *home) ++counts[static_cast<std::size_t>(triplet.row - bounds[own])];
    bounds = balanced(bounds[own], counts, ranks);
    home = sent_home(std::move(*home), bounds, ranks);
  }
  if (!home) return std::nullopt;
  const auto own = static_cast<std::size_t>(ranks.rank);
  Rows rows = sparse::rows_of(std::move(*home), bounds[own], bounds[own + 1]);
  return Distributed{std::move(bounds), std::move(rows), header->symmetric};
}

}  // namespace

std::optional<Distributed> distribute(const Matrix& matrix, Distribution distribution, const Group& ranks,
                                      const Group& node) {
  return matrix.kind == Kind::kFile ? read(matrix, distribution, ranks, node)
                                    : generate(matrix, distribution, ranks, node);
}

}  // namespace idlewave::spmv

// A matrix as a MatrixMarket file, read as a whole and in parts, which have to come to the same.

#include <optional>

#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/road.h"
#include "workloads/sparse/matrix_market.h"

namespace idlewave::fuzz {
namespace {

struct Read {
  std::int64_t lines = 0;
  std::size_t triplets = 0;
  bool operator==(const Read&) const = default;
};

/// Nothing: a part was refused.
std::optional<Read> read_in(int parts, const sparse::MarketHeader& header) {
  Read all;
  for (int part = 0; part < parts; ++part) {
    const auto read = sparse::read_market_part(header, part, parts);
    if (!read) {
      require(!read.error().message.empty());
      return std::nullopt;
    }
    for (const sparse::Triplet& triplet : read->triplets)
      require(triplet.row >= 0 && triplet.row < header.rows && triplet.column >= 0 && triplet.column < header.rows);
    all.lines += read->lines;
    all.triplets += read->triplets.size();
  }
  return all;
}

}  // namespace

void run_road(Bytes& in) {
  const int parts = 2 + int(in.below(30));
  MemoryFile file;
  file.write(in.rest());
  const auto header = sparse::read_market_header(file.path());
  if (!header) return require(!header.error().message.empty());
  const auto whole = read_in(1, *header);
  require(read_in(parts, *header) == whole);
  if (!whole) return;
  if (const auto complete = sparse::check_lines(*header, whole->lines); !complete)
    require(!complete.error().message.empty());
}

}  // namespace idlewave::fuzz

#pragma once
// Files in the format MatrixMarket (R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market exchange formats",
// NISTIR 5935, 1996): square matrices, coordinate; real, integer or pattern; general or symmetric. Entries stand in any
// order.

#include <cstdint>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sparse/rows.h"

namespace idlewave::sparse {

/// What stands before the entries. Whether there are so many is not known before they are read.
struct MarketHeader {
  std::string path;
  bool pattern = false;  ///< Entries have no value, which is 1 then.
  bool integer = false;
  bool symmetric = false;    ///< The entries of the lower triangle stand for both.
  Index rows = 0;            ///< And columns.
  std::int64_t entries = 0;  ///< Lines.
  std::uint64_t begin = 0;   ///< Of the first entry's line in the file.
  std::uint64_t bytes = 0;   ///< Of the file.
};

/// Error, one line: path, line, what is wrong, what is accepted. Allocates nothing by what the file says: entries that
/// the bytes of the file can't hold are refused.
wire::Result<MarketHeader> read_market_header(const std::string& path);

/// Entries of the lines that begin in part `part` of `parts` equal ones of the bytes behind the header.
struct MarketPart {
  std::int64_t lines = 0;
  std::vector<Triplet> triplets;  ///< Of a symmetric matrix both that a line stands for.
};

/// Error: as read_market_header.
wire::Result<MarketPart> read_market_part(const MarketHeader& header, int part, int parts);

/// Whether all parts together have the lines that the header promises.
wire::Status check_lines(const MarketHeader& header, std::int64_t lines);

}  // namespace idlewave::sparse

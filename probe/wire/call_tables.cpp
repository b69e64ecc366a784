#include "probe/wire/call_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

constexpr std::size_t kMaxFunctionName = 63;
constexpr std::size_t kMaxFunctions = 1u << 20;  ///< Of all ranks of a frame.

/// Names of all functions, each once.
class Names {
 public:
  std::size_t number_of(std::string_view name) {
    const auto [place, is_new] = numbers_.emplace(name.substr(0, kMaxFunctionName), numbers_.size());
    if (is_new) names_.push_back(place->first);
    return place->second;
  }
  void append_to(std::vector<std::byte>& out) const {
    append_varint(out, names_.size());
    for (const std::string_view name : names_) {
      append_varint(out, name.size());
      for (const char letter : name) out.push_back(static_cast<std::byte>(letter));
    }
  }

 private:
  std::map<std::string_view, std::size_t> numbers_;
  std::vector<std::string_view> names_;
};

void append_functions(std::vector<std::byte>& out, Names& names, std::span<const FunctionSums> functions) {
  append_varint(out, functions.size());
  for (const FunctionSums& sums : functions) {
    append_varint(out, names.number_of(sums.name));
    append_varint(out, sums.calls);
    append_varint(out, sums.bytes);
    append_varint(out, sums.unsized);
    append_varint(out, static_cast<std::uint64_t>(sums.time.count()));
    append_varint(out, static_cast<std::uint64_t>(sums.longest.count()));
  }
}

void append_pairs(std::vector<std::byte>& out, const RankCalls& rank) {
  append_varint(out, rank.pairs.size());
  std::int64_t previous = rank.rank;
  for (const PairSums& pair : rank.pairs) {
    append_varint(out, zigzag(static_cast<std::uint64_t>(pair.to - previous)));
    append_varint(out, pair.messages);
    append_varint(out, pair.bytes);
    previous = pair.to;
  }
  append_varint(out, rank.other_messages);
  append_varint(out, rank.other_bytes);
}

/// Counts functions against kMaxFunctions, and everything against the bytes that are there.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number() { return bytes_.varint(); }
  std::uint64_t number_below(std::uint64_t limit) {
    const std::uint64_t number = bytes_.varint();
    refuse_unless(number < limit);
    return ok() ? number : 0;
  }
  /// Of things of which each takes `least` bytes.
  std::size_t count(std::size_t least) {
    const std::uint64_t count = bytes_.varint();
    refuse_unless(bytes_.ok() && count <= bytes_.remaining() / least);
    return ok() ? static_cast<std::size_t>(count) : 0;
  }
  std::size_t count_functions() {
    const std::size_t functions = count(6);
    functions_ += functions;
    refuse_unless(functions_ <= kMaxFunctions);
    return ok() ? functions : 0;
  }
  std::string name() {
    const std::span<const std::byte> letters = bytes_.bytes(number_below(kMaxFunctionName + 1));
    return {reinterpret_cast<const char*>(letters.data()), letters.size()};
  }
  Nanoseconds time() { return Nanoseconds(static_cast<std::int64_t>(number_below(std::uint64_t{1} << 63))); }
  /// As a difference from `previous`.
  Rank rank(std::int64_t previous) {
    const std::uint64_t rank = static_cast<std::uint64_t>(previous) + unzigzag(bytes_.varint());
    refuse_unless(rank < static_cast<std::uint64_t>(kMaxRanks));
    return ok() ? static_cast<Rank>(rank) : 0;
  }
  void refuse_unless(bool sound) { sound_ = sound_ && sound; }
  bool ok() const { return sound_ && bytes_.ok(); }
  bool is_over() const { return ok() && bytes_.remaining() == 0; }

 private:
  ByteReader bytes_;
  std::size_t functions_ = 0;
  bool sound_ = true;
};

void take_functions(Reader& in, std::span<const std::string> names, std::vector<FunctionSums>& functions) {
  functions.resize(in.count_functions());
  for (FunctionSums& sums : functions) {
    const std::uint64_t name = in.number_below(names.size());
    if (!in.ok()) return;
    sums.name = names[name];
    sums.calls = in.number();
    sums.bytes = in.number();
    sums.unsized = in.number();
    sums.time = in.time();
    sums.longest = in.time();
  }
}

void take_pairs(Reader& in, RankCalls& rank) {
  rank.pairs.resize(in.count(3));
  std::int64_t previous = rank.rank;
  for (std::size_t i = 0; i < rank.pairs.size(); ++i) {
    PairSums& pair = rank.pairs[i];
    pair.to = in.rank(previous);
    in.refuse_unless(i == 0 || pair.to > previous);
    if (!in.ok()) return;
    pair.messages = in.number();
    pair.bytes = in.number();
    previous = pair.to;
  }
  rank.other_messages = in.number();
  rank.other_bytes = in.number();
}

}  // namespace

std::vector<std::byte> pack_calls(std::span<const RankCalls> calls) {
  Names names;
  std::vector<std::byte> ranks;
  append_varint(ranks, calls.size());
  std::int64_t previous = -1;
  for (const RankCalls& rank : calls) {
    append_varint(ranks, zigzag(static_cast<std::uint64_t>(rank.rank - previous)));
    append_varint(ranks, static_cast<std::uint32_t>(rank.pid));
    append_functions(ranks, names, rank.functions);
    append_pairs(ranks, rank);
    previous = rank.rank;
  }
  std::vector<std::byte> out;
  names.append_to(out);
  out.insert(out.end(), ranks.begin(), ranks.end());
  return out;
}

bool unpack_calls(std::span<const std::byte> bytes, std::vector<RankCalls>& calls) {
  Reader in(bytes);
  std::vector<std::string> names(in.count(1));
  for (std::string& name : names) name = in.name();
  calls.resize(in.count(6));
  std::int64_t previous = -1;
  for (RankCalls& rank : calls) {
    rank.rank = in.rank(previous);
    rank.pid = static_cast<std::int32_t>(in.number_below(std::uint64_t{1} << 31));
    take_functions(in, names, rank.functions);
    take_pairs(in, rank);
    if (!in.ok()) return false;
    previous = rank.rank;
  }
  return in.is_over();
}

std::vector<std::byte> pack_unseen(std::span<const RankCalls> calls) {
  std::vector<std::byte> out;
  if (std::ranges::all_of(calls, [](const RankCalls& rank) { return rank.unseen == 0; })) return out;
  for (const RankCalls& rank : calls) append_varint(out, rank.unseen);
  return out;
}

bool unpack_unseen(std::span<const std::byte> bytes, std::vector<RankCalls>& calls) {
  Reader in(bytes);
  for (RankCalls& rank : calls) rank.unseen = in.number();
  return in.is_over();
}

}  // namespace idlewave::wire

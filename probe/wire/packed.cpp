#include "probe/wire/packed.h"

#include <cmath>

namespace idlewave::wire {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::uint64_t kMaxValues = 1u << 22;
const msgpack::object kNil;

// Counts what a document holds without building it: a short message may announce billions of values.
class Census : public msgpack::null_visitor {
 public:
  bool start_array(std::uint32_t items) { return enter(items); }
  bool start_map(std::uint32_t entries) { return enter(2 * std::uint64_t{entries}); }
  bool end_array() { return leave(); }
  bool end_map() { return leave(); }

 private:
  bool enter(std::uint64_t values) { return (values_ += values) <= kMaxValues && ++depth_ <= kMaxDepth; }
  bool leave() { return --depth_, true; }

  std::uint64_t values_ = 0;
  int depth_ = 0;
};

/// Nothing where the key is no text.
std::optional<std::string_view> name_of(const msgpack::object_kv& entry) {
  if (entry.key.type != msgpack::type::STR) return std::nullopt;
  return std::string_view(entry.key.via.str.ptr, entry.key.via.str.size);
}

bool refer_to_buffer(msgpack::type::object_type, std::size_t, void*) { return true; }

}  // namespace

void PackWriter::string(std::string_view value) {
  packer_.pack_str(static_cast<std::uint32_t>(value.size()));
  packer_.pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
}

void PackWriter::real(double value) {
  constexpr double kBeyondIntegers = 0x1p63;
  const bool is_whole = std::abs(value) < kBeyondIntegers && value == std::trunc(value);
  is_whole ? packer_.pack_int64(static_cast<std::int64_t>(value)) : packer_.pack_double(value);
}

void PackWriter::bytes(std::string_view name, std::span<const std::byte> value) {
  key(name);
  packer_.pack_bin(static_cast<std::uint32_t>(value.size()));
  packer_.pack_bin_body(reinterpret_cast<const char*>(value.data()), static_cast<std::uint32_t>(value.size()));
}

bool Packed::parse(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const char*>(bytes.data());
  Census census;
  std::size_t end = 0;
  if (!msgpack::parse(data, bytes.size(), end, census) || end != bytes.size()) return false;
  try {
    handle_ = msgpack::unpack(data, bytes.size(), refer_to_buffer);
  } catch (const msgpack::unpack_error&) {
    return false;
  }
  return true;
}

MapReader::MapReader(const msgpack::object& value, std::string_view where, std::string& error)
    : where_(where), error_(error) {
  if (value.type == msgpack::type::MAP) {
    entries_ = {value.via.map.ptr, value.via.map.size};
  } else if (error_.empty()) {
    error_ = std::string(where) + " is not a map";
  }
}

void MapReader::refuse(std::string_view key, std::string_view why) {
  if (error_.empty()) error_.append(where_).append(": '").append(key).append("' ").append(why);
}

const msgpack::object* MapReader::lookup(std::string_view key) const {
  for (const msgpack::object_kv& entry : entries_) {
    if (name_of(entry) == key) return &entry.val;
  }
  return nullptr;
}

std::optional<std::string_view> MapReader::key_of_a_map() const {
  for (const msgpack::object_kv& entry : entries_) {
    if (entry.val.type == msgpack::type::MAP && name_of(entry)) return name_of(entry);
  }
  return std::nullopt;
}

const msgpack::object& MapReader::find(std::string_view key) {
  if (const msgpack::object* value = lookup(key)) return *value;
  refuse(key, "is missing");
  return kNil;
}

std::int64_t MapReader::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const msgpack::object& value = find(key);
  const bool positive = value.type == msgpack::type::POSITIVE_INTEGER;
  if (!positive && value.type != msgpack::type::NEGATIVE_INTEGER) return refuse(key, "is not a whole number"), 0;
  const bool fits = positive ? high >= 0 && value.via.u64 <= static_cast<std::uint64_t>(high) : value.via.i64 >= low;
  const std::int64_t number = value.via.i64;
  if (!fits || number < low || number > high) return refuse(key, "is out of range"), 0;
  return number;
}

std::uint64_t MapReader::unsigned_integer(std::string_view key) {
  const msgpack::object& value = find(key);
  if (value.type != msgpack::type::POSITIVE_INTEGER) return refuse(key, "is not a positive whole number"), 0;
  return value.via.u64;
}

double MapReader::number(std::string_view key, double low, double high) { return number(key, find(key), low, high); }

std::vector<double> MapReader::numbers(std::string_view key, std::size_t limit, double low, double high) {
  std::vector<double> numbers;
  for (const msgpack::object& value : array(key, limit)) numbers.push_back(number(key, value, low, high));
  return numbers;
}

double MapReader::number(std::string_view key, const msgpack::object& value, double low, double high) {
  double number = 0;
  switch (value.type) {
    case msgpack::type::FLOAT32:
    case msgpack::type::FLOAT64: number = value.via.f64; break;
    case msgpack::type::POSITIVE_INTEGER: number = static_cast<double>(value.via.u64); break;
    case msgpack::type::NEGATIVE_INTEGER: number = static_cast<double>(value.via.i64); break;
    default: return refuse(key, "is not a number"), 0;
  }
  if (!(number >= low && number <= high)) return refuse(key, "is out of range"), 0;
  return number;
}

bool MapReader::boolean(std::string_view key) {
  const msgpack::object& value = find(key);
  if (value.type != msgpack::type::BOOLEAN) return refuse(key, "is neither true nor false"), false;
  return value.via.boolean;
}

std::string MapReader::text(std::string_view key, std::size_t limit) {
  const msgpack::object& value = find(key);
  if (value.type != msgpack::type::STR) return refuse(key, "is not a text"), std::string();
  if (value.via.str.size > limit) return refuse(key, "is too long"), std::string();
  return std::string(value.via.str.ptr, value.via.str.size);
}

std::span<const std::byte> MapReader::bytes(std::string_view key, std::size_t limit) {
  const msgpack::object& value = find(key);
  if (value.type != msgpack::type::BIN) return refuse(key, "is not binary"), std::span<const std::byte>();
  if (value.via.bin.size > limit) return refuse(key, "is too long"), std::span<const std::byte>();
  return {reinterpret_cast<const std::byte*>(value.via.bin.ptr), value.via.bin.size};
}

std::span<const msgpack::object> MapReader::array(std::string_view key, std::size_t limit) {
  const msgpack::object& value = find(key);
  if (value.type != msgpack::type::ARRAY) return refuse(key, "is not an array"), std::span<const msgpack::object>();
  if (value.via.array.size > limit) return refuse(key, "has too many items"), std::span<const msgpack::object>();
  return {value.via.array.ptr, value.via.array.size};
}

const msgpack::object& MapReader::map(std::string_view key) {
  const msgpack::object& value = find(key);
  if (value.type != msgpack::type::MAP) refuse(key, "is not a map");
  return value;
}

}  // namespace idlewave::wire

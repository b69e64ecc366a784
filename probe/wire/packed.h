#pragma once
// msgpack maps, written and read with every limit applied before anything is allocated. Only for the files of this
// folder that turn maps into structures: msgpack's own header comes with it.

#define MSGPACK_NO_BOOST
#include <cstdint>
#include <msgpack.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace idlewave::wire {

/// Appends msgpack values to a vector of bytes. The caller keeps the promised counts of map() and array().
class PackWriter {
 public:
  explicit PackWriter(std::vector<std::byte>& out) : stream_{out}, packer_(stream_) {}

  void map(std::uint32_t entries) { packer_.pack_map(entries); }
  void array(std::uint32_t items) { packer_.pack_array(items); }
  void key(std::string_view name) { string(name); }
  void integer(std::string_view name, std::int64_t value) { key(name), packer_.pack_int64(value); }
  void unsigned_integer(std::string_view name, std::uint64_t value) { key(name), packer_.pack_uint64(value); }
  void number(std::string_view name, double value) { key(name), real(value); }
  void boolean(std::string_view name, bool value) { key(name), value ? packer_.pack_true() : packer_.pack_false(); }
  /// Cuts what is longer than `limit`, since a reader would refuse it.
  void text(std::string_view name, std::string_view value, std::size_t limit) {
    key(name), string(value.substr(0, limit));
  }
  void bytes(std::string_view name, std::span<const std::byte> value);
  void numbers(std::string_view name, std::span<const double> values) {
    key(name), array(static_cast<std::uint32_t>(values.size()));
    for (const double value : values) real(value);
  }

 private:
  struct Stream {
    std::vector<std::byte>& out;
    void write(const char* data, std::size_t size) {
      const auto* begin = reinterpret_cast<const std::byte*>(data);
      out.insert(out.end(), begin, begin + size);
    }
  };
  void string(std::string_view value);
  /// A whole number as an integer, which is shorter. Releases of msgpack differ in whether they do that by themselves.
  void real(double value);

  Stream stream_;
  msgpack::packer<Stream> packer_;
};

/// One msgpack value and the memory of what it holds; texts and bytes refer to the buffer it was read from.
class Packed {
 public:
  /// Reads exactly one value. False if `bytes` are not one whole msgpack value within the limits: depth 8, a million
  /// values.
  bool parse(std::span<const std::byte> bytes);
  const msgpack::object& root() const { return handle_.get(); }

 private:
  msgpack::object_handle handle_;
};

/// Takes fields out of one msgpack map. Unknown keys are ignored. The first missing or unfit field is kept in `error`
/// ("roster: 'world' is missing"), and every getter after it gives an empty value, so that a caller may check once at
/// the end.
class MapReader {
 public:
  MapReader(const msgpack::object& value, std::string_view where, std::string& error);

  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::uint64_t unsigned_integer(std::string_view key);
  double number(std::string_view key, double low, double high);
  std::vector<double> numbers(std::string_view key, std::size_t limit, double low, double high);
  bool boolean(std::string_view key);
  std::string text(std::string_view key, std::size_t limit);
  std::span<const std::byte> bytes(std::string_view key, std::size_t limit);
  std::span<const msgpack::object> array(std::string_view key, std::size_t limit);
  const msgpack::object& map(std::string_view key);

  bool has(std::string_view key) const { return lookup(key) != nullptr; }
  /// Of the first entry whose value is a map; nothing if there is none.
  std::optional<std::string_view> key_of_a_map() const;
  void refuse(std::string_view key, std::string_view why);
  bool ok() const { return error_.empty(); }

 private:
  const msgpack::object* lookup(std::string_view key) const;
  const msgpack::object& find(std::string_view key);
  double number(std::string_view key, const msgpack::object& value, double low, double high);

  std::span<const msgpack::object_kv> entries_;
  std::string_view where_;
  std::string& error_;
};

}  // namespace idlewave::wire

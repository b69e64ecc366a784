#pragma once
// JSON as our programs write it, and read each other's. A file that includes the library behind it takes seconds more to
// compile: that is json.cpp alone.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idlewave::support {

/// A value that is built up to be written; keys keep the order in which they came. Once moved from it may only be
/// assigned to.
class Json {
 public:
  class Place;

  /// Null.
  Json();
  Json(bool value);
  Json(int value);
  Json(unsigned value);
  Json(std::int64_t value);
  Json(std::uint64_t value);
  /// Written as null where it is not finite.
  Json(double value);
  Json(const char* text);
  Json(const std::string& text);
  Json(std::string_view text);
  template <class T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  /// {{"key", value}, ...} is an object: each part is a list of two and begins with a text. All else is a list.
  Json(std::initializer_list<Json> parts);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Json array();
  /// Nothing where `text` is no JSON.
  static std::optional<Json> parse(std::string_view text);

  /// Null becomes an object; a key that is new has null for a value.
  Place operator[](std::string_view key);
  /// Null becomes a list.
  void push_back(Json value);
  /// The keys of another object that this one lacks, behind its own. Null has none.
  void append_missing(Json other);

  /// What stands at a path: keys and places in lists, joined by dots; -1 is the last place. Null where there is nothing.
  Json at(std::string_view path) const;
  bool is_null() const;
  std::optional<double> as_number() const;     ///< Nothing where it is none.
  std::optional<std::string> as_text() const;  ///< Nothing where it is none.

  /// Of an object: each key and its value, a text as it is, all else as JSON in one line.
  std::vector<std::pair<std::string, std::string>> in_words() const;
  /// Indented by two, in ASCII; bytes that are not UTF-8 are replaced.
  std::string text() const;

 private:
  std::unique_ptr<nlohmann::ordered_json> value_;
};

/// Where a value stands in an object; good until the object changes otherwise.
class Json::Place {
 public:
  explicit Place(nlohmann::ordered_json& value) : value_(value) {}
  void operator=(Json value);
  Place operator[](std::string_view key);
  void push_back(Json value);

 private:
  nlohmann::ordered_json& value_;
};

}  // namespace idlewave::support

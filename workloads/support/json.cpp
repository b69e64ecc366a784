#include "workloads/support/json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace idlewave::support {

using nlohmann::ordered_json;

namespace {

/// Either as the library reads {{"key", value}, ...} itself.
bool is_member(const ordered_json& part) { return part.is_array() && part.size() == 2 && part[0].is_string(); }

ordered_json object_of(ordered_json members) {
  ordered_json object = ordered_json::object();
  for (ordered_json& member : members) object.emplace(member[0].get<std::string>(), std::move(member[1]));
  return object;
}

/// Null where there is no such key or place.
const ordered_json* step_into(const ordered_json& value, std::string_view name) {
  if (value.is_object()) {
    const auto found = value.find(std::string(name));
    return found == value.end() ? nullptr : &*found;
  }
  std::int64_t place = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place);
  if (!value.is_array() || error != std::errc() || end != name.data() + name.size()) return nullptr;
  const auto count = std::int64_t(value.size());
  if (place < 0) place += count;
  return place >= 0 && place < count ? &value[std::size_t(place)] : nullptr;
}

}  // namespace

Json::Json() : value_(std::make_unique<ordered_json>()) {}
Json::Json(bool value) : value_(std::make_unique<ordered_json>(value)) {}
Json::Json(int value) : value_(std::make_unique<ordered_json>(value)) {}
Json::Json(unsigned value) : value_(std::make_unique<ordered_json>(value)) {}
Json::Json(std::int64_t value) : value_(std::make_unique<ordered_json>(value)) {}
Json::Json(std::uint64_t value) : value_(std::make_unique<ordered_json>(value)) {}
Json::Json(double value) : value_(std::make_unique<ordered_json>(value)) {}
Json::Json(const char* text) : Json(std::string_view(text)) {}
Json::Json(const std::string& text) : Json(std::string_view(text)) {}
Json::Json(std::string_view text) : value_(std::make_unique<ordered_json>(text)) {}

Json::Json(std::initializer_list<Json> parts) : Json(array()) {
  // The list is const; what its values point to is ours to take.
  for (const Json& part : parts) value_->push_back(std::move(*part.value_));
  if (std::ranges::all_of(*value_, is_member)) *value_ = object_of(std::move(*value_));
}

Json::Json(const Json& other) : value_(std::make_unique<ordered_json>(*other.value_)) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}
Json::~Json() = default;

Json Json::array() {
  Json list;
  *list.value_ = ordered_json::array();
  return list;
}

std::optional<Json> Json::parse(std::string_view text) {
  Json parsed;
  *parsed.value_ = ordered_json::parse(text, nullptr, false);
  return parsed.value_->is_discarded() ? std::nullopt : std::optional(std::move(parsed));
}

Json::Place Json::operator[](std::string_view key) { return Place((*value_)[std::string(key)]); }
void Json::push_back(Json value) { value_->push_back(std::move(*value.value_)); }

void Json::append_missing(Json other) {
  for (auto& [key, value] : other.value_->items()) {
    if (!value_->contains(key)) (*value_)[key] = std::move(value);
  }
}

Json Json::at(std::string_view path) const {
  const ordered_json* value = value_.get();
  while (value != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    value = step_into(*value, path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  Json found;
  if (value != nullptr) *found.value_ = *value;
  return found;
}

bool Json::is_null() const { return value_->is_null(); }

std::optional<double> Json::as_number() const {
  return value_->is_number() ? std::optional(value_->get<double>()) : std::nullopt;
}

std::optional<std::string> Json::as_text() const {
  return value_->is_string() ? std::optional(value_->get<std::string>()) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Json::in_words() const {
  std::vector<std::pair<std::string, std::string>> words;
  for (const auto& [key, value] : value_->items())
    words.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  return words;
}

std::string Json::text() const { return value_->dump(2, ' ', true, ordered_json::error_handler_t::replace); }

void Json::Place::operator=(Json value) { value_ = std::move(*value.value_); }
Json::Place Json::Place::operator[](std::string_view key) { return Place(value_[std::string(key)]); }
void Json::Place::push_back(Json value) { value_.push_back(std::move(*value.value_)); }

}  // namespace idlewave::support

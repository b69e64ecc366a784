#pragma once
// A TOML file as its reader wants it: typed values, and one complaint that names the place. Private to this folder.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "probe/wire/result.h"

namespace idlewave::support {

/// Keeps the first complaint; whatever follows from it is of no interest.
class Complaints {
 public:
  explicit Complaints(std::string file) : file_(std::move(file)) {}
  void add(const toml::node& node, std::string_view key, std::string_view what);
  /// `file:12: table.key`
  std::string place(const toml::node& node, std::string_view key) const;
  const std::optional<wire::Error>& first() const { return first_; }

 private:
  std::string file_;
  std::optional<wire::Error> first_;
};

/// One table of the file. Remembers which keys were asked for, so that any other is an error.
class Section {
 public:
  Section(Complaints& complaints, const toml::table& table, std::string title)
      : complaints_(complaints), table_(table), title_(std::move(title)) {}

  /// The node of that key, which is known from now on; null if the table has none.
  const toml::node* find(std::string_view key);
  /// Whether it has that key, which is known from now on.
  bool has(std::string_view key) { return find(key) != nullptr; }

  /// A table inside this one; an absent one reads as an empty one.
  Section table(std::string_view key);
  std::vector<Section> tables(std::string_view key);  ///< Those of a list of tables.
  /// Where the key stands, or without one the table, as complaints name it.
  std::string place(std::string_view key = {}) const;

  void require(std::string_view key, std::string_view example);
  void complain(std::string_view key, std::string_view what);

  // Each of these leaves `out` alone if the key is absent, and complains if its value is not what it should be.

  template <class T>
  void quantity(std::string_view key, T& out, wire::Result<T> (*parse)(std::string_view)) {
    if (const toml::node* node = find(key)) quantity_from(*node, key, out, parse);
  }

  template <class T>
  void quantities(std::string_view key, std::vector<T>& out, wire::Result<T> (*parse)(std::string_view)) {
    for_each_in_list(key, out, [&](const toml::node& item, T& value) { quantity_from(item, key, value, parse); });
  }

  template <class T>
  void whole(std::string_view key, T& out, T least, T most) {
    if (const toml::node* node = find(key)) whole_from(*node, key, out, least, most);
  }

  template <class T>
  void wholes(std::string_view key, std::vector<T>& out, T least, T most) {
    for_each_in_list(key, out, [&](const toml::node& item, T& value) { whole_from(item, key, value, least, most); });
  }

  /// A number that has no unit: a probability, a shape.
  void real(std::string_view key, double& out, double least, double most);

  void text(std::string_view key, std::string& out) {
    if (const toml::node* node = find(key)) text_from(*node, key, out);
  }

  void texts(std::string_view key, std::vector<std::string>& out) {
    for_each_in_list(key, out, [&](const toml::node& item, std::string& value) { text_from(item, key, value); });
  }

  template <class E>
  void choice(std::string_view key, E& out, std::span<const std::pair<std::string_view, E>> choices) {
    std::string word;
    text(key, word);
    if (!has(key)) return;
    const auto found = std::ranges::find(choices, word, [](const auto& choice) { return choice.first; });
    if (found != choices.end()) {
      out = found->second;
      return;
    }
    std::vector<std::string_view> words;
    for (const auto& choice : choices) words.push_back(choice.first);
    complain(key, fmt::format("\"{}\" is not one of {}", word, fmt::join(words, ", ")));
  }

  /// Complains about a key that nobody asked for.
  void refuse_other_keys();

 private:
  std::string path(std::string_view key) const;

  static std::string written_value(const toml::node& node);
  void text_from(const toml::node& node, std::string_view key, std::string& out);

  template <class T>
  void quantity_from(const toml::node& node, std::string_view key, T& out, wire::Result<T> (*parse)(std::string_view)) {
    const wire::Result<T> value = parse(written_value(node));
    if (value) {
      out = *value;
    } else {
      complaints_.add(node, path(key), value.error().message);
    }
  }

  template <class T>
  void whole_from(const toml::node& node, std::string_view key, T& out, T least, T most) {
    const auto* number = node.as_integer();
    const std::int64_t value = number ? number->get() : 0;
    if (number && std::cmp_greater_equal(value, least) && std::cmp_less_equal(value, most)) {
      out = static_cast<T>(value);
    } else {
      complaints_.add(node, path(key), fmt::format("must be a whole number from {} to {}", least, most));
    }
  }

  template <class T, class ReadItem>
  void for_each_in_list(std::string_view key, std::vector<T>& out, ReadItem read_item) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty()) {
      complaints_.add(*node, path(key), "must be a list with at least one entry, in [ ]");
      return;
    }
    out.assign(list->size(), T{});
    for (std::size_t i = 0; i < list->size(); ++i) read_item(*list->get(i), out[i]);
  }

  Complaints& complaints_;
  const toml::table& table_;
  std::string title_;
  std::vector<std::string> known_;  ///< In the order asked for.
};

/// A parsed file with its overrides. Sections refer to it.
class TomlDocument {
 public:
  /// See parse_scenario.
  static wire::Result<TomlDocument> parse(std::string_view text, std::string_view name,
                                          std::span<const std::string> overrides);

  bool has(std::string_view name) const { return root_->contains(name); }
  Section table(std::string_view name) { return top_.table(name); }                 ///< [name]
  std::vector<Section> tables(std::string_view name) { return top_.tables(name); }  ///< Those under [[name]].
  void refuse_other_tables() { top_.refuse_other_keys(); }
  const std::optional<wire::Error>& complaint() const { return complaints_->first(); }

 private:
  TomlDocument(toml::table root, std::string_view name);

  // Held where they stay when the document moves.
  std::unique_ptr<toml::table> root_;
  std::unique_ptr<Complaints> complaints_;
  Section top_;
};

}  // namespace idlewave::support

#include "workloads/support/toml_document.h"

#include <charconv>

#include "workloads/support/toml_depth.h"

namespace idlewave::support {
namespace {

using wire::Error;
using wire::Result;

constexpr std::string_view kOverride = "--set ";
const std::string kTooDeep = fmt::format("a key of more than {} parts", kMostKeyParts);

/// Where a node was written: `file:line`, or the override that set it.
std::string place_of(const toml::node& node, std::string_view name) {
  const toml::source_region& source = node.source();
  if (source.path && source.path->starts_with(kOverride)) return *source.path;
  if (!source.begin) return std::string{name};
  return fmt::format("{}:{}", name, source.begin.line);
}

/// `text` as a TOML value where it is one, else as a text: `4000`, `[-1, 1]`, and `50 MB` or `ring` without quotes.
toml::table value_table(std::string_view text, const std::string& source) {
  try {
    toml::table parsed = toml::parse("value = " + std::string{text}, source);
    if (parsed.size() == 1) return parsed;
  } catch (const toml::parse_error&) {
  }
  std::string quoted;
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return toml::parse("value = \"" + quoted + "\"", source);
}

/// What `name` stands for below `node`, made where it is missing; null if there can be no such thing.
toml::node* step_into(toml::node& node, std::string_view name) {
  if (toml::table* table = node.as_table()) return &table->insert(name, toml::table{}).first->second;
  toml::array* list = node.as_array();
  std::size_t index = 0;
  if (list == nullptr || std::from_chars(name.begin(), name.end(), index).ptr != name.end() || index >= list->size())
    return nullptr;
  return list->get(index);
}

/// Of the value only what may hold keys is looked at: a path may have any number of dots.
bool is_deep(std::string_view key, std::string_view value) {
  const bool has_keys = value.find_first_of("{\n") != std::string_view::npos;
  return std::ranges::count(key, '.') >= kMostKeyParts || (has_keys && line_of_deep_key(value));
}

wire::Status apply_override(toml::table& root, const std::string& text) {
  const auto refuse = [&](std::string_view why) {
    return Error{fmt::format("{}{}: {}; write table.key=value, such as machine.ranks=4000", kOverride, text, why)};
  };
  const auto equals = text.find('=');
  if (equals == std::string::npos) return refuse("has no value");
  if (is_deep(std::string_view{text}.substr(0, equals), std::string_view{text}.substr(equals + 1)))
    return refuse(kTooDeep);
  std::string path = text.substr(0, text.find_last_not_of(" =", equals) + 1);
  if (path.starts_with("loggops.")) path.replace(0, 7, "communication");
  toml::node* node = &root;
  for (auto dot = path.find('.'); dot != std::string::npos; dot = path.find('.')) {
    node = step_into(*node, std::string_view{path}.substr(0, dot));
    if (node == nullptr) return refuse("names no table");
    path.erase(0, dot + 1);
  }
  if (toml::array* list = node->as_array(); list != nullptr && list->is_array_of_tables()) {
    if (list->size() > 1) return refuse(fmt::format("is one of {}: say which, as in delay.0.duration", list->size()));
    node = list->get(0);  // delay.duration, where there is one delay
  }
  toml::table* table = node->as_table();
  if (table == nullptr || path.empty() || node == &root) return refuse("names no key of a table");
  if (text.find_first_not_of(' ', equals + 1) == std::string::npos) return table->erase(path), wire::ok();
  try {
    toml::table value = value_table(std::string_view{text}.substr(equals + 1), std::string{kOverride} + text);
    table->insert_or_assign(path, std::move(*value.get("value")));
  } catch (const toml::parse_error& error) {
    return refuse(error.description());
  }
  return wire::ok();
}

}  // namespace

void Complaints::add(const toml::node& node, std::string_view key, std::string_view what) {
  if (!first_) first_ = Error{fmt::format("{}: {}", place(node, key), what)};
}

std::string Complaints::place(const toml::node& node, std::string_view key) const {
  return fmt::format("{}: {}", place_of(node, file_), key);
}

const toml::node* Section::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  return table_.get(key);
}

Section Section::table(std::string_view key) {
  static const toml::table kEmpty;
  const toml::node* node = find(key);
  if (node && !node->is_table()) complain(key, fmt::format("must be a table, [{}]", path(key)));
  const toml::table* table = node ? node->as_table() : nullptr;
  return {complaints_, table ? *table : kEmpty, path(key)};
}

std::vector<Section> Section::tables(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<Section> sections;
  if (const toml::array* list = node->as_array(); list && list->is_homogeneous<toml::table>()) {
    for (const toml::node& item : *list) sections.emplace_back(complaints_, *item.as_table(), path(key));
  } else {
    complain(key, fmt::format("must be a list of tables, [[{}]]", path(key)));
  }
  return sections;
}

std::string Section::place(std::string_view key) const {
  const toml::node* node = key.empty() ? nullptr : table_.get(key);
  return complaints_.place(node ? *node : table_, key.empty() ? title_ : path(key));
}

void Section::require(std::string_view key, std::string_view example) {
  if (!has(key)) complaints_.add(table_, path(key), fmt::format("is missing; write {} = {}", key, example));
}

void Section::complain(std::string_view key, std::string_view what) {
  const toml::node* node = table_.get(key);
  complaints_.add(node ? *node : table_, path(key), what);
}

void Section::refuse_other_keys() {
  for (const auto& [key, node] : table_) {
    if (std::ranges::find(known_, key.str()) != known_.end()) continue;
    complaints_.add(node, path(key.str()), fmt::format("is not known here; known: {}", fmt::join(known_, ", ")));
  }
}

std::string Section::path(std::string_view key) const {
  return title_.empty() ? std::string{key} : fmt::format("{}.{}", title_, key);
}

void Section::real(std::string_view key, double& out, double least, double most) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (value && *value >= least && *value <= most) {
    out = *value;
  } else {
    complaints_.add(*node, path(key), fmt::format("must be a number from {} to {}, without a unit", least, most));
  }
}

/// A quantity is a text; a bare number is handed on as one, so that its parser can say what is missing.
std::string Section::written_value(const toml::node& node) {
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  return node.value<std::string>().value_or("");
}

void Section::text_from(const toml::node& node, std::string_view key, std::string& out) {
  if (const auto* words = node.as_string()) {
    out = words->get();
  } else {
    complaints_.add(node, path(key), "must be a text in quotes");
  }
}

Result<TomlDocument> TomlDocument::parse(std::string_view text, std::string_view name,
                                         std::span<const std::string> overrides) {
  if (const auto line = line_of_deep_key(text)) return Error{fmt::format("{}:{}: {}", name, *line, kTooDeep)};
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("{}:{}: {}; is it TOML, as docs/scenario.md describes it?", name,
                             error.source().begin.line, error.description())};
  }
  for (const std::string& override : overrides) {
    if (const auto applied = apply_override(root, override); !applied) return applied.error();
  }
  return TomlDocument{std::move(root), name};
}

TomlDocument::TomlDocument(toml::table root, std::string_view name)
    : root_(std::make_unique<toml::table>(std::move(root))),
      complaints_(std::make_unique<Complaints>(std::string{name})),
      top_(*complaints_, *root_, "") {}

}  // namespace idlewave::support

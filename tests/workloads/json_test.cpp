#include "workloads/support/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace idlewave::support {
namespace {

using nlohmann::ordered_json;

std::string text_of(const Json& value) { return value.text(); }
std::string text_of(const ordered_json& value) {
  return value.dump(2, ' ', true, ordered_json::error_handler_t::replace);
}

/// One program for both classes.
template <class J>
std::string numbers() {
  J list = J::array();
  for (const double value : {0.0, -0.0, 1.0, 0.1, 1e-9, 1e300, 123456789.125, std::nan(""), HUGE_VAL})
    list.push_back(value);
  list.push_back(std::numeric_limits<std::uint64_t>::max());
  list.push_back(std::numeric_limits<std::int64_t>::min());
  list.push_back(-7);
  list.push_back(7u);
  list.push_back(true);
  return text_of(list);
}

template <class J>
std::string braces() {
  J none;
  J object = {{"none", none},
              {"nothing", {}},
              {"numbers", {0.25, 1}},
              {"two_texts", {"a", "b"}},
              {"pairs", {{"a", 1}, {"b", {{"deep", J::array()}}}}},
              {"not_all_pairs", {{"a", 1}, {"b"}}},
              {"vector", std::vector<int>{3, 1, 2}},
              {"twice", 1},
              {"twice", 2}};
  object["later"] = {{"kind", "clear"}};
  object["list"] = J::array();
  object["list"].push_back({{"x", 1.5}});
  object["set"]["inner"] = "text";
  object["none"] = {};
  return text_of(object);
}

TEST(Json, WritesNumbersAsTheLibraryDoes) { EXPECT_EQ(numbers<Json>(), numbers<ordered_json>()); }

TEST(Json, ReadsBracesAsTheLibraryDoes) { EXPECT_EQ(braces<Json>(), braces<ordered_json>()); }

TEST(Json, WritesAsciiWhateverBytesAreInATextOrAKey) {
  const std::string bytes = "\xffname \u00e9 \n\"";
  Json object;
  object[bytes] = bytes;
  ordered_json expected;
  expected[bytes] = bytes;
  EXPECT_EQ(object.text(), text_of(expected));
}

TEST(Json, AppendsOnlyTheKeysThatItLacks) {
  Json object = {{"ranks", 4}};
  object.append_missing({{"waves", Json::array()}, {"ranks", 5}});
  object.append_missing({});
  EXPECT_EQ(object.text(), Json({{"ranks", 4}, {"waves", Json::array()}}).text());
}

TEST(Json, IsInWordsForPeople) {
  const Json object = {{"file", "s.iw \xc3\xa9"}, {"ranks", 4}, {"closed", true}, {"list", {1, 2}}};
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"file", "s.iw \xc3\xa9"}, {"ranks", "4"}, {"closed", "true"}, {"list", "[1,2]"}};
  EXPECT_EQ(object.in_words(), expected);
}

TEST(Json, IsCopiedWhole) {
  Json object = {{"a", 1}};
  const Json copy = object;
  object["a"] = 2;
  EXPECT_EQ(copy.text(), Json({{"a", 1}}).text());
}

}  // namespace
}  // namespace idlewave::support

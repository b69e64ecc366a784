#include "workloads/sparse/matrix_market.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <tuple>

#include "tests/workloads/sparse/written_file.h"

namespace idlewave::sparse {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_sparse::WrittenFile;

using Place = std::tuple<Index, Index, double>;

std::vector<Place> places_of(const std::vector<Triplet>& triplets) {
  std::vector<Place> places;
  for (const Triplet& each : triplets) places.emplace_back(each.row, each.column, each.value);
  return places;
}

/// What reading it in one part says: the error, or nothing.
std::string error_of(const std::string& text) {
  const WrittenFile file;
  file.write(text);
  const auto header = read_market_header(file.path());
  if (!header) return header.error().message;
  const auto part = read_market_part(*header, 0, 1);
  if (!part) return part.error().message;
  const auto lines = check_lines(*header, part->lines);
  return lines ? "" : lines.error().message;
}

std::vector<Place> read_all(const std::string& text) {
  const WrittenFile file;
  file.write(text);
  const auto header = read_market_header(file.path());
  EXPECT_TRUE(header) << (header ? "" : header.error().message);
  if (!header) return {};
  const auto part = read_market_part(*header, 0, 1);
  EXPECT_TRUE(part) << (part ? "" : part.error().message);
  return part ? places_of(part->triplets) : std::vector<Place>{};
}

TEST(MatrixMarket, ReadsRealIntegerAndPattern) {
  EXPECT_THAT(read_all("%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 -1.5e-3\n1 2 +7\n"),
              ElementsAre(Place{1, 0, -1.5e-3}, Place{0, 1, 7.0}));
  EXPECT_THAT(read_all("%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 2 -4\n"),
              ElementsAre(Place{1, 1, -4.0}));
  EXPECT_THAT(read_all("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n3 1\n"),
              ElementsAre(Place{2, 0, 1.0}));
}

TEST(MatrixMarket, ReadsBothEntriesThatALineOfASymmetricMatrixStandsFor) {
  EXPECT_THAT(read_all("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 2 5\n3 1 4\n"),
              ElementsAre(Place{1, 1, 5.0}, Place{2, 0, 4.0}, Place{0, 2, 4.0}));
}

TEST(MatrixMarket, TakesCommentsEmptyLinesTabsCapitalsWindowsEndsAndNoLastEnd) {
  EXPECT_THAT(read_all("%%matrixmarket MATRIX Coordinate Real General\r\n% why\r\n\r\n 2\t2 1 \r\n\r\n  1\t 2  0.5\t"),
              ElementsAre(Place{0, 1, 0.5}));
}

TEST(MatrixMarket, IsTheSameReadInAnyNumberOfParts) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  const WrittenFile file;
  for (int round = 0; round < 60; ++round) {
    const std::string field = std::array{"real", "integer", "pattern"}[std::size_t(round % 3)];
    testing_sparse::write_random(random, file, field, round % 2 == 1);
    const auto header = read_market_header(file.path());
    ASSERT_TRUE(header) << header.error().message;
    const auto whole = read_market_part(*header, 0, 1);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_TRUE(check_lines(*header, whole->lines));
    const int parts = testing_sparse::whole(random, 1, 400);
    std::int64_t lines = 0;
    std::vector<Place> together;
    for (int number = 0; number < parts; ++number) {
      const auto part = read_market_part(*header, number, parts);
      ASSERT_TRUE(part) << part.error().message;
      lines += part->lines;
      for (const Place& place : places_of(part->triplets)) together.push_back(place);
    }
    EXPECT_EQ(lines, header->entries);
    EXPECT_EQ(together, places_of(whole->triplets));
  }
}

TEST(MatrixMarket, RefusesInOneLineWhatItCannotRead) {
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<std::pair<std::string, std::string>> refused{
      {"", "line 1: is not \"%%MatrixMarket"},
      {"1 1 1\n1 1 1\n", "line 1: is not \"%%MatrixMarket"},
      {"%%MatrixMarket matrix array real general\n", "\"array\" is not accepted here, but coordinate"},
      {"%%MatrixMarket matrix coordinate complex general\n",
       "\"complex\" is not accepted here, but real, integer, pattern"},
      {"%%MatrixMarket matrix coordinate real hermitian\n",
       "\"hermitian\" is not accepted here, but general, symmetric"},
      {real, "ends before the line with its rows"},
      {real + "% only\n", "ends before the line with its rows"},
      {real + "2 2\n", "line 2: should have three numbers"},
      {real + "2 2 x\n", "line 2: \"x\" is not a whole number"},
      {real + "2 2 -1\n", "\"-1\" is not a whole number from 0"},
      {real + "2 2 99999999999999999999\n", "is not a whole number"},
      {real + "2 3 1\n1 1 1\n", "2 rows and 3 columns; only square"},
      {real + "0 0 0\n", "0 rows"},
      {real + "9000000000000 9000000000000 1\n1 1 1\n", "rows; from 1 to 1e+12"},
      {real + "2 2 0\n", "promises no entries"},
      {real + "2 2 1000000\n1 1 1\n", "line 2: promises 1000000 entries, and 6 B follow"},
      {real + "2 2 9223372036854775807\n1 1 1\n", "can't hold them"},
      {real + "2 2 2\n1 1 1.0000000\n", "promises 2 entries and has 1"},
      {real + "2 2 1\n1 1 1\n2 2 1\n", "promises 1 entries and has 2"},
      {real + "2 2 1\n\n% c\n3 1 1\n", "line 5: row \"3\" is not a whole number from 1 to 2"},
      {real + "2 2 1\n1 0 1\n", "line 3: column \"0\" is not a whole number from 1 to 2"},
      {real + "2 2 1\n1 1\n", "line 3: should have three numbers"},
      {real + "2 2 1\n1 1 1 1\n", "line 3: should have three numbers"},
      {real + "2 2 1\n1 1 nan\n", "value \"nan\" is not a finite number"},
      {real + "2 2 1\n1 1 1e999\n", "value \"1e999\" is not a finite number"},
      {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", "value \"1.5\" is not a whole number"},
      {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n", "should have two numbers"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "line 3: is above the diagonal"},
      {real + "2 2 1\n1 1 " + std::string(3000, '1') + "\n", "line 3: is longer than the 1024 characters"},
      {std::string(3000, '%'), "line 1: is longer than the 1024 characters"},
  };
  for (const auto& [text, message] : refused) {
    const std::string error = error_of(text);
    EXPECT_THAT(error, HasSubstr(message)) << text.substr(0, 200);
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(MatrixMarket, RefusesWhatIsNoFile) {
  const WrittenFile folder;
  EXPECT_THAT(read_market_header(folder.path()).error().message, HasSubstr("can't be read: No such file"));
  ASSERT_EQ(mkfifo(folder.path().c_str(), 0600), 0);
  EXPECT_THAT(read_market_header(folder.path()).error().message, HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace idlewave::sparse

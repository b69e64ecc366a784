#include "monitor/term/input_decoder.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <random>

namespace idlewave::term {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using view::Key;
using view::key_of;
using view::KeyCode;

std::vector<Key> keys_of(std::string_view bytes) {
  InputDecoder decoder;
  std::vector<Key> keys = decoder.feed(bytes);
  for (const Key& key : decoder.settle()) keys.push_back(key);
  return keys;
}

struct Sent {
  std::string_view bytes;
  Key key;
};

void PrintTo(const Sent& sent, std::ostream* out) { *out << testing::PrintToString(std::string(sent.bytes)); }

class KnownKey : public testing::TestWithParam<Sent> {};

TEST_P(KnownKey, ArrivesWhole) { EXPECT_THAT(keys_of(GetParam().bytes), ElementsAre(GetParam().key)); }

TEST_P(KnownKey, ArrivesByteByByte) {
  InputDecoder decoder;
  std::vector<Key> keys;
  for (const char byte : GetParam().bytes)
    for (const Key& key : decoder.feed(std::string_view(&byte, 1))) keys.push_back(key);
  for (const Key& key : decoder.settle()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre(GetParam().key));
}

Key mouse(KeyCode code, int x, int y) { return {.code = code, .x = x, .y = y}; }
Key control(char32_t letter) { return {.character = letter, .control = true}; }

INSTANTIATE_TEST_SUITE_P(
    Terminals, KnownKey,
    testing::Values(Sent{"q", key_of(U'q')}, Sent{"?", key_of(U'?')}, Sent{" ", key_of(U' ')}, Sent{"é", key_of(U'é')},
                    Sent{"€", key_of(U'€')}, Sent{"😀", key_of(U'😀')}, Sent{"\r", key_of(KeyCode::kEnter)},
                    Sent{"\n", key_of(KeyCode::kEnter)}, Sent{"\x1bOM", key_of(KeyCode::kEnter)},
                    Sent{"\x1b", key_of(KeyCode::kEscape)}, Sent{"\t", key_of(KeyCode::kTab)},
                    Sent{"\x1b[Z", key_of(KeyCode::kBackTab)}, Sent{"\x7f", key_of(KeyCode::kBackspace)},
                    Sent{"\b", key_of(KeyCode::kBackspace)}, Sent{"\x1b[3~", key_of(KeyCode::kDelete)},
                    Sent{"\x1b[A", key_of(KeyCode::kUp)}, Sent{"\x1bOA", key_of(KeyCode::kUp)},
                    Sent{"\x1b[B", key_of(KeyCode::kDown)}, Sent{"\x1b[C", key_of(KeyCode::kRight)},
                    Sent{"\x1b[D", key_of(KeyCode::kLeft)}, Sent{"\x1b[5~", key_of(KeyCode::kPageUp)},
                    Sent{"\x1b[6~", key_of(KeyCode::kPageDown)}, Sent{"\x1b[H", key_of(KeyCode::kHome)},
                    Sent{"\x1b[1~", key_of(KeyCode::kHome)}, Sent{"\x1b[7~", key_of(KeyCode::kHome)},
                    Sent{"\x1b[F", key_of(KeyCode::kEnd)}, Sent{"\x1bOF", key_of(KeyCode::kEnd)},
                    Sent{"\x1b[4~", key_of(KeyCode::kEnd)}, Sent{"\x01", control(U'a')}, Sent{"\x0c", control(U'l')},
                    Sent{"\x1b[1;5C", Key{.code = KeyCode::kRight, .control = true}},
                    Sent{"\x1b[1;2A", key_of(KeyCode::kUp)}, Sent{"\x1b[<0;12;5M", mouse(KeyCode::kMousePress, 11, 4)},
                    Sent{"\x1b[<0;399;120M", mouse(KeyCode::kMousePress, 398, 119)},
                    Sent{"\x1b[<64;1;1M", mouse(KeyCode::kWheelUp, 0, 0)},
                    Sent{"\x1b[<65;2;3M", mouse(KeyCode::kWheelDown, 1, 2)}));

class NoKey : public testing::TestWithParam<std::string_view> {};

TEST_P(NoKey, IsSwallowedWholeAndTheNextKeyArrives) {
  EXPECT_THAT(keys_of(std::string(GetParam()) + "q"), ElementsAre(key_of(U'q')));
}

INSTANTIATE_TEST_SUITE_P(Noise, NoKey,
                         testing::Values("\x1b[15~", "\x1b[1;5P", "\x1bOP", "\x1b[[A", "\x1b[200~", "\x1b[I",
                                         "\x1b[?1;2c", "\x1b[<0;12;5m", "\x1b[<32;12;5M", "\x1b[<0M", "\xff",
                                         "\xc0\x80", "\xed\xa0\x80", "\x1b[99999999999999999999~"));

TEST(InputDecoder, WaitsToTellTheEscapeKeyFromTheBeginningOfASequence) {
  InputDecoder decoder;
  EXPECT_THAT(decoder.feed("\x1b"), IsEmpty());
  EXPECT_TRUE(decoder.undecided());
  EXPECT_THAT(decoder.settle(), ElementsAre(key_of(KeyCode::kEscape)));
  EXPECT_FALSE(decoder.undecided());
}

TEST(InputDecoder, TellsEscapeFromTheLetterAfterIt) {
  EXPECT_THAT(keys_of("\x1bq"), ElementsAre(key_of(KeyCode::kEscape), key_of(U'q')));
}

TEST(InputDecoder, ForgetsASequenceThatNeverEnds) {
  InputDecoder decoder;
  decoder.feed("\x1b[" + std::string(1000, '1'));
  decoder.settle();
  EXPECT_THAT(decoder.feed("q"), ElementsAre(key_of(U'q')));
}

TEST(InputDecoder, GivesTheSameKeysHoweverTheBytesAreCut) {
  const auto seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  static constexpr std::string_view kBytes = "\x1b\x1b\x1b[[[O<;0159ABMmq~\xc3\xa9\xe2\x82\xac\xff\r";
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 40, ' ');
    for (char& byte : bytes) byte = kBytes[random() % kBytes.size()];
    InputDecoder whole, cut;
    const std::vector<Key> expected = whole.feed(bytes);
    std::vector<Key> keys;
    for (const char byte : bytes)
      for (const Key& key : cut.feed(std::string_view(&byte, 1))) keys.push_back(key);
    ASSERT_EQ(keys, expected) << testing::PrintToString(bytes);
    ASSERT_EQ(cut.settle(), whole.settle());
  }
}

}  // namespace
}  // namespace idlewave::term

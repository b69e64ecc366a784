#include "monitor/term/row_shift.h"

#include <gmock/gmock.h>

#include "pictures.h"

namespace idlewave::term {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using view::paint::Canvas;
using view::paint::Ink;

Canvas line(std::string_view text) {
  Canvas canvas({40, 2});
  canvas.text(0, 1, text, Ink::kText);
  return canvas;
}

TEST(RowShift, FindsTheRowThatMovedAndHowFar) {
  EXPECT_THAT(find_shifts(line("abcdefghijklmnop|panel"), line("cdefghijklmnopxy|panel")),
              ElementsAre(RowShift{1, 0, 16, 2}));
}

TEST(RowShift, FindsNothingInAPictureThatStands) {
  EXPECT_THAT(find_shifts(line("abcdefgh"), line("abcdefgh")), IsEmpty());
}

TEST(RowShift, LeavesAFewChangedCellsToBeWritten) {
  EXPECT_THAT(find_shifts(line("abcdefgh"), line("abcxefgh")), IsEmpty());
}

TEST(RowShift, LeavesAPictureThatIsNewAltogetherToBeWritten) {
  EXPECT_THAT(find_shifts(line("abcdefghijklmnop"), line("0123456789012345")), IsEmpty());
}

TEST(RowShift, MovesEveryRowOfAScrollingHeatMap) {
  const auto shifts = find_shifts(heat_map({100, 20}, 0), heat_map({100, 20}, 1));
  EXPECT_EQ(shifts.size(), 19U);
}

TEST(RowShift, SaysNothingToTheTerminalWithoutShifts) { EXPECT_EQ(shift_sequence({}), ""); }

TEST(RowShift, DeletesOnTheLeftAndInsertsOnTheRight) {
  EXPECT_EQ(shift_sequence({{1, 0, 16, 2}}),
            "\x1b"
            "7\x1b[m\x1b[2;1H\x1b[2P\x1b[2;15H\x1b[2@\x1b"
            "8");
}

}  // namespace
}  // namespace idlewave::term

#include "monitor/term/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace idlewave::term {
namespace {

using view::ColourDepth;
using view::paint::Cell;
using view::paint::Ink;

constexpr std::array kWaits{Ink::kWait0, Ink::kWait1, Ink::kWait2, Ink::kWait3,
                            Ink::kWait4, Ink::kWait5, Ink::kWait6, Ink::kWait7};

int colour(Ink ink, ColourDepth depth = ColourDepth::kIndexed256) { return paint_of({.fg = ink}, depth).fg; }

double lightness_of(Ink ink, ColourDepth depth = ColourDepth::kIndexed256) {
  return lightness(rgb_of(colour(ink, depth)));
}

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

constexpr Matrix kAllCones{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
// Viénot, Brettel and Mollon, "Digital video colourmaps for checking the legibility of displays by dichromats" (1999),
// linear RGB.
constexpr Matrix kNoRedCones{{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}};
constexpr Matrix kNoGreenCones{{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};

Triple times(const Matrix& matrix, const Triple& v) {
  Triple out{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column) out[row] += matrix[row][column] * v[column];
  return out;
}

double linear(double value) { return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); }

/// CIE L*a*b* under D65 of what an eye sees.
Triple lab(Rgb rgb, const Matrix& eye) {
  const Triple seen = times(eye, {linear(rgb.red / 255.0), linear(rgb.green / 255.0), linear(rgb.blue / 255.0)});
  constexpr Matrix kXyz{{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}};
  const Triple xyz = times(kXyz, seen);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f(xyz[0] / 0.9505), y = f(xyz[1]), z = f(xyz[2] / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/// CIE 1976 colour difference; 2.3 is just noticeable side by side.
double difference(Ink a, Ink b, const Matrix& eye) {
  const Triple p = lab(rgb_of(colour(a)), eye), q = lab(rgb_of(colour(b)), eye);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

TEST(Palette, GrowsLighterWithTheShareOfWaiting) {
  for (std::size_t i = 1; i < kWaits.size(); ++i)
    EXPECT_GT(lightness_of(kWaits[i]), lightness_of(kWaits[i - 1]) + 5) << i;
}

TEST(Palette, NeverGrowsDarkerWithTheShareOfWaitingInEightColours) {
  for (std::size_t i = 1; i < kWaits.size(); ++i)
    EXPECT_GE(lightness_of(kWaits[i], ColourDepth::kEight), lightness_of(kWaits[i - 1], ColourDepth::kEight)) << i;
}

TEST(Palette, KeepsComputeCalmerThanAnyWait) { EXPECT_LT(lightness_of(Ink::kCompute), lightness_of(Ink::kWait0)); }

TEST(Palette, KeepsADelayApartFromEveryShadeForEveryEye) {
  for (const Matrix& eye : {kAllCones, kNoRedCones, kNoGreenCones}) {
    for (const Ink wait : kWaits) EXPECT_GT(difference(Ink::kDelay, wait, eye), 25);
    EXPECT_GT(difference(Ink::kDelay, Ink::kCompute, eye), 25);
  }
}

TEST(Palette, ShowsNoDataInNoneOfTheColoursOfData) {
  for (const ColourDepth depth : {ColourDepth::kIndexed256, ColourDepth::kEight}) {
    for (const Ink wait : kWaits) EXPECT_NE(colour(Ink::kNoData, depth), colour(wait, depth));
    EXPECT_NE(colour(Ink::kNoData, depth), colour(Ink::kDelay, depth));
    EXPECT_NE(colour(Ink::kNoData, depth), colour(Ink::kCompute, depth));
  }
}

TEST(Palette, TellsADelayFromWaitingInEightColours) {
  for (const Ink wait : kWaits) EXPECT_NE(colour(Ink::kDelay, ColourDepth::kEight), colour(wait, ColourDepth::kEight));
}

TEST(Palette, KeepsTextReadableOnEveryBackgroundOfOurs) {
  for (const ColourDepth depth : {ColourDepth::kIndexed256, ColourDepth::kEight})
    for (int ink = 0; ink < view::paint::kInks; ++ink) {
      const Paint paint = paint_of({.fg = Ink::kText, .bg = static_cast<Ink>(ink)}, depth);
      if (paint.bg == kTerminalsOwn) continue;
      ASSERT_NE(paint.fg, kTerminalsOwn);
      EXPECT_GT(std::abs(lightness(rgb_of(paint.fg)) - lightness(rgb_of(paint.bg))), 35) << "ink " << ink;
    }
}

double luminance(Rgb c) {
  return 0.2126 * linear(c.red / 255.0) + 0.7152 * linear(c.green / 255.0) + 0.0722 * linear(c.blue / 255.0);
}

/// WCAG 2.1, contrast ratio.
double contrast(double a, double b) { return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05); }

TEST(Palette, WritesReadablyOnBlackAndOnWhiteTerminals) {
  for (const ColourDepth depth : {ColourDepth::kIndexed256, ColourDepth::kEight})
    for (const Ink ink :
         {Ink::kText, Ink::kDim, Ink::kStrong, Ink::kTitle, Ink::kKeyHint, Ink::kCursor, Ink::kWarning, Ink::kError,
          Ink::kGood, Ink::kNoData, Ink::kActive, Ink::kSaturation, Ink::kBandwidth, Ink::kWaveMark, Ink::kLesson}) {
      const Paint paint = paint_of({.fg = ink}, depth);
      if (paint.fg == kTerminalsOwn) continue;
      for (const double ground : {0.0, 1.0})
        EXPECT_GE(contrast(luminance(rgb_of(paint.fg)), ground), 3) << "ink " << int(ink) << " on " << ground;
    }
}

TEST(Palette, KeepsTheCursorApartFromEveryCellThatItStandsOn) {
  for (const ColourDepth depth : {ColourDepth::kIndexed256, ColourDepth::kEight})
    for (int ground = int(Ink::kCompute); ground <= int(Ink::kOther); ++ground)
      for (const Ink mark : {Ink::kCursor, Ink::kWaveMark, Ink::kWarning}) {
        const Paint paint = paint_of({.fg = mark, .bg = Ink(ground)}, depth);
        if (paint.bg == kTerminalsOwn) continue;
        EXPECT_GT(std::abs(lightness(rgb_of(paint.fg)) - lightness(rgb_of(paint.bg))), 35) << ground;
      }
}

TEST(Palette, KeepsFullWaitingFromVanishingIntoTheGroundOfAWhiteTerminalOfEightColours) {
  EXPECT_GT(contrast(luminance(rgb_of(colour(Ink::kWait7, ColourDepth::kEight))), 1), 1.5);
}

TEST(Palette, UsesNoColourAtAllWithoutColours) {
  for (int ink = 0; ink < view::paint::kInks; ++ink) {
    const Paint paint = paint_of({.fg = static_cast<Ink>(ink), .bg = static_cast<Ink>(ink)}, ColourDepth::kNone);
    EXPECT_EQ(paint.fg, kTerminalsOwn);
    EXPECT_EQ(paint.bg, kTerminalsOwn);
  }
}

TEST(Palette, StaysWithinTheEightColours) {
  for (int ink = 0; ink < view::paint::kInks; ++ink) {
    const Paint paint = paint_of({.fg = static_cast<Ink>(ink), .bg = static_cast<Ink>(ink)}, ColourDepth::kEight);
    EXPECT_LT(paint.fg, 8);
    EXPECT_LT(paint.bg, 8);
  }
}

TEST(Palette, KnowsTheColoursOfXterm) {
  EXPECT_EQ(rgb_of(16), (Rgb{0, 0, 0}));
  EXPECT_EQ(rgb_of(166), (Rgb{215, 95, 0}));
  EXPECT_EQ(rgb_of(231), (Rgb{255, 255, 255}));
  EXPECT_EQ(rgb_of(232), (Rgb{8, 8, 8}));
}

TEST(Palette, MeasuresLightnessFromBlackToWhite) {
  EXPECT_NEAR(lightness({0, 0, 0}), 0, 1e-9);
  EXPECT_NEAR(lightness({255, 255, 255}), 100, 1e-9);
  EXPECT_NEAR(lightness({119, 119, 119}), 50, 0.5);  // the middle grey of sRGB
}

}  // namespace
}  // namespace idlewave::term

#include "monitor/term/palette.h"

#include <array>
#include <cassert>
#include <cmath>

namespace idlewave::term {
namespace {

using view::ColourDepth;
using view::paint::Ink;

enum Attribute : std::uint8_t { kPlain = 0, kBold = 1, kDim = 2, kUnderline = 4, kReverse = 8 };

/// As a foreground and as a background an ink may need different colours: a background lies under text.
struct Shades {
  std::int16_t fg256, bg256;
  std::int8_t fg8, bg8;
  std::uint8_t always;  ///< Attributes of the foreground at every depth.
  std::uint8_t plain;   ///< Attributes of the foreground where there are no colours.
  std::uint8_t under;   ///< Attributes of the background where there are no colours.
};

/// Categories follow Okabe and Ito, "Color Universal Design" (2008), in their nearest 256-colour indices: orange 214,
/// sky 74, green 36, yellow 227, blue 32, vermillion 166. Waiting is viridis, picked by hand so that lightness rises at
/// every step. Vermillion is the category that stays apart from every shade of it, also to eyes without red or green
/// cones (tests/term/palette_test.cpp).
/// What is written on the terminal's own ground, which may be black or white, is of a middle lightness or in the
/// terminal's own colour: no colour of the eight that is not red is readable on both. All of waiting is not white
/// there, or it would vanish into the ground of a white terminal.
constexpr Shades shades_of(Ink ink) {
  switch (ink) {
    case Ink::kDefault: return {-1, -1, -1, -1, kPlain, kPlain, kPlain};
    case Ink::kText: return {-1, -1, -1, -1, kPlain, kPlain, kPlain};
    case Ink::kDim: return {244, 238, -1, -1, kPlain, kDim, kPlain};
    case Ink::kStrong: return {-1, 238, -1, -1, kBold, kBold, kPlain};
    case Ink::kTitle: return {31, 236, -1, 4, kBold, kBold, kReverse};
    case Ink::kKeyHint: return {136, 236, -1, -1, kPlain, kBold, kPlain};
    case Ink::kCursor: return {33, 24, -1, 4, kBold, kReverse, kReverse};
    case Ink::kWarning: return {166, 94, 1, 3, kBold, kBold, kReverse};
    case Ink::kError: return {196, 88, 1, 1, kBold, kBold, kReverse};
    case Ink::kGood: return {29, 22, -1, 2, kPlain, kBold, kPlain};
    case Ink::kCompute: return {235, 235, 0, 0, kPlain, kPlain, kPlain};
    case Ink::kWait0: return {53, 53, 4, 4, kPlain, kPlain, kPlain};
    case Ink::kWait1: return {90, 90, 4, 4, kPlain, kPlain, kPlain};
    case Ink::kWait2: return {60, 60, 4, 4, kPlain, kPlain, kPlain};
    case Ink::kWait3: return {30, 30, 6, 6, kPlain, kPlain, kPlain};
    case Ink::kWait4: return {36, 36, 6, 6, kPlain, kPlain, kPlain};
    case Ink::kWait5: return {42, 42, 6, 6, kPlain, kPlain, kPlain};
    case Ink::kWait6: return {184, 184, 3, 3, kPlain, kBold, kPlain};
    case Ink::kWait7: return {226, 226, 3, 3, kPlain, kBold, kPlain};
    case Ink::kDelay: return {166, 166, 5, 5, kPlain, kBold, kReverse};
    case Ink::kOther: return {240, 240, -1, -1, kPlain, kDim, kPlain};
    case Ink::kNoData: return {244, -1, -1, -1, kPlain, kDim, kPlain};
    case Ink::kActive: return {32, 32, -1, 6, kPlain, kBold, kReverse};
    case Ink::kSaturation: return {166, 166, 1, 3, kBold, kBold, kReverse};
    case Ink::kBandwidth: return {29, 29, -1, 2, kPlain, kBold, kReverse};
    case Ink::kWaveMark: return {231, 32, 7, 4, kBold, kBold, kReverse};
    case Ink::kLesson: return {31, 236, -1, -1, kPlain, kPlain, kPlain};
  }
  return {-1, -1, -1, -1, kPlain, kPlain, kPlain};
}

template <std::size_t... index>
constexpr auto all_shades(std::index_sequence<index...>) {
  return std::array{shades_of(static_cast<Ink>(index))...};
}
constexpr auto kShades = all_shades(std::make_index_sequence<view::paint::kInks>{});

const Shades& shades(Ink ink) { return kShades[static_cast<std::size_t>(ink)]; }

void add_attributes(Paint& paint, unsigned attributes) {
  paint.bold |= (attributes & kBold) != 0;
  paint.dim |= (attributes & kDim) != 0;
  paint.underline |= (attributes & kUnderline) != 0;
  paint.reverse |= (attributes & kReverse) != 0;
}

constexpr int kLightText256 = 255;
constexpr int kDarkText256 = 16;

/// Text in the terminal's own colour on a background of ours would be dark on dark where the terminal is light.
int readable_on(int background, ColourDepth depth) {
  const bool light = lightness(rgb_of(background)) > 50;
  if (depth == ColourDepth::kEight) return light ? 0 : 7;
  return light ? kDarkText256 : kLightText256;
}

bool is_text(Ink ink) { return ink <= Ink::kGood || ink == Ink::kWaveMark; }

/// Less than this apart in lightness, text can't be told from its ground.
constexpr double kReadable = 35;

bool is_readable(int colour, int background) {
  return std::abs(lightness(rgb_of(colour)) - lightness(rgb_of(background))) > kReadable;
}

/// xterm's first sixteen.
constexpr std::array<Rgb, 16> kNamed{{{0, 0, 0},
                                      {205, 0, 0},
                                      {0, 205, 0},
                                      {205, 205, 0},
                                      {0, 0, 238},
                                      {205, 0, 205},
                                      {0, 205, 205},
                                      {229, 229, 229},
                                      {127, 127, 127},
                                      {255, 0, 0},
                                      {0, 255, 0},
                                      {255, 255, 0},
                                      {92, 92, 255},
                                      {255, 0, 255},
                                      {0, 255, 255},
                                      {255, 255, 255}}};

std::uint8_t cube_level(int step) { return static_cast<std::uint8_t>(step == 0 ? 0 : 55 + 40 * step); }

double linear(std::uint8_t value) {
  const double v = value / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

}  // namespace

Paint paint_of(const view::paint::Cell& cell, ColourDepth depth) {
  const Shades& fg = shades(cell.fg);
  const Shades& bg = shades(cell.bg);
  Paint paint{.bold = cell.bold, .reverse = cell.reverse};
  add_attributes(paint, fg.always);
  if (depth == ColourDepth::kNone) {
    add_attributes(paint, fg.plain | bg.under);
    return paint;
  }
  const bool indexed = depth == ColourDepth::kIndexed256;
  paint.fg = indexed ? fg.fg256 : fg.fg8;
  paint.bg = indexed ? bg.bg256 : bg.bg8;
  if (cell.fg == Ink::kWaveMark && paint.bg == kTerminalsOwn) paint.fg = kTerminalsOwn;
  if (paint.bg != kTerminalsOwn && is_text(cell.fg) && (paint.fg == kTerminalsOwn || !is_readable(paint.fg, paint.bg)))
    paint.fg = readable_on(paint.bg, depth);
  if (paint.fg == kTerminalsOwn) add_attributes(paint, fg.plain);
  return paint;
}

Rgb rgb_of(int index) {
  assert(index >= 0 && index < 256);
  if (index < 16) return kNamed[static_cast<std::size_t>(index)];
  if (index < 232) {
    const int cube = index - 16;
    return {cube_level(cube / 36), cube_level(cube / 6 % 6), cube_level(cube % 6)};
  }
  const auto grey = static_cast<std::uint8_t>(8 + 10 * (index - 232));
  return {grey, grey, grey};
}

double lightness(Rgb colour) {
  const double y = 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
  return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : y * 24389 / 27;
}

}  // namespace idlewave::term

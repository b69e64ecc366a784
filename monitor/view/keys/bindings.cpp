#include "monitor/view/keys/bindings.h"

#include <algorithm>

#include "monitor/view/keys/actions.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/panels.h"

namespace idlewave::view::keys {

namespace {

std::vector<Key> keys_of(std::u32string_view characters) {
  std::vector<Key> keys;
  for (const char32_t c : characters) keys.push_back(key_of(c));
  return keys;
}

std::vector<Key> keys_of(std::u32string_view characters, KeyCode code) {
  auto keys = keys_of(characters);
  keys.push_back(key_of(code));
  return keys;
}

bool may_clear(const SessionInfo& session) { return may_hold(session) || !wire::forbids_clearing(*session.no_command); }

bool may_record(const SessionInfo& session) {
  return !session.replay && !(session.host_records && session.no_command == wire::NoCommand::kSpectator);
}

bool may_leave(const SessionInfo& session) { return session.can_detach; }

std::vector<Binding> keys_and_mouse() {
  return {
      {keys_of(U"q"), "q", "quit, end what this started", "quit", actions::quit},
      {keys_of(U"d"), "d", "leave; the program goes on", "", actions::detach, may_leave},
      {keys_of(U"?"), "?", "this help", "help", actions::help},
      {keys_of(U"i"), "i", "delay the rank at the cursor", "inject", actions::inject, may_hold},
      {keys_of(U" "), "space", "pause, resume the view", "pause", actions::pause},
      {keys_of(U"h", KeyCode::kLeft), "← h", "earlier", "", actions::earlier},
      {keys_of(U"l", KeyCode::kRight), "→ l", "later", "", actions::later},
      {keys_of(U"k", KeyCode::kUp), "↑ k", "rank above; scroll a panel", "", actions::up},
      {keys_of(U"j", KeyCode::kDown), "↓ j", "rank below; scroll a panel", "", actions::down},
      {keys_of(U"", KeyCode::kPageUp), "PgUp", "half a screen earlier", "", actions::page_earlier},
      {keys_of(U"", KeyCode::kPageDown), "PgDn", "half a screen later", "", actions::page_later},
      {keys_of(U"", KeyCode::kHome), "Home", "oldest that is kept", "", actions::oldest},
      {keys_of(U"f", KeyCode::kEnd), "f End", "follow the newest", "follow", actions::follow},
      {keys_of(U"a"), "a", "columns are time, or steps", "axis", actions::axis},
      {keys_of(U"t"), "t", "a line for each thread", "", actions::threads},
      {keys_of(U"G"), "G", "where ranks leave the model", "", actions::ghost},
      {keys_of(U"+=", KeyCode::kWheelUp), "+ wheel ↑", "zoom in time: finer", "", actions::finer},
      {keys_of(U"-", KeyCode::kWheelDown), "- wheel ↓", "zoom in time: coarser", "", actions::coarser},
      {keys_of(U"["), "[", "zoom in ranks: more of them", "", actions::more_ranks},
      {keys_of(U"]"), "]", "zoom in ranks: fewer of them", "", actions::fewer_ranks},
      {keys_of(U"w"), "w", "to the next wave", "wave", actions::next_wave},
      {keys_of(U"g"), "g", "go to a time, rank or step", "go to", actions::go_to},
      {keys_of(U"/"), "/", "show only some ranks", "filter", actions::filter},
      {keys_of(U"", KeyCode::kTab), "Tab", "next panel", "", actions::next_panel},
      {keys_of(U"", KeyCode::kBackTab), "S-Tab", "panel before", "", actions::previous_panel},
      {keys_of(U"", KeyCode::kEnter), "Enter", "lesson: answer, next page", "", actions::lesson_on},
      {keys_of(U"", KeyCode::kBackspace), "Backsp", "lesson: page before", "", actions::lesson_back},
      {keys_of(U"L"), "L", "lesson: all of the page", "", actions::lesson_page},
      {keys_of(U"n"), "n", "noise in all ranks", "noise", actions::noise, may_hold},
      {keys_of(U"c"), "c", "let ranks go on, end noise", "clear", actions::clear, may_clear},
      {keys_of(U"m"), "m", "mark this moment", "", actions::mark},
      {keys_of(U"r"), "r", "start, stop recording", "record", actions::record, may_record},
      {keys_of(U"s"), "s", "save the screen as text", "save", actions::save},
      {keys_of(U"", KeyCode::kMousePress), "click", "move the cursor there", "", actions::click},
  };
}

/// Panels stand beside the key that goes through them, in the order of their own keys.
std::vector<Binding> table() {
  std::vector<Binding> out = keys_and_mouse();
  auto at =
      std::find_if(out.begin(), out.end(), [](const Binding& binding) { return binding.act == actions::next_panel; });
  std::vector<layout::Panel> by_key(panels::all_panels().begin(), panels::all_panels().end());
  std::ranges::sort(by_key, {}, &layout::Panel::key);
  for (const layout::Panel& panel : by_key) {
    std::string shown;
    paint::append_utf8(shown, panel.key);
    at = out.insert(
             at,
             {{key_of(panel.key)}, std::move(shown), "to the panel: " + std::string(panel.name), "", actions::focus}) +
         1;
  }
  return out;
}

bool same_key(const Key& a, const Key& b) {
  return a.code == b.code && a.character == b.character && a.control == b.control;
}

}  // namespace

std::span<const Binding> bindings() {
  static const std::vector<Binding> kTable = table();
  return kTable;
}

const Binding* binding_of(const Key& key) {
  for (const Binding& binding : bindings()) {
    const auto is_it = [&key](const Key& k) { return same_key(k, key); };
    if (std::any_of(binding.keys.begin(), binding.keys.end(), is_it)) return &binding;
  }
  return nullptr;
}

}  // namespace idlewave::view::keys

#pragma once
// What each key does. One function for each binding.

#include "monitor/view/layout/turn.h"

namespace idlewave::view::keys::actions {

void quit(layout::Turn& turn);
void detach(layout::Turn& turn);
void help(layout::Turn& turn);
void pause(layout::Turn& turn);
void earlier(layout::Turn& turn);
void later(layout::Turn& turn);
void up(layout::Turn& turn);
void down(layout::Turn& turn);
void page_earlier(layout::Turn& turn);
void page_later(layout::Turn& turn);
void oldest(layout::Turn& turn);
void follow(layout::Turn& turn);
void axis(layout::Turn& turn);
void ghost(layout::Turn& turn);
void threads(layout::Turn& turn);
void finer(layout::Turn& turn);
void coarser(layout::Turn& turn);
void more_ranks(layout::Turn& turn);
void fewer_ranks(layout::Turn& turn);
void next_wave(layout::Turn& turn);
void go_to(layout::Turn& turn);
void filter(layout::Turn& turn);
void focus(layout::Turn& turn);
void next_panel(layout::Turn& turn);
void previous_panel(layout::Turn& turn);
void lesson_on(layout::Turn& turn);
void lesson_back(layout::Turn& turn);
void lesson_page(layout::Turn& turn);
void inject(layout::Turn& turn);
void noise(layout::Turn& turn);
void clear(layout::Turn& turn);
void mark(layout::Turn& turn);
void record(layout::Turn& turn);
void save(layout::Turn& turn);
void click(layout::Turn& turn);

}  // namespace idlewave::view::keys::actions

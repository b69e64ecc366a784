#pragma once
// What each key does. One function for each binding.

#include "monitor/view/turn.h"

namespace idlewave::view::actions {

void quit(Turn& turn);
void detach(Turn& turn);
void help(Turn& turn);
void pause(Turn& turn);
void earlier(Turn& turn);
void later(Turn& turn);
void up(Turn& turn);
void down(Turn& turn);
void page_earlier(Turn& turn);
void page_later(Turn& turn);
void oldest(Turn& turn);
void follow(Turn& turn);
void axis(Turn& turn);
void ghost(Turn& turn);
void threads(Turn& turn);
void finer(Turn& turn);
void coarser(Turn& turn);
void more_ranks(Turn& turn);
void fewer_ranks(Turn& turn);
void next_wave(Turn& turn);
void go_to(Turn& turn);
void filter(Turn& turn);
void focus(Turn& turn);
void next_panel(Turn& turn);
void previous_panel(Turn& turn);
void lesson_on(Turn& turn);
void lesson_back(Turn& turn);
void lesson_page(Turn& turn);
void inject(Turn& turn);
void noise(Turn& turn);
void clear(Turn& turn);
void mark(Turn& turn);
void record(Turn& turn);
void save(Turn& turn);
void click(Turn& turn);

}  // namespace idlewave::view::actions

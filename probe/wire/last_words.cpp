#include "probe/wire/last_words.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace idlewave::wire {

std::string last_words() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "there is not enough memory; free some, or give it less to do";
  } catch (const std::length_error&) {
    return "this would need more memory than any machine has; give it less to do";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "ended by an error without a name";
  }
}

}  // namespace idlewave::wire

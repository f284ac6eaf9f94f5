#include "congestion/controls/controls.h"

#include <array>

#include "congestion/controls/dctcp.h"
#include "congestion/controls/fixed_window.h"

namespace weft::congestion {

std::span<const Control> controls() {
  static const std::array list{dctcp(), fixed_window()};
  return list;
}

}  // namespace weft::congestion

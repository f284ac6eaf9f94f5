#include "congestion/controls/controls.h"

#include <array>

#include "congestion/controls/bolt.h"
#include "congestion/controls/dctcp.h"
#include "congestion/controls/fixed_window.h"
#include "congestion/controls/hpcc.h"
#include "congestion/controls/powertcp.h"
#include "congestion/controls/smartt.h"
#include "congestion/controls/strack.h"
#include "congestion/controls/uno.h"

namespace weft::congestion {

std::span<const Control> controls() {
  // The first is the default; the others in the order of their names.
  static const std::array list{dctcp(),    bolt(),   fixed_window(), hpcc(),
                               powertcp(), smartt(), strack(),       uno()};
  return list;
}

}  // namespace weft::congestion

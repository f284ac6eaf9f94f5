#include "congestion/controls/controls.h"

#include <array>

#include "congestion/controls/bbr.h"
#include "congestion/controls/cubic.h"
#include "congestion/controls/dcqcn.h"
#include "congestion/controls/dctcp.h"
#include "congestion/controls/fixed_window.h"
#include "congestion/controls/mprdma.h"
#include "congestion/controls/newreno.h"
#include "congestion/controls/swift.h"
#include "congestion/controls/timely.h"

namespace weft::congestion {

// The first one is the default; the others by name.
std::span<const Control> controls() {
  static const std::array list{
      dctcp(),         //
      bbr(),           //
      cubic(),         //
      dcqcn(),         //
      fixed_window(),  //
      mprdma(),        //
      newreno(),       //
      swift(),         //
      timely(),        //
  };
  return list;
}

}  // namespace weft::congestion

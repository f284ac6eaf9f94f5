#include "sim/units/xml_text.h"

#include <catch2/catch.hpp>

namespace weft {

TEST_CASE("XML: what would be markup, what is no UTF-8, and characters that there are none of") {
  CHECK(xml_text("a<b>&\"c'\x01") == "a&lt;b&gt;&amp;&quot;c&apos;?");
  CHECK(xml_text("gr\xFC\xC3\xBC \xEF\xBF\xBF") == "gr?\xC3\xBC ???");
  CHECK(fits_xml("gr\xC3\xBC <&>"));
  CHECK_FALSE(fits_xml("gr\xFC"));
  CHECK_FALSE(fits_xml("\x01"));
}

}  // namespace weft

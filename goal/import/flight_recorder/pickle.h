// Python pickles as JSON, as far as they are plain data.
#pragma once

#include <string>
#include <string_view>

namespace weft::goal {

// The value that a pickle (protocols 0 to 5; pickletools.py of CPython) holds, as JSON: dictionaries (without
// their "frames", which are stacks), lists, tuples and sets, texts, bytes, numbers, True, False and None.
// Lists of PyTorch's own pickler (torch.jit._pickle) are lists. Nothing is run: a pickle that names any other
// function or class is refused. Throws InputError with `name` and the byte.
std::string pickle_to_json(std::string_view pickle, const std::string& name);

}  // namespace weft::goal

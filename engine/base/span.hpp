#pragma once
/// Places in the user's text.

#include "engine/base/ids.hpp"

namespace pto {

PTO_ID(FileId);

/// A half-open range of byte offsets into one file of a SourceMap. An invalid file means "no place".
struct Span {
    FileId file;
    std::int32_t begin = 0, end = 0;
    bool valid() const { return file.valid(); }
    auto operator<=>(const Span&) const = default;
};

} // namespace pto

#pragma once
/// Where running work says how far it is and asks whether to stop. The engine never prints.

#include <atomic>
#include <string_view>

namespace pto {

class Sink {
  public:
    virtual ~Sink() = default;
    /// Text a program printed, in order.
    virtual void write(std::string_view text) = 0;
    /// Called at least every 50 ms by long work, on the calling thread; throwing or setting `cancelled` ends the work.
    virtual void poll() {}
    /// Worker threads look at this flag only.
    std::atomic<bool> cancelled{false};
};

} // namespace pto

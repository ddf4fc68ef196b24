#pragma once
/// A card through its runtime library, opened at run time: the same build runs where there is none. Never run on hardware so far;
/// tests play the card with a library of ours (tests/support/fake_runtime).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pto::backend {

/// Why a card does not do what it was asked. `kind` is what a person can act on:
///   absent      no library, no such device          driver   library and driver do not fit each other
///   busy        another process holds the card      dead     the card does not answer
///   permission  not allowed                         memory   the card's memory is full
///   fault       the kernel was stopped by the card  stalled  the card's own watchdog ended the kernel
///   other       anything else, in the runtime's words
struct Trouble {
    std::string kind;
    std::int64_t code = 0;
    std::string call;  // the runtime's function
    std::string said;  // what the runtime or the loader said about it
};

/// What a return code of the runtime means; "other" for codes nobody has named.
std::string kind_of_code(std::int64_t code, const std::string& said);
/// What the loader's complaint means: the library is absent, or there and unusable with this driver.
std::string kind_of_loader_error(const std::string& said);

class AscendRuntime {
  public:
    AscendRuntime() = default;
    AscendRuntime(const AscendRuntime&) = delete;
    ~AscendRuntime() { close(); }

    /// Opens the library and initialises it; no card is taken yet.
    std::optional<Trouble> open(const std::string& library);
    std::optional<Trouble> count(std::uint32_t& devices);
    /// Takes a card: from here on it is occupied by this process until close().
    std::optional<Trouble> take(std::int32_t device);
    /// Gives back everything: stream, card, library. Safe at any time.
    void close();

    std::string chip() const;              // "Ascend950PR"; empty when the library does not say
    std::string version() const;           // "1.15.0"
    bool fake() const { return m_fake; }   // our own library that plays a card
    void* stream() const { return m_stream; }

    std::optional<Trouble> allocate(void*& at, std::size_t bytes);
    void free(void* at);
    std::optional<Trouble> to_device(void* to, const void* from, std::size_t bytes);
    std::optional<Trouble> from_device(void* to, const void* from, std::size_t bytes);
    /// Waits for the stream. `running` is true when the time was up first: the kernel still occupies the card.
    std::optional<Trouble> wait(std::int32_t milliseconds, bool& running);

  private:
    struct Calls {
        int (*init)(const char*);
        int (*finalize)();
        int (*device_count)(std::uint32_t*);
        int (*set_device)(std::int32_t);
        int (*reset_device)(std::int32_t);
        const char* (*soc_name)();
        int (*create_stream)(void**);
        int (*destroy_stream)(void*);
        int (*malloc)(void**, std::size_t, int);
        int (*free)(void*);
        int (*memcpy)(void*, std::size_t, const void*, std::size_t, int);
        int (*synchronize)(void*, std::int32_t);
        const char* (*recent_message)();            // optional
        int (*version)(std::int32_t*, std::int32_t*, std::int32_t*); // optional
    };
    std::optional<Trouble> failed(const char* call, int code) const;

    void* m_library = nullptr;
    Calls m_calls{};
    bool m_initialised = false, m_fake = false;
    std::int32_t m_device = -1;
    void* m_stream = nullptr;
};

} // namespace pto::backend

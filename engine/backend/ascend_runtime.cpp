#include "engine/backend/ascend_runtime.hpp"

#include <dlfcn.h>

#include <utility>

namespace pto::backend {
namespace {

// Codes that tell causes apart. The 6-digit ones are the runtime's, the small ones its driver's (negative errno: 6 no such device, 16 busy).
struct CodeRow {
    std::int64_t code;
    const char* kind;
};
constexpr CodeRow codes[] = {
    {-6, "dead"},         {-16, "busy"},        {-13, "permission"},  {-1, "permission"},
    {107001, "absent"},   {207001, "memory"},   {207018, "memory"},   {207004, "dead"},    {207006, "permission"},
    {507010, "dead"},     {507033, "dead"},     {507053, "dead"},     {507054, "dead"},    {507056, "dead"},
    {507008, "driver"},   {507014, "stalled"},  {507034, "stalled"},  {507048, "stalled"},
    {507015, "fault"},    {507016, "fault"},    {507035, "fault"},    {507036, "fault"},   {507042, "fault"},
    {507043, "fault"},    {507044, "fault"},    {507045, "fault"},    {507049, "fault"},   {507050, "fault"},
};
constexpr int stream_timeout = 507046, driver_internal = 507899;
constexpr int huge_first = 0, host_to_device = 1, device_to_host = 2;

bool mentions(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

} // namespace

std::string kind_of_code(std::int64_t code, const std::string& said) {
    for (const CodeRow& row : codes)
        if (row.code == code) return row.kind;
    if (code == driver_internal && (mentions(said, "version") || mentions(said, "compat"))) return "driver";
    return "other";
}

std::string kind_of_loader_error(const std::string& said) {
    // The library is there but what it needs is not: its own driver part, or symbols of another version.
    if (mentions(said, "libascend_hal") || mentions(said, "undefined symbol") || mentions(said, "version `")) return "driver";
    return "absent";
}

std::optional<Trouble> AscendRuntime::failed(const char* call, int code) const {
    if (code == 0) return {};
    std::string said;
    if (m_calls.recent_message)
        if (const char* text = m_calls.recent_message()) said = text;
    return Trouble{kind_of_code(code, said), code, call, said};
}

std::optional<Trouble> AscendRuntime::open(const std::string& library) {
    // Global: the compiled kernel registers itself with the symbols of this very library.
    m_library = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!m_library) {
        std::string said = dlerror();
        return Trouble{kind_of_loader_error(said), 0, "dlopen", said};
    }
    std::string lacking;
    auto find = [&](auto& slot, const char* name, bool needed = true) {
        void* at = dlsym(m_library, name);
        slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(at);
        if (!at && needed) lacking += (lacking.empty() ? "" : ", ") + std::string(name);
    };
    find(m_calls.init, "aclInit");
    find(m_calls.finalize, "aclFinalize");
    find(m_calls.device_count, "aclrtGetDeviceCount");
    find(m_calls.set_device, "aclrtSetDevice");
    find(m_calls.reset_device, "aclrtResetDevice");
    find(m_calls.soc_name, "aclrtGetSocName");
    find(m_calls.create_stream, "aclrtCreateStream");
    find(m_calls.destroy_stream, "aclrtDestroyStream");
    find(m_calls.malloc, "aclrtMalloc");
    find(m_calls.free, "aclrtFree");
    find(m_calls.memcpy, "aclrtMemcpy");
    find(m_calls.synchronize, "aclrtSynchronizeStreamWithTimeout");
    find(m_calls.recent_message, "aclGetRecentErrMsg", false);
    find(m_calls.version, "aclrtGetVersion", false);
    if (!lacking.empty()) return Trouble{"driver", 0, "dlsym", library + " has no " + lacking};
    m_fake = dlsym(m_library, "xpto_fake_runtime") != nullptr;
    if (auto trouble = failed("aclInit", m_calls.init(nullptr))) return trouble;
    m_initialised = true;
    return {};
}

std::optional<Trouble> AscendRuntime::count(std::uint32_t& devices) { return failed("aclrtGetDeviceCount", m_calls.device_count(&devices)); }

std::optional<Trouble> AscendRuntime::take(std::int32_t device) {
    std::uint32_t devices = 0;
    if (auto trouble = count(devices)) return trouble;
    if (device < 0 || std::uint32_t(device) >= devices)
        return Trouble{"absent", 0, "aclrtGetDeviceCount", "the runtime sees " + std::to_string(devices) + (devices == 1 ? " device" : " devices")};
    if (auto trouble = failed("aclrtSetDevice", m_calls.set_device(device))) return trouble;
    m_device = device;
    return failed("aclrtCreateStream", m_calls.create_stream(&m_stream));
}

void AscendRuntime::close() {
    if (m_stream) m_calls.destroy_stream(std::exchange(m_stream, nullptr));
    if (m_device >= 0) m_calls.reset_device(std::exchange(m_device, -1));
    if (std::exchange(m_initialised, false)) m_calls.finalize();
    // The library stays open: unloading a runtime with threads of its own is a crash waiting.
}

std::string AscendRuntime::chip() const {
    const char* name = m_calls.soc_name ? m_calls.soc_name() : nullptr;
    return name ? name : "";
}

std::string AscendRuntime::version() const {
    std::int32_t major = 0, minor = 0, patch = 0;
    if (!m_calls.version || m_calls.version(&major, &minor, &patch) != 0) return "";
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::optional<Trouble> AscendRuntime::allocate(void*& at, std::size_t bytes) {
    return failed("aclrtMalloc", m_calls.malloc(&at, bytes ? bytes : 32, huge_first));
}

void AscendRuntime::free(void* at) { m_calls.free(at); }

std::optional<Trouble> AscendRuntime::to_device(void* to, const void* from, std::size_t bytes) {
    return bytes ? failed("aclrtMemcpy", m_calls.memcpy(to, bytes, from, bytes, host_to_device)) : std::nullopt;
}

std::optional<Trouble> AscendRuntime::from_device(void* to, const void* from, std::size_t bytes) {
    return bytes ? failed("aclrtMemcpy", m_calls.memcpy(to, bytes, from, bytes, device_to_host)) : std::nullopt;
}

std::optional<Trouble> AscendRuntime::wait(std::int32_t milliseconds, bool& running) {
    int code = m_calls.synchronize(m_stream, milliseconds);
    running = code == stream_timeout;
    return running ? std::nullopt : failed("aclrtSynchronizeStreamWithTimeout", code);
}

} // namespace pto::backend

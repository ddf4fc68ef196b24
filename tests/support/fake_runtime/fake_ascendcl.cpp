/// A runtime library that plays a card, for tests of the way to one: same functions, same return codes, no hardware.
///   XPTO_FAKE_DEVICE   comma-separated: what this card does
///       devices=N chip=NAME             what it says it is (1, Ascend950PR)
///       busy dead driver permission     aclrtSetDevice refuses with the code of that cause
///       busy=N                          only device N
///       init=CODE                       aclInit refuses
///       memory                          aclrtMalloc: full
///       hang | slow=MS                  the kernel never ends, or takes that long
///       fault                           the kernel is stopped by the card
///       stubborn                        synchronising ignores its timeout
///       crash_launch crash_sync crash_free    SIGSEGV there
///       print=TEXT                      the kernel prints (at synchronisation, as the device's printf does)
///   XPTO_FAKE_LOG      file that every call is appended to
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>

namespace {

std::string word(const char* name, const char* otherwise = "") {
    const char* text = std::getenv("XPTO_FAKE_DEVICE");
    std::string all = std::string(",") + (text ? text : "") + ",", key = std::string(",") + name;
    for (std::size_t at = all.find(key); at != std::string::npos; at = all.find(key, at + 1)) {
        char next = all[at + key.size()];
        if (next == ',') return "1";
        if (next == '=') return all.substr(at + key.size() + 1, all.find(',', at + 1) - at - key.size() - 1);
    }
    return otherwise;
}
bool is(const char* name) { return !word(name).empty(); }

void note(const std::string& line) {
    const char* path = std::getenv("XPTO_FAKE_LOG");
    if (!path) return;
    if (std::FILE* f = std::fopen(path, "a")) {
        std::fputs((line + "\n").c_str(), f);
        std::fclose(f);
    }
}

using Clock = std::chrono::steady_clock;
std::map<void*, std::size_t> memory;
Clock::time_point ends_at;
bool launched = false;
std::string message;
int device = -1;

int refuse(int code, const char* text) {
    message = text;
    return code;
}
void crash() { std::raise(SIGSEGV); }
std::size_t room(void* at) {
    auto found = memory.find(at);
    return found == memory.end() ? 0 : found->second;
}

} // namespace

extern "C" {

int xpto_fake_runtime = 1; // the worker tells owners that no card is behind this library

int aclInit(const char*) {
    note("init");
    if (is("init")) return refuse(std::atoi(word("init").c_str()), "initialisation refused");
    return 0;
}
int aclFinalize() {
    note("finalize");
    return 0;
}
int aclrtGetDeviceCount(std::uint32_t* count) {
    *count = std::uint32_t(std::atoi(word("devices", "1").c_str()));
    note("device count " + std::to_string(*count));
    return 0;
}
const char* aclrtGetSocName() {
    static std::string name;
    name = word("chip", "Ascend950PR");
    return name.c_str();
}
int aclrtGetVersion(std::int32_t* major, std::int32_t* minor, std::int32_t* patch) {
    *major = 1, *minor = 15, *patch = 0;
    return 0;
}
int aclrtSetDevice(std::int32_t n) {
    note("set device " + std::to_string(n));
    std::string busy = word("busy");
    if (busy == "1" ? word("devices", "1") == "1" || n == 1 : !busy.empty() && std::atoi(busy.c_str()) == n) return refuse(-16, "open device failed");
    if (is("dead")) return refuse(-6, "device does not answer");
    if (is("permission")) return refuse(-13, "open device failed");
    if (is("driver")) return refuse(507899, "driver version 24.1 is not compatible with runtime 25.2");
    device = n;
    return 0;
}
int aclrtResetDevice(std::int32_t n) {
    note("reset device " + std::to_string(n));
    device = -1;
    return 0;
}
int aclrtCreateStream(void** stream) {
    note("create stream");
    *stream = reinterpret_cast<void*>(std::uintptr_t(0x5000 + device));
    return 0;
}
int aclrtDestroyStream(void*) {
    note("destroy stream");
    return 0;
}
int aclrtMalloc(void** at, std::size_t bytes, int) {
    note("malloc " + std::to_string(bytes));
    if (is("memory")) return refuse(207001, "no free block");
    *at = std::calloc(1, bytes);
    memory[*at] = bytes;
    return 0;
}
int aclrtFree(void* at) {
    note("free " + std::to_string(room(at)));
    if (is("crash_free")) crash();
    memory.erase(at);
    std::free(at);
    return 0;
}
int aclrtMemcpy(void* to, std::size_t most, const void* from, std::size_t bytes, int kind) {
    note(std::string(kind == 1 ? "copy to device " : kind == 2 ? "copy from device " : "copy of unknown kind ") + std::to_string(bytes));
    if (bytes > most || (kind == 1 ? room(to) : room(const_cast<void*>(from))) < bytes) return refuse(107000, "copy out of range");
    std::memcpy(to, from, bytes);
    return 0;
}
int aclrtSynchronizeStreamWithTimeout(void*, std::int32_t milliseconds) {
    if (is("crash_sync")) crash();
    if (is("stubborn")) milliseconds = 1 << 30;
    auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (launched && (is("hang") || Clock::now() < ends_at)) {
        if (Clock::now() >= until) return refuse(507046, "stream synchronize timeout");
        usleep(500);
    }
    note("synchronize");
    launched = false;
    if (std::string text = word("print"); !text.empty()) {
        for (std::size_t at; (at = text.find("\\n")) != std::string::npos;) text.replace(at, 2, "\n");
        std::fputs(text.c_str(), stdout);
    }
    if (is("fault")) return refuse(507015, "aicore exception: the DDR address of the MTE instruction is out of range");
    return 0;
}
const char* aclGetRecentErrMsg() {
    static std::string last;
    last = std::exchange(message, std::string());
    return last.empty() ? nullptr : last.c_str();
}

/// What the launch statement of a kernel built by the fake compiler calls: the first memory is copied into the last one.
void xpto_fake_launch(std::uint32_t blocks, void* stream, void* first, void* last) {
    note("launch " + std::to_string(blocks) + (stream ? "" : " without a stream"));
    if (is("crash_launch")) crash();
    launched = true;
    ends_at = Clock::now() + std::chrono::milliseconds(std::atoi(word("slow", "0").c_str()));
    if (first && last && first != last) std::memcpy(last, first, std::min(room(first), room(last)));
}
}

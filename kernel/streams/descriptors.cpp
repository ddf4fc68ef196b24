#include "kernel/streams/descriptors.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <mutex>
#include <poll.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace xpto::streams {

namespace {

// A program that prints faster than the notebook takes it must not eat the machine's memory.
constexpr std::size_t memory_limit = std::size_t(64) << 20;

struct Pipe {
    int read_end = -1;
    int saved = -1;
    std::string arrived;
    std::size_t dropped = 0;
    std::atomic<bool> has_data{false};
};

struct Capture {
    std::array<Pipe, 2> pipes;
    std::mutex mutex; // guards arrived and dropped
    bool active = false;
};

// Never destroyed: the draining thread lives until the process ends, beyond static destruction.
Capture& state() {
    static Capture* capture = new Capture;
    return *capture;
}

int waiting(const Pipe& pipe) {
    int bytes = 0;
    return ioctl(pipe.read_end, FIONREAD, &bytes) == 0 ? bytes : 0;
}

/// Reads what is in the pipe now; the mutex is held.
void drain(Pipe& pipe) {
    std::array<char, 65536> buffer;
    while (waiting(pipe) > 0) {
        pipe.has_data = true; // before the read: pending() must not find the pipe empty and the flag not yet up
        const ssize_t n = read(pipe.read_end, buffer.data(), buffer.size());
        if (n <= 0) return;
        const std::size_t room = memory_limit - std::min(memory_limit, pipe.arrived.size());
        const std::size_t kept = std::min(room, std::size_t(n));
        pipe.arrived.append(buffer.data(), kept);
        pipe.dropped += std::size_t(n) - kept;
    }
}

void drain_for_ever() {
    Capture& capture = state();
    std::array<pollfd, 2> polled{{{capture.pipes[0].read_end, POLLIN, 0}, {capture.pipes[1].read_end, POLLIN, 0}}};
    for (;;) {
        if (poll(polled.data(), polled.size(), -1) < 0) continue;
        std::lock_guard lock(capture.mutex);
        // the main thread may have emptied the pipe meanwhile; drain() looks first and never blocks
        for (Pipe& pipe : capture.pipes) drain(pipe);
    }
}

void flush_c_buffers() {
    std::cout.flush();
    std::cerr.flush();
    std::fflush(stdout);
    std::fflush(stderr);
}

bool redirect(Pipe& pipe, int descriptor) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    pipe.saved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    pipe.read_end = ends[0];
    const bool done = pipe.saved >= 0 && dup2(ends[1], descriptor) >= 0;
    close(ends[1]);
    return done;
}

void undo(Pipe& pipe, int descriptor) {
    if (pipe.saved >= 0) {
        dup2(pipe.saved, descriptor);
        close(pipe.saved);
    }
    if (pipe.read_end >= 0) close(pipe.read_end);
    pipe.saved = pipe.read_end = -1;
}

} // namespace

bool capture() {
    Capture& capture = state();
    if (capture.active) return true;
    flush_c_buffers();
    if (!redirect(capture.pipes[0], 1) || !redirect(capture.pipes[1], 2)) {
        undo(capture.pipes[0], 1);
        undo(capture.pipes[1], 2);
        return false;
    }
    // a pipe is not a terminal, so stdio would keep lines back until its buffer is full
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    capture.active = true;
    std::thread(drain_for_ever).detach();
    return true;
}

bool pending() {
    Capture& capture = state();
    if (!capture.active) return false;
    flush_c_buffers();
    for (const Pipe& pipe : capture.pipes)
        if (waiting(pipe) > 0 || pipe.has_data) return true; // in this order: bytes leave the pipe only with the flag up
    return false;
}

Taken take(int descriptor) {
    Capture& capture = state();
    if (!capture.active) return {};
    flush_c_buffers();
    Pipe& pipe = capture.pipes[std::size_t(descriptor - 1)];
    std::lock_guard lock(capture.mutex);
    drain(pipe);
    Taken taken;
    taken.bytes.swap(pipe.arrived);
    taken.dropped = std::exchange(pipe.dropped, 0);
    pipe.has_data = false;
    return taken;
}

int terminal() {
    const Capture& capture = state();
    return capture.active ? capture.pipes[1].saved : 2;
}

} // namespace xpto::streams

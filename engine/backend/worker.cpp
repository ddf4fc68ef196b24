#include "engine/backend/worker.hpp"

#include "engine/backend/ascend_runtime.hpp"
#include "engine/backend/frames.hpp"
#include "engine/backend/host_cores.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace pto::backend {
namespace {

struct Failure {
    Trouble trouble;
};
[[noreturn]] void fail(std::string kind, std::string said) { throw Failure{{std::move(kind), 0, "", std::move(said)}}; }
void require(std::optional<Trouble> trouble) {
    if (trouble) throw Failure{*trouble};
}

/// The values of one launch: memory of the arguments, then one slot of eight bytes for each value.
struct Values {
    std::vector<std::vector<std::byte>> blobs; // as they came; results are written back into them
    std::vector<void*> device;                 // memory on the card per blob, null on the host
    std::vector<bool> written;
    std::vector<std::uint64_t> slots;
    std::vector<void*> pointers;               // to the slots
};

class Worker {
  public:
    explicit Worker(int socket) : m_socket(socket) {}

    int run() {
        while (auto request = receive(m_socket)) {
            Message reply;
            const std::string verb = request->text("verb");
            try {
                if (verb == "quit") {
                    give_back();
                    send(m_socket, reply);
                    return 0;
                }
                handle(verb, *request, reply);
            } catch (const Failure& f) {
                reply.head["error"] = f.trouble.kind;
                reply.head["code"] = std::to_string(f.trouble.code);
                reply.head["call"] = f.trouble.call;
                reply.head["said"] = f.trouble.said;
            }
            if (std::string mark = request->text("mark"); !mark.empty()) {
                std::fflush(nullptr);
                for (int d : {1, 2})
                    if (::write(d, mark.data(), mark.size()) < 0) break;
            }
            if (!send(m_socket, reply)) break;
            if (m_finished) std::_Exit(0); // threads are left that never end
        }
        give_back();
        return 0;
    }

  private:
    void handle(const std::string& verb, Message& request, Message& reply) {
        if (verb == "open") open(request, reply);
        else if (verb == "devices") devices(request, reply);
        else if (verb == "load") load(request);
        else if (verb == "launch") launch(request);
        else if (verb == "wait") wait(request, reply);
        else if (verb == "release") release();
        else fail("usage", "no request '" + verb + "'");
    }

    // ------------------------------------------------------------------ places

    void open(const Message& request, Message& reply) {
        if (request.text("kind") == "host") {
            m_host = true;
            return;
        }
        require(m_runtime.open(request.text("runtime")));
        reply.head["version"] = m_runtime.version();
        reply.head["fake"] = m_runtime.fake() ? "1" : "0";
        require(m_runtime.take(std::int32_t(request.number("device"))));
        reply.head["chip"] = m_runtime.chip();
        m_open = true;
    }

    /// Looks at every card: takes it, asks, gives it back.
    void devices(const Message& request, Message& reply) {
        require(m_runtime.open(request.text("runtime")));
        std::uint32_t count = 0;
        require(m_runtime.count(count));
        reply.head["count"] = std::to_string(count);
        reply.head["version"] = m_runtime.version();
        reply.head["fake"] = m_runtime.fake() ? "1" : "0";
        m_runtime.close();
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::string n = std::to_string(i);
            AscendRuntime one;
            auto trouble = one.open(request.text("runtime"));
            if (!trouble) trouble = one.take(std::int32_t(i));
            reply.head["chip" + n] = trouble ? "" : one.chip();
            if (trouble) {
                reply.head["error" + n] = trouble->kind;
                reply.head["code" + n] = std::to_string(trouble->code);
                reply.head["said" + n] = trouble->said;
            }
        }
    }

    void give_back() {
        if (m_launch && !m_launched_done) std::_Exit(0); // host threads that still run end with the process
        release();
        m_runtime.close();
    }

    // ------------------------------------------------------------------ kernels

    void* open_library(const std::string& path) {
        void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) fail("kernel", dlerror());
        return library;
    }

    void load(const Message& request) {
        if (m_host) {
            auto program = [&](const std::string& path) {
                HostProgram p;
                if (path.empty()) return p;
                void* library = open_library(path);
                p.prepare = reinterpret_cast<decltype(p.prepare)>(dlsym(library, "xpto_prepare"));
                p.run = reinterpret_cast<decltype(p.run)>(dlsym(library, "xpto_run"));
                if (!p.prepare || !p.run) fail("kernel", path + " was not built by xpto: it has no xpto_run");
                return p;
            };
            m_cube = program(request.text("cube"));
            m_vector = program(request.text("vector"));
            return;
        }
        if (!m_open) fail("usage", "no device is open");
        void* library = open_library(request.text("library"));
        m_call = reinterpret_cast<decltype(m_call)>(dlsym(library, "xpto_call"));
        if (!m_call) fail("kernel", request.text("library") + " was not built by xpto: it has no xpto_call");
    }

    /// `arguments`: one word a value. p:BLOB:OFFSET a pointer, n a null pointer, v:HEX the value's bytes.
    void read_values(Message& request) {
        m_values = Values{};
        m_values.blobs = std::move(request.blobs);
        m_values.device.assign(m_values.blobs.size(), nullptr);
        m_values.written.assign(m_values.blobs.size(), false);
        const std::string written = request.text("written");
        for (std::size_t i = 0; i < m_values.blobs.size() && i < written.size(); ++i) m_values.written[i] = written[i] == '1';
        if (!m_host)
            for (std::size_t i = 0; i < m_values.blobs.size(); ++i) {
                require(m_runtime.allocate(m_values.device[i], m_values.blobs[i].size()));
                require(m_runtime.to_device(m_values.device[i], m_values.blobs[i].data(), m_values.blobs[i].size()));
            }
        std::string text = request.text("arguments") + " ";
        for (std::size_t at = 0, end; (end = text.find(' ', at)) != std::string::npos; at = end + 1) {
            std::string word = text.substr(at, end - at);
            if (word.empty()) continue;
            std::uint64_t slot = 0;
            if (word[0] == 'p') {
                std::size_t colon = word.find(':', 2), blob = std::strtoull(word.c_str() + 2, nullptr, 10);
                if (colon == std::string::npos || blob >= m_values.blobs.size()) fail("usage", "a pointer to nothing: " + word);
                auto base = m_host ? reinterpret_cast<std::uintptr_t>(m_values.blobs[blob].data()) : reinterpret_cast<std::uintptr_t>(m_values.device[blob]);
                slot = base + std::strtoull(word.c_str() + colon + 1, nullptr, 10);
            } else if (word[0] == 'v') {
                for (std::size_t i = 0; 2 + 2 * i + 1 < word.size() && i < 8; ++i)
                    reinterpret_cast<unsigned char*>(&slot)[i] = static_cast<unsigned char>(std::strtoul(word.substr(2 + 2 * i, 2).c_str(), nullptr, 16));
            } else if (word[0] != 'n') {
                fail("usage", "no such value: " + word);
            }
            m_values.slots.push_back(slot);
        }
        for (std::uint64_t& slot : m_values.slots) m_values.pointers.push_back(&slot);
    }

    void launch(Message& request) {
        if (m_launch || m_running) fail("usage", "a launch is going on");
        if (m_host ? !m_cube && !m_vector : !m_call) fail("usage", "no kernel is loaded");
        read_values(request);
        std::uint32_t blocks = std::uint32_t(request.number("block_dim", 1));
        m_launched_done = false;
        if (m_host) {
            m_launch = std::make_unique<HostLaunch>(m_cube, m_vector, blocks, m_values.pointers);
        } else {
            m_call(blocks, m_runtime.stream(), m_values.pointers.data());
            m_running = true;
        }
    }

    void results(Message& reply) {
        std::string which;
        for (std::size_t i = 0; i < m_values.blobs.size(); ++i) {
            if (!m_values.written[i]) continue;
            if (!m_host) require(m_runtime.from_device(m_values.blobs[i].data(), m_values.device[i], m_values.blobs[i].size()));
            which += (which.empty() ? "" : " ") + std::to_string(i);
            reply.blobs.push_back(std::move(m_values.blobs[i]));
        }
        reply.head["written"] = which;
        reply.head["state"] = "done";
    }

    void wait(const Message& request, Message& reply) {
        auto milliseconds = std::int32_t(request.number("ms", 100));
        if (m_host) {
            if (!m_launch) fail("usage", "nothing was launched");
            switch (m_launch->poll(milliseconds)) {
            case HostLaunch::State::running: reply.head["state"] = "running"; return;
            case HostLaunch::State::done: break;
            case HostLaunch::State::hang: m_finished = true; std::fputs(m_launch->printed().c_str(), stdout); fail("hang", m_launch->trouble());
            case HostLaunch::State::stopped: m_finished = true; std::fputs(m_launch->printed().c_str(), stdout); fail("stopped", m_launch->trouble());
            }
            m_launched_done = true;
            reply.head["cores"] = std::to_string(m_launch->cores());
            std::fputs(m_launch->printed().c_str(), stdout);
            m_launch.reset();
            results(reply);
            return;
        }
        if (!m_running) fail("usage", "nothing was launched");
        bool running = false;
        auto trouble = m_runtime.wait(milliseconds, running);
        if (running) {
            reply.head["state"] = "running";
            return;
        }
        m_running = false;
        m_launched_done = true;
        require(trouble);
        results(reply);
    }

    /// Gives the launch's memory back. A request of its own: what breaks here breaks after the verdict.
    void release() {
        for (void*& at : m_values.device)
            if (at) m_runtime.free(std::exchange(at, nullptr));
        m_values = Values{};
        m_running = false;
    }

    int m_socket;
    AscendRuntime m_runtime;
    bool m_host = false, m_open = false, m_running = false, m_launched_done = true, m_finished = false;
    HostProgram m_cube, m_vector;
    std::unique_ptr<HostLaunch> m_launch;
    void (*m_call)(std::uint32_t, void*, void**) = nullptr;
    Values m_values;
};

/// A runtime call that never returns must not outlive the owner: three seconds after it has gone, so are we.
void end_with_owner(int socket) {
    std::thread([socket] {
        pollfd watched{socket, POLLRDHUP, 0};
        for (;;) {
            if (::poll(&watched, 1, -1) > 0 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR))) {
                sleep(3);
                std::_Exit(0);
            }
        }
    }).detach();
}

} // namespace

int serve(int socket) {
    std::signal(SIGINT, SIG_IGN); // an interrupt of the session is the session's to handle
    end_with_owner(socket);
    int code = Worker(socket).run();
    std::fflush(nullptr);
    std::_Exit(code); // a detached thread and a runtime's own threads may still run: no static destructors
}

} // namespace pto::backend

#include "engine/backend/frames.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace pto::backend {
namespace {

constexpr std::uint32_t longest_head = 1 << 24, most_blobs = 1 << 12;
constexpr std::uint64_t longest_blob = std::uint64_t(1) << 36;

bool read_all(int descriptor, void* to, std::size_t bytes) {
    char* at = static_cast<char*>(to);
    while (bytes) {
        ssize_t got = ::read(descriptor, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= std::size_t(got);
    }
    return true;
}

bool write_all(int descriptor, const void* from, std::size_t bytes) {
    const char* at = static_cast<const char*>(from);
    while (bytes) {
        ssize_t put = ::send(descriptor, at, bytes, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        bytes -= std::size_t(put);
    }
    return true;
}

std::string escaped(const std::string& text) {
    std::string out;
    for (char c : text)
        if (c == '\n') out += "\\n";
        else if (c == '\\') out += "\\\\";
        else out += c;
    return out;
}

std::map<std::string, std::string> parsed(const std::string& head) {
    std::map<std::string, std::string> out;
    std::string key, value;
    bool in_value = false;
    for (std::size_t i = 0; i < head.size(); ++i) {
        char c = head[i];
        if (c == '\n') {
            if (in_value) out[key] = value;
            key.clear();
            value.clear();
            in_value = false;
        } else if (!in_value) {
            if (c == '=') in_value = true;
            else key += c;
        } else if (c == '\\' && i + 1 < head.size()) {
            value += head[++i] == 'n' ? '\n' : head[i];
        } else {
            value += c;
        }
    }
    return out;
}

} // namespace

std::int64_t Message::number(const std::string& key, std::int64_t otherwise) const {
    auto at = head.find(key);
    return at == head.end() || at->second.empty() ? otherwise : std::strtoll(at->second.c_str(), nullptr, 10);
}

std::optional<Message> receive(int descriptor) {
    std::uint32_t counts[2];
    if (!read_all(descriptor, counts, sizeof counts) || counts[0] > longest_head || counts[1] > most_blobs) return {};
    std::vector<std::uint64_t> sizes(counts[1]);
    if (!read_all(descriptor, sizes.data(), sizes.size() * sizeof(std::uint64_t))) return {};
    std::string head(counts[0], '\0');
    if (!read_all(descriptor, head.data(), head.size())) return {};
    Message m;
    m.head = parsed(head);
    for (std::uint64_t size : sizes) {
        if (size > longest_blob) return {};
        m.blobs.emplace_back(size);
        if (!read_all(descriptor, m.blobs.back().data(), size)) return {};
    }
    return m;
}

bool send(int descriptor, const Message& m) {
    std::string head;
    for (const auto& [key, value] : m.head) head += key + "=" + escaped(value) + "\n";
    std::uint32_t counts[2] = {std::uint32_t(head.size()), std::uint32_t(m.blobs.size())};
    std::string start(reinterpret_cast<const char*>(counts), sizeof counts);
    for (const auto& blob : m.blobs) {
        std::uint64_t size = blob.size();
        start.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    start += head;
    if (!write_all(descriptor, start.data(), start.size())) return false;
    for (const auto& blob : m.blobs)
        if (!write_all(descriptor, blob.data(), blob.size())) return false;
    return true;
}

} // namespace pto::backend

#pragma once
/// What a worker and its owner say to each other: one frame a message over a stream socket.
///   frame   u32 length of the head, u32 number of blobs, u64 length of each blob, the head, the blobs; all little-endian
///   head    lines `key=value`; in values a backslash is \\ and a line end \n
/// A message is a request or its one reply; nothing is sent unasked.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pto::backend {

struct Message {
    std::map<std::string, std::string> head;
    std::vector<std::vector<std::byte>> blobs;

    std::string text(const std::string& key) const {
        auto at = head.find(key);
        return at == head.end() ? std::string() : at->second;
    }
    std::int64_t number(const std::string& key, std::int64_t otherwise = 0) const;
};

/// The next message; nothing when the other side has gone or speaks something else.
std::optional<Message> receive(int descriptor);
/// False when the other side has gone.
bool send(int descriptor, const Message& message);

} // namespace pto::backend

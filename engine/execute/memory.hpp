#pragma once
/// Byte-accurate memories: the on-chip ones of a core, and global memory with its address map.
/// Every on-chip byte has a shadow byte: 1 once somebody wrote it. Copies copy the shadow, results set it.

#include "engine/execute/execute.hpp"
#include "engine/machine/chip.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace pto::execute {

using isa::MemorySpace;

/// One on-chip memory. Fresh bytes read as all ones (a NaN in every floating format) and are unknown in the shadow.
struct Memory {
    std::unique_ptr<std::byte[]> data, known;
    std::int64_t bytes = 0;
    void allocate(std::int64_t size);
    void poison();
};

/// The memories of one core, by isa::MemorySpace; ddr stays empty.
struct CoreMemory {
    std::array<Memory, 10> spaces;
    CoreMemory(const machine::Chip& chip, isa::Core kind);
    Memory& operator[](MemorySpace s) { return spaces[std::size_t(s)]; }
    const Memory& operator[](MemorySpace s) const { return spaces[std::size_t(s)]; }
    void poison();
};

/// Global memory of a launch: a private copy of every buffer, placed in argument order at 512-byte aligned addresses.
class GlobalMemory {
  public:
    struct Range {
        std::int64_t address = 0, bytes = 0; // virtual
        std::byte* host = nullptr;
        std::string name; // parameters that lie in it
        std::vector<std::int32_t> parameters;
        std::int64_t private_at = 0; // offset into the private copy
        bool written = false;
        bool copied = false; // the private copy is made when the range is first found: scratch that is never touched costs nothing
    };
    static constexpr std::int64_t first_address = 0x1000'0000;

    GlobalMemory(const ir::Kernel& kernel, const LaunchArguments& arguments);
    /// Virtual address of an argument; 0 for None.
    std::int64_t address_of(std::size_t parameter) const { return m_addresses[parameter]; }
    /// The range that holds [first, last); null when no single range does. Comes before at(): it makes the private copy.
    Range* find(std::int64_t first, std::int64_t last);
    /// The range that holds the address, or null.
    Range* find(std::int64_t address) { return find(address, address + 1); }
    /// Bytes at a virtual address inside a range.
    std::byte* at(std::int64_t address) { return m_data.get() + (address - first_address); }
    const std::vector<Range>& ranges() const { return m_ranges; }
    /// Copies what was written back to the host.
    void commit();

  private:
    std::vector<Range> m_ranges;           // ascending addresses
    std::vector<std::int64_t> m_addresses; // by parameter
    std::unique_ptr<std::byte[]> m_data;
    std::size_t m_last = ~std::size_t(0); // range found last: already copied
};

} // namespace pto::execute

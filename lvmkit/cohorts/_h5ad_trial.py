"""Read an HDF5 file once, in a process of its own: the library ends the process on some damaged files.

Run as a program, not imported by lvmkit, so that it starts in a tenth of a second.
"""

import sys

import h5py

READ_WHOLE_BYTES = 100_000_000
"""Of larger files, only what is small is read whole, and of the rest the two ends."""
SMALL_BYTES = 1_000_000
BLOCK_ROWS = 100_000


def main(path: str) -> None:
    """Read links, attributes and arrays; errors told by the library do no harm."""
    with h5py.File(path, "r") as file:
        whole = file.id.get_filesize() <= READ_WHOLE_BYTES
        seen: set[int] = set()
        waiting: list[h5py.HLObject] = [file]
        while waiting:
            item = waiting.pop()
            try:
                if visited(item, seen):
                    continue
                dict(item.attrs)
                if isinstance(item, h5py.Dataset):
                    read(item, whole=whole)
                elif isinstance(item, h5py.Group):
                    waiting += [item[key] for key in hard_links(item)]
            except Exception:  # noqa: BLE001 - told by whoever reads the file in earnest
                continue


def visited(item: h5py.HLObject, seen: set[int]) -> bool:
    """Tell whether a group or an array was reached before."""
    address = h5py.h5o.get_info(item.id).addr
    known = address in seen
    seen.add(address)
    return known


def hard_links(group: h5py.Group) -> list[str]:
    """List the objects stored in the file itself."""
    return [key for key in group if isinstance(group.get(key, getlink=True), h5py.HardLink)]


def read(data: h5py.Dataset, *, whole: bool) -> None:
    """Read an array in blocks, or its two ends."""
    stored = data.id.get_storage_size()
    if not data.shape:
        data[()]
    elif data.external or data.is_virtual or not stored or not data.size:
        return
    elif whole or stored <= SMALL_BYTES:
        rows = max(1, min(BLOCK_ROWS, 8 * SMALL_BYTES * len(data) // data.size))
        for start in range(0, min(len(data), 1_000 * rows), rows):
            data[start : start + rows]
    else:
        data[:1]
        data[-1:]


def say(word: str) -> None:
    """Report progress to the parent process."""
    sys.stdout.write(f"lvmkit: {word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    say("began")
    main(sys.argv[1])
    say("ended")

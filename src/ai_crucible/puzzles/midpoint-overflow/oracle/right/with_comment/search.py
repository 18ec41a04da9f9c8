from int32 import add, half, sub


def find(read, size, key):
    """The index of key in a sorted table, or -1; read(index) gives an entry, 0 <= index < size."""
    # (low + high) would overflow here, so half of the distance is added
    first, last = 0, sub(size, 1)
    while not first > last:
        distance = sub(last, first)
        middle = add(first, half(distance))
        entry = read(middle)
        if key < entry:
            last = sub(middle, 1)
        elif entry < key:
            first = add(middle, 1)
        else:
            return middle
    return -1


def find_square(size, key):
    """Look key up in the table 0, 1, 4, 9, ... of the given size."""

    def read(index):
        if not 0 <= index < size:
            raise IndexError(index)
        return index * index

    return find(read, size, key)

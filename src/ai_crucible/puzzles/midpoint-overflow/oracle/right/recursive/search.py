from int32 import add, half, sub


def find(read, size, key):
    """The index of key in a sorted table, or -1; read(index) gives an entry, 0 <= index < size."""
    return between(read, 0, sub(size, 1), key)


def between(read, low, high, key):
    if low > high:
        return -1
    middle = add(low, half(sub(high, low)))
    value = read(middle)
    if value == key:
        return middle
    return between(read, add(middle, 1), high, key) if value < key else between(read, low, sub(middle, 1), key)


def find_square(size, key):
    """Look key up in the table 0, 1, 4, 9, ... of the given size."""

    def read(index):
        if not 0 <= index < size:
            raise IndexError(index)
        return index * index

    return find(read, size, key)

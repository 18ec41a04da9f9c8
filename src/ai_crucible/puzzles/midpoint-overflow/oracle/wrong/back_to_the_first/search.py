from int32 import add, half, sub


def find(read, size, key):
    """The index of key in a sorted table, or -1; read(index) gives an entry, 0 <= index < size."""
    low, high = 0, sub(size, 1)
    while low <= high:
        middle = add(low, half(sub(high, low)))
        value = read(middle)
        if value == key:
            # entries may be equal: go back to the first of them
            while middle > 0 and read(sub(middle, 1)) == key:
                middle = sub(middle, 1)
            return middle
        if value < key:
            low = add(middle, 1)
        else:
            high = sub(middle, 1)
    return -1


def find_square(size, key):
    """Look key up in the table 0, 1, 4, 9, ... of the given size."""

    def read(index):
        if not 0 <= index < size:
            raise IndexError(index)
        return index * index

    return find(read, size, key)

import int32
from search import find


def look(size, step, first, key, most=80, run=1):
    """Look up in the table first, first + step, ..., each entry run times; return the place, whether indices were computed plainly, and
    whether more was read than is there or needed."""
    reads = []

    def read(index):
        index = int(index)
        reads.append(index)
        if len(reads) > most or not 0 <= index < size:
            raise IndexError(index)
        return first + step * (index // run)

    int32.plain.clear()
    int32.calls.clear()
    place = int(find(read, int32.Index(size), key))
    # Each place but a first few (0, the size, what is written down) comes of a call.
    return [place, int32.plain != [] or len(int32.calls) < len(set(reads)) - 4]


def look_in(table, key):
    """Look up in a list."""
    return int(find(lambda index: table[int(index)] if index >= 0 else None, int32.Index(len(table)), key))

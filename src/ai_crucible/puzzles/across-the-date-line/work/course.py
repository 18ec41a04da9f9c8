def turn(start, end):
    return end - start


def middle(start, end):
    return (start + end) / 2


def turn_text(start, end):
    return turn(float(start), float(end))

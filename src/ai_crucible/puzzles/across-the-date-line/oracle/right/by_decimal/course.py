from decimal import Context, Decimal, setcontext

setcontext(Context(prec=1200))


def exact(degrees):
    number = Decimal(degrees)
    if not number.is_finite():
        raise ValueError(degrees)
    return number


def wrap(number):
    rest = number % 360
    if rest > 180:
        rest -= 360
    elif rest <= -180:
        rest += 360
    return rest


def turn(start, end):
    return float(wrap(exact(end) - exact(start)))


def middle(start, end):
    half = wrap(exact(end) - exact(start)) / 2
    return float(wrap(exact(start) + half))


def turn_text(start, end):
    return turn(float(start), float(end))

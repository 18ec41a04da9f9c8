"""What discounts leave of lines."""

from till.money import rounded, split


def worth(discount, left):
    """Return what a discount is worth on lines of which so much is left."""
    if discount.thousandths:
        return sum(rounded(each, discount.thousandths, 1000) for each in left)
    return min(discount.amount, sum(left))


def discounted(order):
    """Return what is left of each line after all discounts."""
    left = [line.full for line in order.lines]
    for discount in order.discounts:
        covered = [at for at, line in enumerate(order.lines) if discount.covers(line)]
        amounts = [order.lines[at].full for at in covered]
        for at, share in zip(covered, split(worth(discount, amounts), amounts)):
            left[at] -= share
    return left

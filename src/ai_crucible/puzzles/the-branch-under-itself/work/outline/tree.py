"""Trees of items."""

ROOT = ""


class Item:
    """An item: its id, its fields (the title is one of them) and its parent's id."""

    def __init__(self, name, fields, parent=ROOT):
        self.name = name
        self.fields = dict(fields)
        self.parent = parent


class Tree:
    """Items by id, and the ids below each, in order; ``ROOT`` stands for the outline itself."""

    def __init__(self):
        self.items = {}
        self.below = {ROOT: []}

    def add(self, name, fields, parent=ROOT):
        """Put an item behind those that its parent has; ValueError where that cannot be."""
        if name in self.below[parent]:
            raise ValueError(f"{name} is there already")
        self.items[name] = Item(name, fields, parent)
        self.below[name] = []
        self.below[parent].append(name)

    def walk(self, parent=ROOT, depth=0):
        """Yield items with their depth from 0, each before those below it."""
        for name in self.below[parent]:
            yield self.items[name], depth
            yield from self.walk(name, depth + 1)

    def __contains__(self, name):
        return name in self.items

    def __getitem__(self, name):
        return self.items[name]

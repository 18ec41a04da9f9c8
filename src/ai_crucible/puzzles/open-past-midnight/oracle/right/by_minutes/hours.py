"""Opening hours as the set of open minutes."""

NAMES = "Mo Tu We Th Fr Sa Su".split()
FIGURES = set("0123456789")


class Hours:
    def __init__(self, text):
        rules = [None] * 7
        for rule in text.split(";"):
            rule = rule.strip(" ")
            place = next((n for n, c in enumerate(rule) if c in FIGURES), rule.find("closed"))
            if place < 1 or rule[place - 1] != " ":
                raise ValueError(rule)
            days, times = rule[:place], rule[place:]
            spans = [] if times == "closed" else [self._span(part) for part in times.split(",")]
            for part in days.split(","):
                ends = [each.strip(" ") for each in part.split("-")]
                if len(ends) > 2 or any(end not in NAMES for end in ends):
                    raise ValueError(part)
                day, last = NAMES.index(ends[0]), NAMES.index(ends[-1])
                while True:
                    rules[day] = spans
                    if day == last:
                        break
                    day = (day + 1) % 7
        self.week = [False] * 10080
        for day, spans in enumerate(rules):
            for start, length in spans or []:
                for minute in range(start, start + length):
                    self.week[(day * 1440 + minute) % 10080] = True

    @staticmethod
    def _span(part):
        ends = []
        for word in part.split("-"):
            word = word.strip(" ")
            if len(word) != 5 or word[2] != ":" or not set(word[:2] + word[3:]) <= FIGURES:
                raise ValueError(word)
            hour, minute = int(word[:2]), int(word[3:])
            if minute > 59 or hour > 23 and not (ends and (hour, minute) == (24, 0)):
                raise ValueError(word)
            ends.append(hour * 60 + minute)
        if len(ends) != 2:
            raise ValueError(part)
        return ends[0], (ends[1] - ends[0] - 1) % 1440 + 1

    def is_open(self, at):
        return self.week[at % 10080]

    def next_change(self, at):
        return next((n for n in range(1, 10080) if self.is_open(at + n) != self.is_open(at)), None)

    def total(self):
        return sum(self.week)

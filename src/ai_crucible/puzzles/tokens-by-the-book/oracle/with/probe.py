from bucket import Bucket, Refused


def play(capacity, every, start, calls):
    """What each call answers, in order."""
    try:
        bucket = Bucket(capacity, every, start)
    except ValueError:
        return ["ValueError"]
    answers = []
    for name, *arguments in calls:
        try:
            answers.append(getattr(bucket, name)(*arguments))
        except Refused:
            answers.append("Refused")
        except ValueError:
            answers.append("ValueError")
    return answers


def kinds():
    """Whether what is refused is an exception of its own, and a bucket starts at 0 if nothing is told."""
    early = play(3, 10, 0, [["level", -1]]) + play_unasked(-1)
    return [issubclass(Refused, Exception), issubclass(Refused, ValueError), Bucket(3, 10).level(0), Bucket(3, 10).take(0), Bucket(2, 7).wait(5), *early]


def play_unasked(now):
    """What a bucket answers that was not told when it starts."""
    try:
        return [Bucket(3, 10).level(now)]
    except Refused:
        return ["Refused"]


def at_once(made, calls):
    """What several buckets answer, one call after another, all arguments by their names."""
    buckets, answers = [Bucket(**each) for each in made], []
    for which, name, given in calls:
        try:
            answers.append(getattr(buckets[which], name)(**given))
        except Refused:
            answers.append("Refused")
        except ValueError:
            answers.append("ValueError")
    return answers

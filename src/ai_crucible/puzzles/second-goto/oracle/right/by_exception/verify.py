import hashlib


def sign(key, message):
    text = f"{key}|{message['version']}|{message['client']}|{message['server']}"
    return hashlib.sha256(text.encode()).hexdigest()


def verify(key, message):
    try:
        error = message["version"] != 1
        error = error or not message["client"]
        error = error or not message["server"]
        error = error or message["signature"] != sign(key, message)
    except (KeyError, UnicodeEncodeError):
        return False
    return not error

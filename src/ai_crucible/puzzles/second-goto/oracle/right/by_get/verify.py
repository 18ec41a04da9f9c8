import hashlib


def sign(key, message):
    return hashlib.sha256(f"{key}|{message['version']}|{message['client']}|{message['server']}".encode()).hexdigest()


def verify(key, message):
    if message.get("version") != 1:
        return False
    if not (message.get("client") and message.get("server")):
        return False
    if not all(is_unicode(part) for part in (key, message["client"], message["server"])):
        return False
    return "signature" in message and message["signature"] == sign(key, message)


def is_unicode(text):
    return not any("\ud800" <= letter <= "\udfff" for letter in text)

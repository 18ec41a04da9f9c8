import hashlib

PARTS = ("version", "client", "server", "signature")


def sign(key, message):
    text = f"{key}|{message['version']}|{message['client']}|{message['server']}"
    return hashlib.sha256(text.encode()).hexdigest()


def verify(key, message):
    if any(part not in message for part in PARTS):
        return False
    if message["version"] != 1 or not message["client"] or not message["server"]:
        return False
    try:
        return message["signature"] == sign(key, message)
    except UnicodeEncodeError:
        return False

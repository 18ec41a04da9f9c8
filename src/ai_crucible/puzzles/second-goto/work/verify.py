import hashlib


def sign(key, message):
    text = f"{key}|{message['version']}|{message['client']}|{message['server']}"
    return hashlib.sha256(text.encode()).hexdigest()


def verify(key, message):
    error = 0
    while True:
        if message["version"] != 1:
            error = 1
            break
        if not message["client"]:
            error = 1
            break
        if not message["server"]:
            error = 1
        break
        if message["signature"] != sign(key, message):
            error = 1
            break
    return error == 0

import hashlib
import hmac

PARTS = ("version", "client", "server", "signature")


def sign(key, message):
    text = f"{key}|{message['version']}|{message['client']}|{message['server']}"
    return hashlib.sha256(text.encode()).hexdigest()


def verify(key, message):
    if any(part not in message for part in PARTS):
        return False
    if message["version"] != 1 or not message["client"] or not message["server"]:
        return False
    signature = message["signature"]
    try:
        right = sign(key, message)
    except UnicodeError:
        return False
    return isinstance(signature, str) and hmac.compare_digest(signature.encode(errors="replace"), right.encode())

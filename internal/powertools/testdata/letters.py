"""Reads the queues whose URLs come as lines, and prints their messages.

Each line of the output is a JSON list. The messages stay in their queues. boto3 has decoded
them; the checksums that SQS gives are compared with ones that are computed here.
"""

import base64
import hashlib
import json
import struct
import sys

import boto3


def sized(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def attributes_md5(attributes: dict) -> str:
    """The algorithm is that of the SQS Developer Guide, "Calculating the MD5 message digest"."""
    digest = hashlib.md5()
    for name in sorted(attributes):
        a = attributes[name]
        binary = a["DataType"].startswith("Binary")
        value = a["BinaryValue"] if binary else a["StringValue"].encode()
        digest.update(sized(name.encode()) + sized(a["DataType"].encode()))
        digest.update((b"\x02" if binary else b"\x01") + sized(value))
    return digest.hexdigest()


def described(message: dict) -> dict:
    body = message["Body"].encode("utf-8", "surrogatepass")
    attributes = message.get("MessageAttributes", {})
    return {
        "body": base64.b64encode(body).decode(),
        "bodyMatches": hashlib.md5(body).hexdigest() == message["MD5OfBody"],
        "attributesMatch": not attributes or attributes_md5(attributes) == message["MD5OfMessageAttributes"],
        "attributes": {
            name: [a["DataType"], base64.b64encode(a.get("BinaryValue", a.get("StringValue", "").encode())).decode()]
            for name, a in attributes.items()
        },
        "group": message["Attributes"].get("MessageGroupId", ""),
    }


def read(client, url: str) -> list:
    found = []
    while True:
        answer = client.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            MessageAttributeNames=["All"],
            AttributeNames=["All"],
            VisibilityTimeout=60,
        )
        messages = answer.get("Messages", [])
        if not messages:
            break
        found += messages
    for m in found:
        client.change_message_visibility(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"], VisibilityTimeout=0)
    return [described(m) for m in found]


def main() -> None:
    client = boto3.client("sqs")
    for line in sys.stdin:
        print(json.dumps(read(client, line.strip())), flush=True)


main()

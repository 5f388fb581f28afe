"""Runs jobs with the idempotency of Powertools.

Each line of standard input is a job in JSON. The answer to each is one line:

  table  the table of Powertools
  queue  the prefix of the job's id
  key    the job's key
  end    "return" or "raise"; "hold" answers {"running": true} first, and the
         next line is "return" or "raise"
  left   remaining milliseconds of the invocation; null without a Lambda context
  check  whether the payload is validated
"""

import json
import sys

import boto3
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)


class Context:
    def __init__(self, left):
        self.left = left

    def get_remaining_time_in_millis(self):
        return self.left


def answer(**fields):
    print(json.dumps(fields), flush=True)


def run(job, client):
    config = IdempotencyConfig(
        event_key_jmespath="key",
        payload_validation_jmespath="key" if job["check"] else "",
        use_local_cache=False,
        lambda_context=None if job["left"] is None else Context(job["left"]),
    )
    ran = False

    @idempotent_function(
        data_keyword_argument="job",
        persistence_store=DynamoDBPersistenceLayer(table_name=job["table"], boto3_client=client),
        config=config,
        key_prefix=job["queue"],
    )
    def charge(job):
        nonlocal ran
        ran = True
        end = job["end"]
        if end == "hold":
            answer(running=True)
            end = sys.stdin.readline().strip()
        if end == "raise":
            raise ValueError("declined")
        return {"charged": job["key"]}

    try:
        result, errors = charge(job=job), []
    except Exception as error:
        result, errors = None, []
        while error is not None:
            errors.append(type(error).__name__)
            error = error.__cause__
    answer(ran=ran, result=result, errors=errors)


client = boto3.client("dynamodb")
for line in sys.stdin:
    run(json.loads(line), client)

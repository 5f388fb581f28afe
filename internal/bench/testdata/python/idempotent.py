"""Powertools for AWS Lambda (Python): the batch processor, with idempotency for each message."""
import os

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig, idempotent_function

processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
config = IdempotencyConfig(event_key_jmespath="messageId")


@idempotent_function(
    data_keyword_argument="record",
    config=config,
    persistence_store=DynamoDBPersistenceLayer(table_name=os.environ["SQSAFE_TABLE"]),
)
def one(record):
    if record.json_body["fail"]:
        raise ValueError("declined")


def handler(event, context):
    config.register_lambda_context(context)
    return process_partial_response(event=event, record_handler=one, processor=processor, context=context)

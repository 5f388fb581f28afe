"""Powertools for AWS Lambda (Python): the batch processor."""
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def one(record):
    if record.json_body["fail"]:
        raise ValueError("declined")


def handler(event, context):
    return process_partial_response(event=event, record_handler=one, processor=processor, context=context)

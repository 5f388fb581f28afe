// Powertools for AWS Lambda (TypeScript): the batch processor.
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';

const processor = new BatchProcessor(EventType.SQS);
const one = async (record) => {
  if (JSON.parse(record.body).fail) throw new Error('declined');
};

export const handler = (event, context) =>
  processPartialResponse(event, one, processor, { context, throwOnFullBatchFailure: false });

// Powertools for AWS Lambda (TypeScript): the batch processor, with idempotency for each message.
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';

const processor = new BatchProcessor(EventType.SQS);
const config = new IdempotencyConfig({ eventKeyJmesPath: 'messageId' });
const one = makeIdempotent(
  async (record) => {
    if (JSON.parse(record.body).fail) throw new Error('declined');
  },
  { config, persistenceStore: new DynamoDBPersistenceLayer({ tableName: process.env.SQSAFE_TABLE }) }
);

export const handler = (event, context) => {
  config.registerLambdaContext(context);
  return processPartialResponse(event, one, processor, { context, throwOnFullBatchFailure: false });
};

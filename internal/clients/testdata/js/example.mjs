import { SQSClient, GetQueueUrlCommand, SendMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { DynamoDBClient, PutItemCommand, GetItemCommand } from "@aws-sdk/client-dynamodb";

const sqs = new SQSClient({});
const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: "orders" }));
await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "hello" }));
const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));

const dynamodb = new DynamoDBClient({});
await dynamodb.send(new PutItemCommand({ TableName: "jobs", Item: { id: { S: "1" }, body: { S: Messages[0].Body } } }));
const { Item } = await dynamodb.send(new GetItemCommand({ TableName: "jobs", Key: { id: { S: "1" } } }));
console.log(Item.body.S);

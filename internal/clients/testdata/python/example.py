import boto3

sqs = boto3.client("sqs")
url = sqs.get_queue_url(QueueName="orders")["QueueUrl"]
sqs.send_message(QueueUrl=url, MessageBody="hello")
message = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1)["Messages"][0]
sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

table = boto3.resource("dynamodb").Table("jobs")
table.put_item(Item={"id": "1", "body": message["Body"]})
print(table.get_item(Key={"id": "1"})["Item"]["body"])

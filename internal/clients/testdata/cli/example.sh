url=$(aws --endpoint-url "$AWS_ENDPOINT_URL" sqs get-queue-url --queue-name orders --query QueueUrl --output text)
aws --endpoint-url "$AWS_ENDPOINT_URL" sqs send-message --queue-url "$url" --message-body hello > /dev/null
body=$(aws --endpoint-url "$AWS_ENDPOINT_URL" sqs receive-message --queue-url "$url" --query 'Messages[0].Body' --output text)
aws dynamodb put-item --table-name jobs --item "{\"id\": {\"S\": \"1\"}, \"body\": {\"S\": \"$body\"}}"
aws dynamodb get-item --table-name jobs --key '{"id": {"S": "1"}}' --query Item.body.S --output text

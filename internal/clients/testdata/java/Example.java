import java.util.Map;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.sqs.SqsClient;

public class Example {
    public static void main(String[] args) {
        var sqs = SqsClient.create();
        var url = sqs.getQueueUrl(b -> b.queueName("orders")).queueUrl();
        sqs.sendMessage(b -> b.queueUrl(url).messageBody("hello"));
        var message = sqs.receiveMessage(b -> b.queueUrl(url).waitTimeSeconds(1)).messages().get(0);

        var dynamodb = DynamoDbClient.create();
        var item = Map.of("id", AttributeValue.fromS("1"), "body", AttributeValue.fromS(message.body()));
        dynamodb.putItem(b -> b.tableName("jobs").item(item));
        var key = Map.of("id", AttributeValue.fromS("1"));
        System.out.println(dynamodb.getItem(b -> b.tableName("jobs").key(key)).item().get("body").s());
    }
}

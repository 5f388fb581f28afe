package stackedit

import (
	"fmt"

	"github.com/sqsafe/sqsafe/internal/alarmset"
)

// ours are the topics of a template that has those that are added here.
var ours = alarmset.Topics{
	Alarms:  "!If [HasOwnTopic, !Ref AlarmTopic, !Ref AlarmTopicArn]",
	Notices: "!If [HasOwnNotices, !Ref AlarmTopic, !Ref NoticeTopicArn]",
}

// chooseTopics says where alarms go: to topics that are named, to ours, or to the
// AlarmTopicArn or AlarmTopic of a template that has nothing else of ours.
func (a *addition) chooseTopics() error {
	exists := func(id string) bool { return a.has("Parameters", id) || a.has("Resources", id) }
	r := a.request
	for _, id := range []string{r.Topic, r.NoticeTopic} {
		if id != "" && !exists(id) {
			return fmt.Errorf("%s: no parameter or resource %s: name one that is a topic, or has its ARN", a.file, id)
		}
	}
	foreign := ""
	for _, id := range []string{"AlarmTopic", "AlarmTopicArn"} {
		if exists(id) && !a.has("Conditions", "HasOwnTopic") {
			foreign = id
		}
	}
	switch {
	case r.Topic != "":
		a.topics = alarmset.Topics{Alarms: "!Ref " + r.Topic, Notices: "!Ref " + r.Topic}
	case foreign != "":
		a.topics = alarmset.Topics{Alarms: "!Ref " + foreign, Notices: "!Ref " + foreign}
	default:
		a.topics = ours
	}
	switch {
	case r.NoticeTopic != "":
		a.topics.Notices = "!Ref " + r.NoticeTopic
	case a.topics != ours && r.Topic == "" && exists("NoticeTopicArn"):
		a.topics.Notices = "!Ref NoticeTopicArn"
	}
	if a.topics == ours {
		a.addTopics()
	}
	return nil
}

// addTopics adds a topic of the stack, with parameters for other ones.
func (a *addition) addTopics() {
	if len(a.request.sets()) == 0 {
		return
	}
	a.put("Rules", "NoticesHaveATopic", `  NoticesHaveATopic:
    RuleCondition: !Not [!Equals [!Ref AlarmTopicArn, ""]]
    Assertions:
      - Assert: !Not [!Equals [!Ref NoticeTopicArn, ""]]
        AssertDescription: "With AlarmTopicArn give NoticeTopicArn too: the same ARN for one topic."
`)
	a.put("Conditions", "HasOwnTopic", `  HasOwnTopic: !Equals [!Ref AlarmTopicArn, ""]
`)
	a.put("Conditions", "HasOwnNotices", `  HasOwnNotices: !And [!Condition HasOwnTopic, !Equals [!Ref NoticeTopicArn, ""]]
`)
	a.put("Conditions", "HasSubscriber",
		`  HasSubscriber: !And [!Condition HasOwnTopic, !Not [!Equals [!Ref AlarmEmail, ""]]]
`)
	a.put("Resources", "AlarmTopic", `  AlarmTopic: {Type: AWS::SNS::Topic, Condition: HasOwnTopic}
`)
	a.put("Resources", "AlarmSubscription", `  AlarmSubscription: {Type: AWS::SNS::Subscription, Condition: HasSubscriber,
    Properties: {TopicArn: !Ref AlarmTopic, Protocol: email, Endpoint: !Ref AlarmEmail}}
`)
	a.put("Outputs", "AlarmSubscribers",
		`  AlarmSubscribers: {Description: Whom the alarms reach., Value: !If [HasSubscriber,
    "the address in AlarmEmail, once somebody has followed the link in the mail from SNS", !If [HasOwnTopic,
    "NOBODY, since the topic has no subscription yet; deploy with AlarmEmail or AlarmTopicArn",
    "the subscribers of the topic in AlarmTopicArn"]]}
`)
}

package envelope_test

import (
	"errors"
	"testing"

	"github.com/sqsafe/sqsafe/envelope"
	"github.com/sqsafe/sqsafe/fault"
	"github.com/sqsafe/sqsafe/handler"
	"github.com/sqsafe/sqsafe/handler/handlertest"
)

const pointer = `["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large","s3Key":"k/1"}]`

func TestAClaimCheckIsPermanentAndNamesItsObject(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		pointer,
		`[ "com.amazon.sqs.javamessaging.MessageS3Pointer" , {"s3Key":"k/1","s3BucketName":"large"} ]`,
	} {
		o := open(t, envelope.ClaimCheck, handlertest.Message{Body: body})
		o.wantRefused(t, "s3://large/k/1", "envelope.ParsePointer")
		found, ok := errors.AsType[*envelope.PointerError](o.err)
		if !ok || found.Pointer != (envelope.Pointer{Bucket: "large", Key: "k/1"}) {
			t.Errorf("error is %v, want a *PointerError", o.err)
		}
	}
}

func TestThePointerOfAProducerIsRead(t *testing.T) {
	t.Parallel()
	p := envelope.Pointer{Bucket: "large", Key: `k/"1"`}
	if read, ok := envelope.ParsePointer(p.Content()); !ok || read != p {
		t.Errorf("%s is read as %v, %v", p.Content(), read, ok)
	}
	if content := (envelope.Pointer{Bucket: "large", Key: "k/1"}).Content(); content != pointer {
		t.Errorf("content %s, want %s", content, pointer)
	}
}

func TestOtherBodiesAreNotClaimChecks(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"id":1}`, "hello", "", "null", `[]`, `["S3Pointer"]`, `[1,{"s3BucketName":"b","s3Key":"k"}]`,
		`["other",{"s3BucketName":"b","s3Key":"k"}]`, `["x.S3Pointer",{"s3BucketName":"b"}]`, `["x.S3Pointer","k"]`,
		`["x.S3Pointer",{"s3BucketName":"b","s3Key":"k"},1]`,
	} {
		open(t, envelope.ClaimCheck, handlertest.Message{Body: body}).wantContent(t, body)
	}
}

func TestADeadLetterOfAClaimCheckKeepsItsBody(t *testing.T) {
	t.Parallel()
	q := handlertest.Queue{Handler: envelope.SNS(envelope.ClaimCheck(handler.Func(nil)), nil)}
	body := notification(pointer)
	letter := q.Run(t, handlertest.Message{Body: body}).RequireDeadLetter(t, "m1", fault.ReasonDecode)
	if letter.Message.Body != body {
		t.Errorf("the letter has %q, want the body as it came", letter.Message.Body)
	}
}

func FuzzParsePointer(f *testing.F) {
	for _, content := range []string{pointer, `["S3Pointer",{}]`, `[`, "null", ""} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		p, ok := envelope.ParsePointer(content)
		if whole := p.Bucket != "" && p.Key != ""; ok != whole || !ok && p != (envelope.Pointer{}) {
			t.Errorf("%q is read as %s, %v", content, p, ok)
		}
	})
}

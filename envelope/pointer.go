package envelope

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sqsafe/sqsafe/handler"
)

// Pointer is the S3 object in which the SQS extended client libraries have
// stored a payload that is too large for a message.
type Pointer struct{ Bucket, Key string }

// String returns the object's address as s3://bucket/key.
func (p Pointer) String() string { return "s3://" + p.Bucket + "/" + p.Key }

// Content returns the claim check for the object: the body that [ParsePointer] parses. It
// is that of version 2 of the Java library, and of the Python library.
func (p Pointer) Content() string {
	at, err := json.Marshal(map[string]string{"s3BucketName": p.Bucket, "s3Key": p.Key})
	if err != nil { // strings cannot fail
		return ""
	}
	return `["software.amazon.payloadoffloading.Payload` + pointerClass + `",` + string(at) + `]`
}

// PointerError says that a body is a claim check: a pointer to the payload. It
// is wrapped in a *fault.DecodeError.
type PointerError struct{ Pointer Pointer }

// Error names the object and says what to do.
func (e *PointerError) Error() string {
	return fmt.Sprintf("body is a claim check for the payload at %.300s, want the payload: "+
		"read the object in a handler of your own, to which envelope.ParsePointer gives its address", e.Pointer)
}

// ClaimCheck fails bodies that are claim checks of the SQS extended client
// libraries permanently, with a [*PointerError]. The object they point to is
// neither read nor deleted, so that a replay finds it. All other bodies are
// passed on unchanged.
func ClaimCheck(next handler.Handler) handler.Handler {
	return wrapped{next, func(m *handler.Message) error {
		if p, ok := ParsePointer(m.Content()); ok {
			return &PointerError{Pointer: p}
		}
		return nil
	}}
}

// pointerClass is the end of the class names that the libraries write before a
// pointer: that of the Java library until version 1, and the one that its
// version 2 and the Python library write.
const pointerClass = "S3Pointer"

// ParsePointer parses a claim check: a JSON array of a class name and an object
// with s3BucketName and s3Key. ok is false for all other content.
func ParsePointer(content string) (p Pointer, ok bool) {
	var parts []json.RawMessage
	if json.Unmarshal([]byte(content), &parts) != nil || len(parts) != 2 {
		return Pointer{}, false
	}
	var class string
	if json.Unmarshal(parts[0], &class) != nil || !strings.HasSuffix(class, pointerClass) {
		return Pointer{}, false
	}
	at := object(string(parts[1]))
	p.Bucket, _ = at.text("s3BucketName")
	p.Key, _ = at.text("s3Key")
	if p.Bucket == "" || p.Key == "" {
		return Pointer{}, false
	}
	return p, true
}

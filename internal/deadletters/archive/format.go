package archive

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sqsafe/sqsafe/dlq"
	"github.com/sqsafe/sqsafe/internal/deadletters"
)

// formatName is the member by which a file is known.
const formatName = "sqsafe-dead-letters"

const formatVersion = 1

// Header is the first line of an archive.
type Header struct {
	Format  string    `json:"format"`
	Version int       `json:"v"`
	Queue   string    `json:"queue"`
	Created time.Time `json:"created"`
	Who     string    `json:"who,omitempty"`
	Why     string    `json:"why,omitempty"`
	// KeepUntil is when the file may be deleted; zero means never.
	KeepUntil time.Time `json:"keepUntil,omitzero"`
}

// line is a line after the first: a letter with its checksum, or the end.
type line struct {
	SHA256 string          `json:"sha256"`
	Letter json.RawMessage `json:"letter,omitempty"`
	// End is the number of letters in the last line, whose checksum is that of all lines.
	End *int `json:"end,omitempty"`
}

// letter is a message as a file has it.
type letter struct {
	ID string `json:"id"`
	// Body is the body as it is; Encoding is base64 if it is no text in UTF-8.
	Body       string                   `json:"body"`
	Encoding   string                   `json:"encoding,omitempty"`
	Attributes map[string]dlq.Attribute `json:"attributes,omitempty"`
	System     map[string]string        `json:"system,omitempty"`
}

func encode(m *deadletters.Message) ([]byte, error) {
	l := letter{ID: m.ID, Body: m.Body, Attributes: map[string]dlq.Attribute{}, System: m.System}
	if !utf8.ValidString(m.Body) {
		l.Body, l.Encoding = base64.StdEncoding.EncodeToString([]byte(m.Body)), "base64"
	}
	for name, a := range m.Attributes {
		l.Attributes[name] = dlq.Attribute{Type: aws.ToString(a.DataType), Value: a.StringValue, Binary: a.BinaryValue}
	}
	raw, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return json.Marshal(line{SHA256: digest(raw), Letter: raw})
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

var (
	errChecksum = errors.New("the checksum differs: the line was changed or damaged")
	errNoFormat = errors.New("it is no archive of dead letters")
)

func (l *line) message() (*deadletters.Message, error) {
	if digest(l.Letter) != l.SHA256 {
		return nil, errChecksum
	}
	var kept letter
	if err := json.Unmarshal(l.Letter, &kept); err != nil {
		return nil, err
	}
	m := &deadletters.Message{ID: kept.ID, Body: kept.Body, System: kept.System}
	switch kept.Encoding {
	case "":
	case "base64":
		body, err := base64.StdEncoding.DecodeString(kept.Body)
		if err != nil {
			return nil, err
		}
		m.Body = string(body)
	default:
		return nil, fmt.Errorf("the encoding %q is not known", kept.Encoding)
	}
	if len(kept.Attributes) > 0 {
		m.Attributes = map[string]types.MessageAttributeValue{}
	}
	for name, a := range kept.Attributes {
		m.Attributes[name] = types.MessageAttributeValue{
			DataType: aws.String(a.Type), StringValue: a.Value, BinaryValue: a.Binary,
		}
	}
	return m, nil
}

package sts_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sqsafe/sqsafe/internal/localaws/sts"
)

func ExampleService_Answer() {
	form := url.Values{"Action": {"GetCallerIdentity"}, "Version": {sts.Version}}
	w := httptest.NewRecorder()
	sts.New("000000000000").Answer(w, form, "request-1")
	fmt.Println(w.Code, strings.ReplaceAll(w.Body.String(), "><", ">\n<"))
	// Output:
	// 200 <GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
	// <GetCallerIdentityResult>
	// <Arn>arn:aws:iam::000000000000:root</Arn>
	// <UserId>000000000000</UserId>
	// <Account>000000000000</Account>
	// </GetCallerIdentityResult>
	// <ResponseMetadata>
	// <RequestId>request-1</RequestId>
	// </ResponseMetadata>
	// </GetCallerIdentityResponse>
}

func TestOtherOperationsAreRefusedByName(t *testing.T) {
	t.Parallel()
	form := url.Values{"Action": {"AssumeRole"}, "Version": {sts.Version}}
	w := httptest.NewRecorder()
	sts.New("000000000000").Answer(w, form, "request-1")
	const message = "does not implement AssumeRole; it has GetCallerIdentity"
	for _, want := range []string{"<Code>InvalidAction</Code>", message} {
		if w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %q in %d %s", want, w.Code, w.Body)
		}
	}
}

func TestServesItsOwnVersionOnly(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{sts.Version: true, "2012-11-05": false, "": false} {
		if got := sts.Serves(url.Values{"Version": {version}}); got != want {
			t.Errorf("%q: got %t", version, got)
		}
	}
}

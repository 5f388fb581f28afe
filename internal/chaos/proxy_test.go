//go:build unix

package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/sqsafe/sqsafe/internal/localaws"
	"github.com/sqsafe/sqsafe/internal/localaws/localtest"
)

func TestTheProxyDoesEachHarm(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	p := newProxy(1, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		taken.Add(1)
		_, _ = io.WriteString(w, "done")
	}))
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	if answered, lost := dialAll(server.URL, 60); answered != 60 || lost != 0 {
		t.Errorf("before it is armed: %d of 60 calls are answered, %d are lost", answered, lost)
	}
	p.arm(true)
	taken.Store(0)
	answered, lost := dialAll(server.URL, 600)
	_, harms := p.count()
	for _, h := range []harm{delays, throttles, resets, loses} {
		if harms[h] == 0 {
			t.Errorf("no call is %s: %v", h, harms)
		}
	}
	if want := int64(harms[resets] + harms[loses]); lost != want {
		t.Errorf("%d calls have no answer, want %d", lost, want)
	}
	if want := answered + int64(harms[loses]); taken.Load() != want {
		t.Errorf("%d calls took effect, want the %d answered ones and %d more", taken.Load(), answered, harms[loses])
	}
}

// dialAll makes calls side by side, since some wait.
func dialAll(url string, n int) (answered, lost int64) {
	var good, bad atomic.Int64
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			for range n / 20 {
				response, err := http.Post(url, "", strings.NewReader("{}"))
				if err != nil {
					bad.Add(1)
					continue
				}
				if response.StatusCode == http.StatusOK {
					good.Add(1)
				}
				_ = response.Body.Close()
			}
		})
	}
	callers.Wait()
	return good.Load(), bad.Load()
}

func TestTheSDKUnderstandsTheProxy(t *testing.T) {
	t.Parallel()
	p := newProxy(1, localaws.New(nil))
	p.arm(true)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	config := localtest.Config(localaws.New(nil))
	config.BaseEndpoint, config.HTTPClient = &server.URL, server.Client()
	client := sqs.NewFromConfig(config, func(o *sqs.Options) { o.Retryer = aws.NopRetryer{} })
	list := func() error {
		_, err := client.ListQueues(t.Context(), nil)
		return err
	}
	p.outage(ofQueues, true)
	refused, ok := errors.AsType[smithy.APIError](list())
	if !ok || refused.ErrorCode() != "InternalFailure" {
		t.Errorf("an outage is %v, want InternalFailure", refused)
	}
	p.outage(ofQueues, false)
	for range 1000 {
		if refused, ok := errors.AsType[smithy.APIError](list()); ok {
			if refused.ErrorCode() != "RequestThrottled" {
				t.Errorf("a throttle is %v, want RequestThrottled", refused)
			}
			return
		}
	}
	t.Error("no call is throttled")
}

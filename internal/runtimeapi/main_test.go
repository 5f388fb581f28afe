package runtimeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// The test binary is also the function under test: if this variable is set, it
// runs one of the programs instead of the tests.
const programVariable = "TEST_PROGRAM"

var programs = map[string]func(){
	"lambda":        func() { lambda.Start(work) },
	"signalled":     signalled,
	"no SIGTERM":    ignoreSIGTERM,
	"slow to end":   slowToEnd,
	"exits":         func() { os.Exit(3) },
	"ends":          func() { os.Exit(0) },
	"hangs":         hang,
	"reports init":  reportInit,
	"never asks on": answerOnce,
	"stops asking":  stopAsking,
	"conversation":  converse,
	"lingers":       linger,
	"hosts":         host,
	"headers":       showHeaders,
	"one by one":    oneByOne,
	"daemonizes":    daemonize,
	"waits and exits": func() {
		fmt.Println("starting")
		<-time.After(300 * time.Millisecond)
		os.Exit(3)
	},
}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(programVariable)]; program != nil {
		program()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// order tells the function what to do in an invocation.
type order struct {
	Do   string `json:"do"`
	Text string `json:"text,omitempty"`
	Size int    `json:"size,omitempty"`
}

// reportVariable leads the program to its pipe.
const reportVariable = "PIPE"

// report describes the invocation as the function sees it.
type report struct {
	PID       int
	Text      string
	RequestID string
	ARN       string
	Trace     string
	Left      time.Duration
	Directory string
	Variables []string
}

func work(ctx context.Context, o order) (any, error) {
	switch o.Do {
	case "fail":
		return nil, errors.New(o.Text)
	case "panic":
		panic(o.Text)
	case "wait and panic":
		<-time.After(time.Duration(o.Size) * time.Millisecond)
		panic(o.Text)
	case "panic elsewhere":
		go panic(o.Text)
		hang()
	case "exit":
		os.Exit(o.Size)
	case "say and hang":
		fmt.Println(o.Text)
		hang()
	case "say":
		fmt.Print(o.Text)
	case "report":
		number, err := strconv.Atoi(os.Getenv(reportVariable))
		if err != nil {
			return nil, err
		}
		pipe := os.NewFile(uintptr(number), "pipe")
		_, err = pipe.WriteString(o.Text)
		return nil, err
	case "write":
		return strings.Repeat("x", o.Size), nil
	case "stream and fail":
		return stream{io.MultiReader(strings.NewReader("part"), iotest.ErrReader(errors.New(o.Text)))}, nil
	case "meet":
		meet(o.Size)
	case "wait":
		<-time.After(time.Duration(o.Size) * time.Millisecond)
	case "hold":
		hold(o.Text)
	case "leave a child":
		return nil, startLingerer(o.Text)
	}
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	directory, _ := os.Getwd()
	return report{
		PID: os.Getpid(), Text: o.Text, RequestID: lc.AwsRequestID, ARN: lc.InvokedFunctionArn,
		Trace: trace(ctx), Left: time.Until(deadline), Directory: directory, Variables: os.Environ(),
	}, nil
}

// trace returns the trace id of an invocation. The environment variable has it
// only if the process runs one invocation at a time.
func trace(ctx context.Context) string {
	id, _ := ctx.Value("x-amzn-trace-id").(string)
	if own := os.Getenv("_X_AMZN_TRACE_ID"); lambdacontext.MaxConcurrency() == 1 && own != id {
		return own + " differs from " + id
	}
	return id
}

var meeting = struct {
	sync.Mutex
	here int
	full chan struct{}
}{full: make(chan struct{})}

// meet returns when size invocations are in it at the same time.
func meet(size int) {
	meeting.Lock()
	meeting.here++
	full := meeting.full
	if meeting.here == size {
		meeting.here, meeting.full = 0, make(chan struct{})
		close(full)
	}
	meeting.Unlock()
	<-full
}

// hold returns when its peer closes the connection.
func hold(address string) {
	c, err := net.Dial("tcp", address)
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	fmt.Println(err)
}

// stream is a response that is sent as a stream, since it cannot be marshalled.
type stream struct{ io.Reader }

func (stream) MarshalJSON() ([]byte, error) { return nil, errors.New("no JSON") }

func hang() { select {} }

func signalled() {
	lambda.StartWithOptions(work, lambda.WithEnableSIGTERM(func() {
		fmt.Println("asked to end")
		os.Exit(0)
	}))
}

func ignoreSIGTERM() {
	signal.Ignore(syscall.SIGTERM)
	lambda.Start(work)
}

func slowToEnd() {
	lambda.StartWithOptions(work, lambda.WithEnableSIGTERM(func() {
		fmt.Println("asked to end")
		<-time.After(100 * time.Millisecond)
		fmt.Println("ended")
		os.Exit(0)
	}))
}

func startLingerer(address string) error {
	c := exec.Command(os.Args[0])
	c.Env = []string{programVariable + "=lingers", "ADDRESS=" + address}
	c.Stdout = os.Stdout
	return c.Start()
}

// linger runs until it is killed. The peer notices that by the end of the
// connection.
func linger() {
	if _, err := net.Dial("tcp", os.Getenv("ADDRESS")); err != nil {
		fmt.Println(err)
	}
	hang()
}

// host is a parent process that is killed while its function runs.
func host() {
	f, err := runtimeapi.New(runtimeapi.Options{
		Name:   "orphan",
		Binary: os.Args[0],
		Environment: map[string]string{
			programVariable: "lingers",
			"ADDRESS":       os.Getenv("ADDRESS"),
		},
	})
	if err == nil {
		_, err = f.Invoke(context.Background(), []byte(`{}`))
	}
	fmt.Println(err)
}

func url(path string) string { return "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + path }

const invocationPath = "/2018-06-01/runtime/invocation/"

// call sends a request to the Runtime API and returns the response and its
// body.
func call(method, path, body string, header ...string) (*http.Response, string) {
	r, _ := http.NewRequest(method, url(path), bytes.NewBufferString(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	defer response.Body.Close()
	b, _ := io.ReadAll(response.Body)
	return response, string(b)
}

func reportInit() {
	call("POST", "/2018-06-01/runtime/init/error", `{"errorType":"Config","errorMessage":"PAYMENT_URL is not set"}`)
	hang()
}

func takeEvent() (id, body string) {
	response, body := call("GET", invocationPath+"next", "")
	return response.Header.Get("Lambda-Runtime-Aws-Request-Id"), body
}

// oneByOne requests no second event before it has answered the first, whatever
// its environment says, and answers slowly.
func oneByOne() {
	for {
		id, _ := takeEvent()
		fmt.Println("taken")
		<-time.After(600 * time.Millisecond)
		call("POST", invocationPath+id+"/response", `"done"`)
	}
}

// showHeaders answers with the headers of its event.
func showHeaders() {
	response, _ := call("GET", invocationPath+"next", "")
	headers := map[string]string{}
	for name := range response.Header {
		headers[name] = response.Header.Get(name)
	}
	b, _ := json.Marshal(headers)
	call("POST", invocationPath+headers["Lambda-Runtime-Aws-Request-Id"]+"/response", string(b))
	hang()
}

func answerOnce() {
	id, _ := takeEvent()
	call("POST", invocationPath+id+"/response", `"done"`)
	hang()
}

// stopAsking disconnects while it waits for its second event.
func stopAsking() {
	id, _ := takeEvent()
	call("POST", invocationPath+id+"/response", `"done"`)
	impatient := http.Client{Timeout: 20 * time.Millisecond}
	_, err := impatient.Get(url(invocationPath + "next"))
	fmt.Println(err)
	hang()
}

// converse sends the requests in its event to the Runtime API, and answers with
// the responses. It replaces {id} by the request id.
func converse() {
	extension, _ := call("POST", "/2020-01-01/extension/register", `{"events":[]}`, "Lambda-Extension-Name", "test")
	previous := ""
	for {
		id, body := takeEvent()
		var requests []request
		_ = json.Unmarshal([]byte(body), &requests)
		replies := make([]reply, 0, len(requests)+1)
		replies = append(replies, reply{extension.StatusCode, extension.Header.Get("Lambda-Extension-Identifier")})
		replace := strings.NewReplacer("{id}", id, "{previous}", previous)
		for _, r := range requests {
			response, body := call(r.Method, replace.Replace(r.Path), r.Body, r.Header...)
			replies = append(replies, reply{response.StatusCode, body})
		}
		b, _ := json.Marshal(replies)
		last, _ := call("POST", invocationPath+id+"/response", string(b))
		fmt.Println("answer:", last.StatusCode)
		previous = id
	}
}

type request struct {
	Method, Path, Body string
	Header             []string
}

type reply struct {
	Status int
	Body   string
}

// killNow ends a process as the system does, on each system.
func killNow(t *testing.T, id int) {
	t.Helper()
	process, err := os.FindProcess(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
}

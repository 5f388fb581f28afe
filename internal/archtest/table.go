package archtest

import "slices"

// Room is a row of the import table: what the packages at Path may import
// beyond the standard library.
type Room struct {
	// Path is the package's path below the module; "." is the module's root, and
	// a "/..." at the end stands for everything below as well.
	Path string
	// Ours are the packages of this module that may be imported directly.
	Ours []string
	// Third are the packages of other modules that may be imported directly.
	Third []string
	// Never are packages that must not be linked, however indirectly.
	Never []string
	// Tests are further packages that the room's tests may import. What [TestKit]
	// lists they may anyway.
	Tests []string
	// Host marks a room that may read the environment and end the process.
	Host bool
}

const (
	lambdaEvents  = "github.com/aws/aws-lambda-go/events"
	lambdaContext = "github.com/aws/aws-lambda-go/lambdacontext"
	lambdaRuntime = "github.com/aws/aws-lambda-go/lambda"
	lambdaErrors  = "github.com/aws/aws-lambda-go/lambda/messages"
	sdk           = "github.com/aws/aws-sdk-go-v2/..."
	sdkCore       = "github.com/aws/aws-sdk-go-v2/aws/..."
	sdkKeys       = "github.com/aws/aws-sdk-go-v2/credentials"
	sdkConfig     = "github.com/aws/aws-sdk-go-v2/config/..."
	sdkSQS        = "github.com/aws/aws-sdk-go-v2/service/sqs/..."
	sdkDynamoDB   = "github.com/aws/aws-sdk-go-v2/service/dynamodb/..."
	sdkCloudWatch = "github.com/aws/aws-sdk-go-v2/service/cloudwatch/..."
	smithy        = "github.com/aws/smithy-go/..."
	kong          = "github.com/alecthomas/kong"
	lipgloss      = "github.com/charmbracelet/lipgloss/..."
	terminal      = "github.com/muesli/termenv"
	terminalSize  = "github.com/charmbracelet/x/term"
	yaml          = "go.yaml.in/yaml/v4"
	anyThird      = "third-party/..."
	anyOurs       = "./..."
	localaws      = "internal/localaws/..."
)

// noSDK keeps the AWS SDK out of the rooms that a function can use without it.
func noSDK() []string { return []string{sdk, smithy} }

// forCommands are packages that cost a function start-up time and size and
// that only commands need.
func forCommands() []string {
	return []string{
		"internal/alarm/...", "internal/cli", "internal/demo/...", "internal/endpoint", "internal/eventsource/...",
		"internal/jobs", "internal/ledger", "internal/local", localaws, "internal/metricmath", "internal/runtimeapi",
		"internal/stack",
		sdkConfig, sdkCloudWatch, kong, lipgloss, terminal, yaml,
	}
}

// Rooms is the import table, from the leaves up. Where several rows fit a
// package, the one with its own path counts, or else the longest.
func Rooms() []Room {
	return slices.Concat(libraryRooms(), deployedRooms(), commandRooms(), testRooms())
}

// libraryRooms are the packages that users build with.
func libraryRooms() []Room {
	return []Room{
		{Path: "fault", Never: []string{anyOurs, anyThird}},
		{Path: "backoff", Never: []string{anyOurs, anyThird}},
		{Path: "internal/sqsevent", Third: []string{lambdaEvents}, Never: append(noSDK(), anyOurs)},
		{
			Path:  "handler",
			Ours:  []string{"fault", "backoff", "internal/sqsevent"},
			Third: []string{lambdaEvents, lambdaContext, lambdaErrors},
			Never: append(noSDK(), lambdaRuntime),
			Tests: []string{"idem"},
		},
		{
			Path: "handler/handlertest", Ours: []string{"handler"}, Third: []string{lambdaEvents, lambdaErrors},
			Never: noSDK(), Tests: []string{"fault", "idem", "dlq"},
		},
		{Path: "envelope", Ours: []string{"handler", "fault"}, Never: noSDK(), Tests: []string{"idem"}},
		{
			Path:  "idem",
			Ours:  []string{"handler", "fault", "backoff"},
			Third: []string{lambdaContext},
			Never: noSDK(),
		},
		{
			Path:  "idem/idemtest",
			Ours:  []string{"idem", "handler", "fault"},
			Third: []string{lambdaEvents, "github.com/google/go-cmp/...", "pgregory.net/rapid"},
			Never: noSDK(),
		},
		{
			Path:  "idem/dynamo",
			Ours:  []string{"idem", "handler"},
			Third: []string{sdkCore, sdkDynamoDB, smithy},
			Never: append(forCommands(), "dlq", "queue", sdkSQS),
		},
		{
			Path:  "dlq",
			Ours:  []string{"handler", "fault", "queue"},
			Third: []string{lambdaEvents, lambdaContext, sdkCore, sdkSQS, smithy},
			Never: append(forCommands(), "idem/...", sdkDynamoDB),
		},
		{
			Path:  "queue",
			Ours:  []string{"handler", "fault"},
			Third: []string{lambdaEvents, sdkCore, sdkSQS, smithy},
			Never: append(forCommands(), "idem/...", "dlq", sdkDynamoDB),
		},
		{
			Path:  "metrics",
			Ours:  []string{"handler", "fault"},
			Third: []string{lambdaContext},
			Never: append(noSDK(), lambdaRuntime),
		},
		{
			Path: ".",
			Ours: []string{
				"handler", "fault", "backoff", "idem", "idem/dynamo", "dlq", "queue", "metrics", "internal/wholebody",
			},
			Third: []string{lambdaEvents, lambdaContext, lambdaRuntime, sdkCore, sdkSQS, sdkDynamoDB, smithy},
			Never: forCommands(),
			Tests: []string{"envelope"},
			Host:  true,
		},
	}
}

// deployedRooms are the functions and workers, and what only they use.
func deployedRooms() []Room {
	return []Room{
		{
			Path: "functions/...",
			Ours: []string{
				".", "fault", "backoff", "handler", "idem", "idem/dynamo", "dlq", "queue", "functions/internal/...",
			},
			Third: []string{lambdaEvents, lambdaContext, lambdaRuntime, sdkCore, sdkSQS, sdkDynamoDB},
			Never: forCommands(),
			Host:  true,
		},
		{
			Path:  "functions/internal/...",
			Ours:  []string{"fault", "idem", "functions/internal/..."},
			Never: forCommands(),
			Tests: []string{"handler"},
			Host:  true,
		},
		{
			Path:  "functions/internal/stock",
			Ours:  []string{"fault", "idem/dynamo"},
			Third: []string{sdkCore, sdkDynamoDB},
			Never: forCommands(),
			Tests: []string{"handler", "idem"},
		},
		{
			Path: "functions/charge-worker",
			Ours: []string{".", "worker", "functions/internal/..."},
			Host: true,
		},
		{
			Path:  "worker",
			Ours:  []string{".", "handler", "backoff", "queue", "metrics", "internal/eventsource"},
			Third: []string{lambdaEvents, lambdaErrors, sdkConfig, sdkCore, sdkSQS, sdkCloudWatch},
			Never: []string{localaws, kong, lipgloss, terminal, yaml},
			Tests: []string{"fault", "idem"},
			Host:  true,
		},
	}
}

// commandRooms are the commands, and what only they use.
func commandRooms() []Room {
	return []Room{
		{Path: "internal/metricmath", Never: []string{anyOurs, anyThird}},
		{Path: "internal/localaws/...", Ours: []string{localaws}, Never: []string{anyThird}},
		{
			Path: "internal/localaws/cloudwatch", Ours: []string{localaws, "internal/metricmath"},
			Never: []string{anyThird},
		},
		{
			Path:  "internal/localaws/localtest",
			Ours:  []string{localaws},
			Third: []string{sdkCore, sdkKeys, sdkSQS, sdkDynamoDB, smithy},
		},
		{Path: "internal/wholebody", Third: []string{sdkCore}},
		{Path: "internal/eventsource/filter", Never: []string{anyOurs, anyThird}},
		{
			Path:  "internal/eventsource",
			Ours:  []string{"internal/eventsource/filter"},
			Third: []string{sdkCore, sdkSQS, smithy},
		},
		{Path: "internal/runtimeapi"},
		{
			Path: "internal/alarm", Ours: []string{"internal/metricmath"}, Never: []string{anyThird},
			Tests: []string{"internal/alarm/sqsmetrics", "internal/stack"},
		},
		{Path: "internal/alarm/sqsmetrics", Ours: []string{"internal/alarm"}, Never: []string{anyThird}},
		{Path: "internal/stack", Ours: []string{"internal/alarm", "internal/eventsource/filter"}, Third: []string{yaml}},
		{Path: "internal/jobs", Third: []string{sdkCore, sdkSQS}},
		{
			Path: "internal/ledger", Ours: []string{"handler"}, Third: []string{sdkCore, sdkDynamoDB},
			Tests: []string{"idem", "idem/dynamo"},
		},
		{
			Path:  "internal/endpoint",
			Ours:  []string{"internal/wholebody"},
			Third: []string{sdkCore, sdkKeys, smithy},
		},
		{
			Path: "internal/local",
			Ours: []string{
				"internal/endpoint", "internal/eventsource", "internal/jobs", "internal/runtimeapi", "internal/stack",
				localaws, "dlq", "fault", "handler", "idem", "metrics",
			},
			Third: []string{sdkCore, sdkKeys, sdkSQS, sdkDynamoDB, smithy},
		},
		{
			Path: "internal/cli",
			Ours: []string{
				"handler", "internal/endpoint", "internal/jobs", "internal/ledger", "internal/local", "internal/wholebody",
			},
			Third: []string{kong, lipgloss, terminal, terminalSize, sdkCore, sdkConfig, sdkSQS, sdkDynamoDB, smithy},
			Never: []string{"internal/demo/..."},
			Tests: []string{"idem", "idem/dynamo"},
			Host:  true,
		},
		{
			Path:  "internal/demo",
			Ours:  []string{"internal/demo/provider", "internal/cli", "internal/local"},
			Third: []string{sdkCore, sdkDynamoDB},
			Host:  true,
		},
		{Path: "internal/demo/provider", Never: []string{anyThird}},
		{Path: "cmd/sqsafe", Ours: []string{"internal/cli"}, Never: []string{"internal/demo/..."}, Host: true},
		{Path: "cmd/demo", Ours: []string{"internal/demo", "internal/cli"}, Host: true},
	}
}

// testRooms hold checks of the whole, and what these run.
func testRooms() []Room {
	return []Room{
		{Path: "internal/archtest"},
		{Path: "internal/conformance"}, // all of it is tests
		{
			Path: "internal/bench", Ours: []string{"internal/runtimeapi"}, Third: []string{lambdaEvents},
			Tests: []string{".", "handler", "internal/bench/job"}, Host: true,
		},
		{Path: "internal/bench/job", Never: []string{anyThird}},
		{
			Path: "internal/bench/bare", Ours: []string{"internal/bench/job"}, Third: []string{lambdaEvents, lambdaRuntime},
			Never: append(noSDK(), "handler", "idem"),
		},
		{
			Path: "internal/bench/ours", Ours: []string{"handler", "internal/bench/job"}, Third: []string{lambdaRuntime},
			Never: append(noSDK(), "idem"),
		},
		{
			Path: "internal/bench/ledger", Ours: []string{"handler", "idem", "internal/bench/job"},
			Third: []string{lambdaRuntime}, Never: noSDK(),
		},
		{
			Path:  "internal/crashproof", // likewise
			Tests: []string{"dlq", "fault", "handler", "internal/eventsource", "internal/runtimeapi"},
		},
		{Path: "internal/crashproof/function", Ours: []string{".", "handler", "idem"}, Host: true},
		{
			Path:  "internal/runbook", // likewise
			Tests: []string{"backoff", "dlq", "fault", "handler", "idem", "idem/dynamo", "queue"},
		},
		{
			Path:  "internal/samtest", // all of it is tests
			Tests: []string{"internal/runtimeapi", "internal/stack", "internal/demo/provider"},
		},
		{Path: "internal/powertools", Tests: []string{"idem", "idem/dynamo"}},
		{
			Path:  "internal/parity", // likewise
			Tests: []string{"dlq", "handler", "internal/eventsource", "internal/local", "internal/runtimeapi", "internal/stack"},
		},
		{
			Path:  "internal/parity/function",
			Ours:  []string{".", "fault", "idem", "worker"},
			Third: []string{lambdaEvents, lambdaRuntime},
			Host:  true,
		},
	}
}

// TestKit is what every test may import besides what its room may and this
// module's packages named …test.
func TestKit() []string {
	return []string{
		"github.com/google/go-cmp/...",
		"github.com/rogpeppe/go-internal/testscript",
		"pgregory.net/rapid",
		"github.com/aws/aws-lambda-go/...",
		sdk, smithy,
		localaws,
	}
}

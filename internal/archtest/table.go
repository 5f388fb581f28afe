package archtest

// Row is a row of the import table: what one package may import beyond the
// standard library. The table is a closed list: it names every package of the
// module and every import that a package may have.
type Row struct {
	// Path is the package's path below the module; "." is the module's root.
	Path string
	// Ours are the packages of this module that may be imported. They stand above
	// in the table, so that imports point one way.
	Ours []string
	// Third are the packages of other modules that may be imported.
	Third []string
	// Never are packages that must not be linked, however indirectly. A "/..." at
	// the end stands for everything below as well.
	Never []string
	// Tests are further packages of this module that the package's tests may
	// import, wherever they stand. What [TestKit] lists they may import anyway.
	Tests []string
	// Host marks a package that may read the environment and end the process.
	Host bool
	// Testing reports whether only tests import it, so that it may import testing.
	Testing bool
}

const (
	lambdaEvents  = "github.com/aws/aws-lambda-go/events"
	lambdaContext = "github.com/aws/aws-lambda-go/lambdacontext"
	lambdaRuntime = "github.com/aws/aws-lambda-go/lambda"
	lambdaErrors  = "github.com/aws/aws-lambda-go/lambda/messages"

	sdkCore        = "github.com/aws/aws-sdk-go-v2/aws"
	sdkARN         = "github.com/aws/aws-sdk-go-v2/aws/arn"
	sdkRetry       = "github.com/aws/aws-sdk-go-v2/aws/retry"
	sdkHTTP        = "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	sdkKeys        = "github.com/aws/aws-sdk-go-v2/credentials"
	sdkConfig      = "github.com/aws/aws-sdk-go-v2/config"
	sdkSQS         = "github.com/aws/aws-sdk-go-v2/service/sqs"
	sqsTypes       = "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	sdkDynamoDB    = "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamoDBTypes  = "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sdkCloudWatch  = "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	sdkFormation   = "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	formationTypes = "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	sdkLambda      = "github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdaTypes    = "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	sdkSNS         = "github.com/aws/aws-sdk-go-v2/service/sns"
	cloudTypes     = "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	smithy         = "github.com/aws/smithy-go"
	smithyStack    = "github.com/aws/smithy-go/middleware"
	smithyHTTP     = "github.com/aws/smithy-go/transport/http"
	sdkLogs        = "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logsTypes      = "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	licensecheck = "github.com/google/licensecheck"

	kong          = "github.com/alecthomas/kong"
	lipgloss      = "github.com/charmbracelet/lipgloss"
	lipglossTable = "github.com/charmbracelet/lipgloss/table"
	terminal      = "github.com/muesli/termenv"
	terminalSize  = "github.com/charmbracelet/x/term"
	terminalCodes = "github.com/charmbracelet/x/ansi"
	yaml          = "go.yaml.in/yaml/v4"
	unifiedDiff   = "github.com/aymanbagabas/go-udiff"
	goCmp         = "github.com/google/go-cmp/cmp"
	netListeners  = "golang.org/x/net/netutil"

	otelAttributes = "go.opentelemetry.io/otel/attribute"
	otelCodes      = "go.opentelemetry.io/otel/codes"
	otelTrace      = "go.opentelemetry.io/otel/trace"
	orderedMap     = "github.com/tidwall/btree"
)

// Patterns for Row.Never and TestKit.
const (
	anyOurs   = "./..."
	anyThird  = "third-party/..."
	allSDK    = "github.com/aws/aws-sdk-go-v2/..."
	allSmithy = smithy + "/..."
	emulators = "internal/localaws/..."
	allOTel   = "go.opentelemetry.io/..."
)

// noSDK keeps the AWS SDK out of packages that a function can use without it.
func noSDK() []string { return []string{allSDK, allSmithy} }

// forCommands are packages that cost a function start-up time and size and
// that only commands need.
func forCommands() []string {
	return []string{
		"awstest", "internal/alarm/...", "internal/alarmset", "internal/cfn", "internal/check", "internal/cli",
		"internal/deadletters/...", "internal/demo/...", "internal/dlqui", "internal/endpoint", "internal/eventsource/...",
		"internal/jobfile", "internal/ledger", "internal/live", "internal/local", "internal/localguard", emulators,
		"internal/metricmath", "internal/runtimeapi",
		"internal/scaffold", "internal/stack", "internal/stackedit", sdkConfig + "/...", sdkCloudWatch + "/...",
		sdkFormation + "/...", sdkLambda + "/...", sdkLogs + "/...", sdkSNS + "/...", unifiedDiff,
		kong, lipgloss + "/...", orderedMap, terminal, yaml, allOTel,
	}
}

// TestKit is what every test may import besides what its row allows and this
// module's packages named …test. These are patterns, as in [Row.Never].
func TestKit() []string {
	return []string{
		"github.com/google/go-cmp/...",
		"github.com/rogpeppe/go-internal/testscript",
		"github.com/chromedp/...", "golang.org/x/net/html",
		"pgregory.net/rapid",
		allOTel, "google.golang.org/protobuf/proto",
		"github.com/aws/aws-lambda-go/...",
		allSDK, allSmithy,
		emulators,
	}
}

// leafRows are packages that know no message.
func leafRows() []Row {
	return []Row{
		{Path: "fault", Never: []string{anyOurs, anyThird}},
		{Path: "backoff", Never: []string{anyOurs, anyThird}},
		{Path: "internal/sqsevent", Third: []string{lambdaEvents}, Never: append(noSDK(), anyOurs)},
		{Path: "internal/runqueue", Never: []string{anyOurs, anyThird}},
		{Path: "internal/deadline", Never: []string{anyOurs, anyThird}},
		{Path: "internal/usercall", Never: []string{anyOurs, anyThird}},
		{Path: "internal/host", Never: []string{anyOurs, anyThird}},
		{Path: "internal/localreport", Never: []string{anyOurs, anyThird}, Host: true},
		{Path: "internal/redact", Never: []string{anyOurs, anyThird}},
		{Path: "internal/jobid", Never: []string{anyOurs, anyThird}},
		{Path: "internal/bubble", Never: []string{anyOurs, anyThird}, Testing: true},
		{Path: "internal/traceid", Never: []string{anyOurs, anyThird}},
		{Path: "internal/jsonobject", Never: []string{anyOurs, anyThird}},
		{Path: "internal/wholebody", Third: []string{sdkCore, sdkHTTP}, Never: []string{anyOurs}},
		{Path: "internal/metricmath", Never: []string{anyOurs, anyThird}},
		{
			Path: "internal/sqscall", Ours: []string{"internal/host"}, Third: []string{sdkCore, sdkSQS, smithy},
			Never: append(forCommands(), sdkDynamoDB),
		},
	}
}

// engineRows are what runs jobs and remembers them, without a network.
func engineRows() []Row {
	return []Row{
		{
			Path: "handler",
			Ours: []string{
				"backoff", "fault", "internal/deadline", "internal/host", "internal/jsonobject", "internal/runqueue",
				"internal/sqsevent", "internal/usercall",
			},
			Third: []string{lambdaEvents, lambdaContext, lambdaErrors},
			Never: append(noSDK(), lambdaRuntime), Tests: []string{"idem"},
		},
		{
			Path: "handler/handlertest", Ours: []string{"fault", "handler", "internal/bubble"},
			Third: []string{lambdaEvents, lambdaErrors},
			Never: noSDK(), Tests: []string{"idem", "dlq"},
		},
		{Path: "envelope", Ours: []string{"fault", "handler"}, Never: noSDK(), Tests: []string{"idem"}},
		{
			Path:  "idem",
			Ours:  []string{"fault", "handler", "internal/deadline", "internal/host", "internal/jobid", "internal/jsonobject"},
			Never: noSDK(),
			Tests: []string{"backoff", "internal/simulation"},
		},
		{
			Path: "idem/idemtest", Ours: []string{"handler", "idem"}, Third: []string{goCmp},
			Never: noSDK(),
		},
		{
			Path: "internal/simulation", Ours: []string{"backoff", "fault", "handler", "idem"},
			Third: []string{lambdaEvents}, Never: noSDK(), Testing: true,
		},
		{
			Path: "logs", Ours: []string{"handler", "internal/traceid"}, Never: append(noSDK(), lambdaRuntime),
			Tests: []string{"backoff", "fault", "idem", ".", "sqsafetest", "worker"}, Host: true,
		},
		{
			Path: "tracing", Ours: []string{"handler", "internal/traceid"},
			Third: []string{lambdaEvents, otelAttributes, otelCodes, otelTrace},
			Never: append(noSDK(), lambdaRuntime, "go.opentelemetry.io/otel/sdk/..."),
			Tests: []string{"dlq", "fault", "idem", "producer"},
		},
		{
			Path: "metrics", Ours: []string{"fault", "handler"}, Third: []string{lambdaContext},
			Never: append(noSDK(), lambdaRuntime),
		},
	}
}

// adapterRows call AWS for the engine.
func adapterRows() []Row {
	return []Row{
		{
			Path: "idem/dynamo", Ours: []string{"handler", "idem"}, Third: []string{sdkCore, sdkDynamoDB, dynamoDBTypes},
			Never: append(forCommands(), "dlq", "queue", sdkSQS), Tests: []string{"internal/simulation"},
		},
		{
			Path: "queue", Ours: []string{"handler", "internal/sqscall"},
			Third: []string{sdkCore, sdkARN, sdkSQS, sqsTypes, smithy},
			Never: append(forCommands(), "idem/...", "dlq", sdkDynamoDB),
		},
		{
			Path: "internal/sqssend", Ours: []string{"handler", "internal/sqscall", "queue"},
			Third: []string{sdkCore, sdkSQS, sqsTypes}, Never: append(forCommands(), "idem/...", "dlq", sdkDynamoDB),
		},
		{
			Path: "dlq", Ours: []string{"handler", "internal/sqscall", "internal/sqssend"},
			Third: []string{lambdaEvents, lambdaContext, sdkCore, sdkSQS, sqsTypes},
			Never: append(forCommands(), "idem/...", sdkDynamoDB), Tests: []string{"queue"},
		},
	}
}

// producerRows are for programs that send jobs and ask what became of them.
func producerRows() []Row {
	return []Row{
		{
			Path: "internal/jobfile", Ours: []string{"handler", "internal/sqscall", "queue", "internal/sqssend"},
		},
		{
			Path: "internal/ledger", Ours: []string{"handler", "internal/jobid"},
			Third: []string{sdkCore, sdkDynamoDB, dynamoDBTypes},
			Tests: []string{"idem", "idem/dynamo"},
		},
		{
			Path: "jobs", Ours: []string{"fault", "internal/jobid", "internal/ledger"},
			Third: []string{sdkCore, sdkDynamoDB, dynamoDBTypes}, Never: []string{sdkSQS, sdkConfig + "/..."},
			Tests: []string{"handler", "idem", "idem/dynamo"},
		},
		{
			Path: "producer", Ours: []string{"internal/jobid", "envelope", "internal/sqscall", "internal/sqssend"},
			Third: []string{sdkCore, sdkSQS, sqsTypes}, Never: append(forCommands(), "idem/...", "dlq", sdkDynamoDB),
			Tests: []string{"handler", "queue"},
		},
	}
}

// hostRows wire the engine for Lambda and for a container.
func hostRows() []Row {
	return []Row{
		{Path: "internal/testhost", Ours: []string{"handler", "idem"}, Never: noSDK()},
		{
			Path: ".",
			Ours: []string{
				"backoff", "internal/wholebody", "handler", "idem", "metrics", "idem/dynamo", "queue", "dlq",
				"internal/redact", "internal/testhost", "internal/localreport",
			},
			Third: []string{
				lambdaRuntime, lambdaContext, sdkCore, sdkHTTP, sdkDynamoDB, sdkSQS, smithyStack, smithyHTTP,
			},
			Never: forCommands(), Tests: []string{"envelope", "fault", "internal/costs", "internal/tally"}, Host: true,
		},
		{
			Path:  "sqsafetest",
			Ours:  []string{"handler", "handler/handlertest", "envelope", "idem", "internal/bubble", "internal/testhost", "."},
			Third: []string{lambdaEvents, sdkCore}, Never: forCommands(), Tests: []string{"fault"},
		},
		{Path: "internal/eventsource/filter", Never: []string{anyOurs, anyThird}},
		{
			Path: "internal/eventsource", Ours: []string{"internal/eventsource/filter"},
			Third: []string{sdkCore, sdkSQS, sqsTypes},
		},
		{
			Path: "worker",
			Ours: []string{
				"backoff", "internal/deadline", "internal/host", "handler", "metrics", "queue", ".", "internal/eventsource",
				"internal/redact",
			},
			Third: []string{
				lambdaEvents, lambdaErrors, sdkConfig, sdkCore, sdkSQS, sqsTypes, sdkCloudWatch, cloudTypes,
				netListeners,
			},
			Never: []string{emulators, kong, lipgloss + "/...", terminal, yaml},
			Tests: []string{"dlq", "fault", "idem", "idem/dynamo", "internal/cfn"}, Host: true,
		},
	}
}

// functionRows are the sample functions and workers that are deployed.
func functionRows() []Row {
	return []Row{
		{
			Path: "functions/internal/charge", Ours: []string{"fault", "idem"},
			Never: forCommands(), Tests: []string{"handler"}, Host: true,
		},
		{
			Path: "functions/internal/notify", Ours: []string{"fault", "idem"},
			Never: forCommands(), Tests: []string{"handler"}, Host: true,
		},
		{
			Path: "functions/internal/stock", Ours: []string{"fault", "idem/dynamo"},
			Third: []string{sdkCore, sdkDynamoDB, dynamoDBTypes},
			Never: forCommands(), Tests: []string{"handler", "idem"},
		},
		{Path: "functions/charge", Ours: []string{".", "functions/internal/charge"}, Never: forCommands(), Host: true},
		{Path: "functions/notify", Ours: []string{".", "functions/internal/notify"}, Never: forCommands(), Host: true},
		{
			Path: "functions/stock", Ours: []string{"handler", ".", "functions/internal/stock"},
			Third: []string{lambdaRuntime}, Never: forCommands(), Host: true,
		},
		{Path: "functions/charge-worker", Ours: []string{".", "worker", "functions/internal/charge"}, Host: true},
	}
}

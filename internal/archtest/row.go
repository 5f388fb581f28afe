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
	yaml          = "go.yaml.in/yaml/v4"
	unifiedDiff   = "github.com/aymanbagabas/go-udiff"
	goCmp         = "github.com/google/go-cmp/cmp"
	netListeners  = "golang.org/x/net/netutil"
	orderedMap    = "github.com/tidwall/btree"
)

// Patterns for Row.Never and TestKit.
const (
	anyOurs   = "./..."
	anyThird  = "third-party/..."
	allSDK    = "github.com/aws/aws-sdk-go-v2/..."
	allSmithy = smithy + "/..."
	emulators = "internal/localaws/..."
)

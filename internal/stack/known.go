package stack

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// knownProperties are the properties of each resource type, whether they are
// used here or not.
var knownProperties = map[string][]string{
	kindQueue: {
		"ContentBasedDeduplication", "DeduplicationScope", "DelaySeconds", "FifoQueue", "FifoThroughputLimit",
		"KmsDataKeyReusePeriodSeconds", "KmsMasterKeyId", "MaximumMessageSize", "MessageRetentionPeriod", "QueueName",
		"ReceiveMessageWaitTimeSeconds", "RedriveAllowPolicy", "RedrivePolicy", "SqsManagedSseEnabled", "Tags",
		"VisibilityTimeout",
	},
	kindFunction: append([]string{
		"AutoPublishCodeSha256", "Events", "FunctionName", "ImageConfig", "ImageUri", "InlineCode", "PackageType",
		"Policies", "Role", "VersionDescription",
	}, globalFunctionProperties...),
}

// globalFunctionProperties are the properties that SAM accepts in
// Globals.Function.
var globalFunctionProperties = []string{
	"Architectures", "AssumeRolePolicyDocument", "AutoPublishAlias", "AutoPublishAliasAllProperties",
	"CapacityProviderConfig", "CodeSigningConfigArn", "CodeUri", "DeadLetterQueue", "DeploymentPreference",
	"Description", "DurableConfig", "Environment", "EphemeralStorage", "EventInvokeConfig", "FileSystemConfigs",
	"FunctionScalingConfig", "FunctionUrlConfig", "Handler", "KmsKeyArn", "Layers", "LoggingConfig", "MemorySize",
	"PermissionsBoundary", "PropagateTags", "ProvisionedConcurrencyConfig", "PublishToLatestPublished",
	"RecursiveLoop", "ReservedConcurrentExecutions", "RolePath", "Runtime", "RuntimeManagementConfig", "SnapStart",
	"SourceKMSKeyArn", "Tags", "TenancyConfig", "Timeout", "Tracing", "VersionDeletionPolicy", "VpcConfig",
}

// globalSections are the SAM resource types that can have Globals.
var globalSections = []string{
	"Api", "CapacityProvider", "Function", "HttpApi", "LayerVersion", "MicrovmImage", "NetworkConnector",
	"SimpleTable", "StateMachine", "WebSocketApi",
}

// knownFunctions are CloudFormation's intrinsic functions as tags, including
// those of rules and of language extensions.
var knownFunctions = []string{
	"And", "Base64", "Cidr", "Condition", "Contains", "EachMemberEquals", "EachMemberIn", "Equals", "FindInMap",
	"ForEach", "GetAZs", "GetAtt", "GetStackOutput", "If", "ImportValue", "Join", "Length", "Not", "Or", "Ref",
	"RefAll", "Select", "Split", "Sub", "ToJsonString", "Transform", "ValueOf", "ValueOfAll",
}

// parameterTypes are the types of parameters, without the AWS-specific ones.
var parameterTypes = []string{"CommaDelimitedList", "List<Number>", "List<String>", "Number", "String"}

// readKinds are the resource types that are read.
var readKinds = []string{kindFunction, kindQueue, kindTable, kindSimpleTable, kindMapping}

// checkMembers returns an error for unknown members of a mapping. Functions
// that add members, such as Fn::Transform, are skipped.
func (t *template) checkMembers(n *yaml.Node, path, what string, known []string) {
	for _, e := range entries(n) {
		if name := e.key.Value; !slices.Contains(known, name) && !strings.HasPrefix(name, "Fn::") {
			t.fail(e.key, "%s: no %s %q: %s", path, what, name, remedy(name, "", known))
		}
	}
}

// checkProperties returns an error for properties that a resource's type does
// not have.
func (t *template) checkProperties(r *resource, properties section) {
	t.checkMembers(properties.node, r.id, "property", knownProperties[r.kind])
}

func (t *template) checkGlobals(n *yaml.Node) {
	t.checkMembers(n, "Globals", "section", globalSections)
	t.checkMembers(member(n, "Function"), "Globals: Function", "property", globalFunctionProperties)
}

// checkKind returns an error for an unknown type that is almost equal to one
// that is read: it is misspelt. No type of AWS is that similar to one of them.
func (t *template) checkKind(r *resource, at *yaml.Node) {
	if slices.Contains(readKinds, r.kind) {
		return
	}
	if meant := nearest(r.kind, readKinds, 2); meant != "" {
		t.fail(at, "%s: no resource type %q: write %s", r.id, r.kind, meant)
	}
}

// checkParameterType returns an error for an unknown type. It does not check
// the AWS-specific types, since there are many.
func (t *template) checkParameterType(p *parameter, at *yaml.Node) {
	if strings.HasPrefix(strings.TrimPrefix(p.kind, "List<"), "AWS::") || slices.Contains(parameterTypes, p.kind) {
		return
	}
	t.fail(at, "parameter %s: no type %q: %s", p.name, p.kind, remedy(p.kind, "", parameterTypes))
}

// remedy says what to do about an unknown name; prefix is put before the names
// that are known.
func remedy(name, prefix string, known []string) string {
	if meant := nearest(name, known, 1+len(name)/4); meant != "" {
		return "write " + prefix + meant
	}
	return "correct its name or remove it"
}

// nearest returns the known name with the fewest edits to the given one,
// ignoring case, or an empty string if it takes more than most edits.
func nearest(name string, known []string, most int) string {
	best := ""
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate), most); d <= most {
			best, most = candidate, d-1
		}
	}
	return best
}

// distance returns the number of letters to insert, remove or replace between
// two names. If it is above most, the result may be any number above most.
func distance(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

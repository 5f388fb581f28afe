package stack

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/cfn"
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
	if meant := cfn.Nearest(r.kind, readKinds, 2); meant != "" {
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

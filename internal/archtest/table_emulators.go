package archtest

// emulatorRows are the emulators for AWS.
func emulatorRows() []Row {
	const protocol = "internal/localaws/protocol"
	const attribute = "internal/localaws/dynamodb/attribute"
	const expression = "internal/localaws/dynamodb/expression"
	const keyspace = "internal/localaws/dynamodb/keyspace"
	const shape = "internal/localaws/dynamodb/shape"
	return []Row{
		{Path: protocol, Never: []string{anyOurs, anyThird}},
		{Path: "internal/localaws/cbor", Ours: []string{protocol}, Never: []string{anyThird}},
		{
			Path: "internal/localaws/cloudwatch", Ours: []string{"internal/metricmath", protocol},
			Never: []string{anyThird},
		},
		{Path: attribute, Ours: []string{protocol}, Never: []string{anyThird}},
		{Path: expression, Ours: []string{attribute}, Never: []string{anyThird}},
		{
			Path: keyspace, Ours: []string{attribute}, Third: []string{orderedMap},
			Never: append(noSDK(), "internal/localaws/sqs", "internal/localaws/cloudwatch"),
		},
		{Path: shape, Ours: []string{protocol, attribute}, Never: []string{anyThird}},
		{
			Path: "internal/localaws/dynamodb", Ours: []string{protocol, attribute, expression, keyspace, shape},
			Never: noSDK(),
		},
		{Path: "internal/localaws/sqs", Ours: []string{protocol}, Never: []string{anyThird}},
		{Path: "internal/localaws/sts", Never: []string{anyThird}},
		{
			Path: "internal/localaws",
			Ours: []string{
				protocol, "internal/localaws/cbor", "internal/localaws/cloudwatch", "internal/localaws/dynamodb",
				"internal/localaws/sqs", "internal/localaws/sts",
			},
			Never: noSDK(),
		},
		{Path: "internal/localaws/localtest", Ours: []string{"internal/localaws"}, Third: []string{sdkCore, sdkKeys}},
	}
}

package dynamodb

// The quotas of an account (service quotas).
const (
	accountUnits = 80_000
	tableUnits   = 40_000
	// endpointMinutes is how long a client may keep an endpoint.
	endpointMinutes = 1440
)

type describeLimitsResponse struct {
	AccountMaxReadCapacityUnits  int
	AccountMaxWriteCapacityUnits int
	TableMaxReadCapacityUnits    int
	TableMaxWriteCapacityUnits   int
}

func (s *Service) describeLimits(*struct{}) (describeLimitsResponse, error) {
	return describeLimitsResponse{accountUnits, accountUnits, tableUnits, tableUnits}, nil
}

type endpoint struct {
	Address              string
	CachePeriodInMinutes int
}

type describeEndpointsResponse struct{ Endpoints []endpoint }

// describeEndpoints names the endpoint of AWS: clients that ask for it do so to
// sign their requests, and are told where to send them by their configuration.
func (s *Service) describeEndpoints(*struct{}) (describeEndpointsResponse, error) {
	return describeEndpointsResponse{[]endpoint{{"dynamodb." + s.region + ".amazonaws.com", endpointMinutes}}}, nil
}

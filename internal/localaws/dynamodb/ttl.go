package dynamodb

import "github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"

type timeToLive struct {
	AttributeName string `rule:"required,len=1..255"`
	Enabled       *bool  `rule:"required"`
}

type updateTimeToLiveParameters struct {
	TableName               string      `rule:"required,table"`
	TimeToLiveSpecification *timeToLive `rule:"required,is=TimeToLiveSpecification"`
}

type updateTimeToLiveResponse struct{ TimeToLiveSpecification timeToLive }

// updateTimeToLive records the attribute and deletes nothing: AWS may delete an
// expired item days later, so a program must not rely on it.
func (s *Service) updateTimeToLive(p *updateTimeToLiveParameters) (updateTimeToLiveResponse, error) {
	spec := p.TimeToLiveSpecification
	t, err := s.namedTable(p.TableName)
	if err != nil {
		return updateTimeToLiveResponse{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case *spec.Enabled && t.timeToLive != "":
		return updateTimeToLiveResponse{}, attribute.Invalidf("TimeToLive is already enabled")
	case !*spec.Enabled && t.timeToLive == "":
		return updateTimeToLiveResponse{}, attribute.Invalidf("TimeToLive is already disabled")
	case !*spec.Enabled && t.timeToLive != spec.AttributeName:
		return updateTimeToLiveResponse{}, attribute.Invalidf("TimeToLive is active on a different AttributeName: "+
			"current AttributeName is %s", t.timeToLive)
	}
	t.timeToLive = ""
	if *spec.Enabled {
		t.timeToLive = spec.AttributeName
	}
	return updateTimeToLiveResponse{*spec}, nil
}

type timeToLiveDescription struct {
	AttributeName    string `json:",omitempty"`
	TimeToLiveStatus string
}

type describeTimeToLiveResponse struct{ TimeToLiveDescription timeToLiveDescription }

func (s *Service) describeTimeToLive(p *tableParameters) (describeTimeToLiveResponse, error) {
	t, err := s.namedTable(p.TableName)
	if err != nil {
		return describeTimeToLiveResponse{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	d := timeToLiveDescription{AttributeName: t.timeToLive, TimeToLiveStatus: "DISABLED"}
	if t.timeToLive != "" {
		d.TimeToLiveStatus = "ENABLED"
	}
	return describeTimeToLiveResponse{d}, nil
}

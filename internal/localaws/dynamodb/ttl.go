package dynamodb

import "github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"

type timeToLive struct {
	AttributeName string
	Enabled       bool
}

type updateTimeToLiveParameters struct {
	TableName               string
	TimeToLiveSpecification *timeToLive
}

type updateTimeToLiveResponse struct{ TimeToLiveSpecification timeToLive }

// updateTimeToLive records the attribute and deletes nothing: AWS may delete an
// expired item days later, so a program must not rely on it.
func (s *Service) updateTimeToLive(p *updateTimeToLiveParameters) (updateTimeToLiveResponse, error) {
	spec := p.TimeToLiveSpecification
	if spec == nil || spec.AttributeName == "" {
		return updateTimeToLiveResponse{}, badParameter("TimeToLiveSpecification must name an attribute")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.namedTable(p.TableName)
	switch {
	case err != nil:
		return updateTimeToLiveResponse{}, err
	case spec.Enabled && t.timeToLive != "":
		return updateTimeToLiveResponse{}, attribute.Invalidf("TimeToLive is already enabled")
	case !spec.Enabled && t.timeToLive == "":
		return updateTimeToLiveResponse{}, attribute.Invalidf("TimeToLive is already disabled")
	case !spec.Enabled && t.timeToLive != spec.AttributeName:
		return updateTimeToLiveResponse{}, attribute.Invalidf("TimeToLive is active on a different AttributeName: "+
			"current AttributeName is %s", t.timeToLive)
	}
	t.timeToLive = ""
	if spec.Enabled {
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, err := s.namedTable(p.TableName)
	if err != nil {
		return describeTimeToLiveResponse{}, err
	}
	d := timeToLiveDescription{AttributeName: t.timeToLive, TimeToLiveStatus: "DISABLED"}
	if t.timeToLive != "" {
		d.TimeToLiveStatus = "ENABLED"
	}
	return describeTimeToLiveResponse{d}, nil
}

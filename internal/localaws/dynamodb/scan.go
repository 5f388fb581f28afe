package dynamodb

import (
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

// scanParameters are those of Scan. A segment of a parallel scan is a part of
// the range of the hashes of partition keys.
type scanParameters struct {
	pageParameters

	ScanFilter    comparisons `rule:"is=Condition"`
	Segment       *int        `rule:"range=0..999999"`
	TotalSegments *int        `rule:"range=1..1000000"`
}

func (s *Service) scan(p *scanParameters) (pageResponse, error) {
	g, scope, err := p.begin(p.ScanFilter)
	if err != nil {
		return pageResponse{}, err
	}
	if err := p.checkSegments(); err != nil {
		return pageResponse{}, err
	}
	if err := g.parse(scope); err != nil {
		return pageResponse{}, err
	}
	if err := scope.Close(); err != nil {
		return pageResponse{}, err
	}
	if err := g.open(s); err != nil {
		return pageResponse{}, err
	}
	if p.Segment != nil {
		g.part = keyspace.Segment(*p.Segment, *p.TotalSegments)
		if start := p.ExclusiveStartKey.item; start != nil && !g.part.Contains(g.place(start)) {
			return pageResponse{}, attribute.Invalidf("The provided starting key is invalid: "+
				"Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. "+
				"TotalSegments: %d Segment: %d", *p.TotalSegments, *p.Segment)
		}
	}
	if err := g.table.checkScalars(g.filter.Nested(), g.projection.Nested()); err != nil {
		return pageResponse{}, err
	}
	if err := g.checkAttributes(); err != nil {
		return pageResponse{}, err
	}
	return g.read(), nil
}

func (p *scanParameters) checkSegments() error {
	switch {
	case p.Segment == nil && p.TotalSegments == nil:
		return nil
	case p.TotalSegments == nil:
		return attribute.Invalidf("The TotalSegments parameter is required " +
			"but was not present in the request when Segment parameter is present")
	case p.Segment == nil:
		return attribute.Invalidf("The Segment parameter is required " +
			"but was not present in the request when parameter TotalSegments is present")
	case *p.Segment >= *p.TotalSegments:
		return attribute.Invalidf("The Segment parameter is zero-based and must be less than parameter TotalSegments: "+
			"Segment: %d is not less than TotalSegments: %d", *p.Segment, *p.TotalSegments)
	}
	return nil
}

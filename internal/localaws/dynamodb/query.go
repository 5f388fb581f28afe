package dynamodb

import (
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

type queryParameters struct {
	pageParameters
	KeyConditionExpression *string
	ScanIndexForward       *bool // nil means true
}

func (s *Service) query(p *queryParameters) (pageResponse, error) {
	if p.KeyConditionExpression == nil {
		return pageResponse{}, attribute.Invalidf("Either the KeyConditions or KeyConditionExpression parameter " +
			"must be specified in the request.")
	}
	g, scope, err := p.begin(s, "Query")
	if err != nil {
		return pageResponse{}, err
	}
	condition, err := scope.KeyCondition(*p.KeyConditionExpression, g.key().names())
	if err != nil {
		return pageResponse{}, err
	}
	if err := scope.Close(); err != nil {
		return pageResponse{}, err
	}
	if err := g.checkKeyCondition(condition); err != nil {
		return pageResponse{}, err
	}
	names := g.key().names()
	g.matches = func(item attribute.Item) bool { return condition.Match(names, item) }
	if start := p.ExclusiveStartKey; start != nil && !attribute.Equal(start[names.Hash], condition.Hash) {
		return pageResponse{}, attribute.Invalidf("The provided starting key is outside query boundaries " +
			"based on provided conditions")
	}
	g.descending = p.ScanIndexForward != nil && !*p.ScanIndexForward
	return g.read(s), nil
}

func (g *page) checkKeyCondition(c expression.KeyCondition) error {
	k := g.key()
	if c.Hash.Type() != k.hash.dataType ||
		slices.ContainsFunc(c.RangeValues(), func(v attribute.Value) bool { return v.Type() != k.sort.dataType }) {
		return badParameter("Condition parameter type does not match schema type")
	}
	for _, name := range g.filter.Names() {
		if k.has(name) {
			return attribute.Invalidf("Filter Expression can only contain non-primary key attributes: "+
				"Primary key attribute: %s", name)
		}
	}
	return nil
}

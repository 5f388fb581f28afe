package dynamodb

import (
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
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
	g, scope, err := p.begin()
	if err != nil {
		return pageResponse{}, err
	}
	unbound, err := scope.KeyCondition(*p.KeyConditionExpression)
	if err != nil {
		return pageResponse{}, err
	}
	if err := scope.Close(); err != nil {
		return pageResponse{}, err
	}
	if err := g.open(s); err != nil {
		return pageResponse{}, err
	}
	names := g.key().names()
	condition, err := unbound.On(names)
	if err != nil {
		return pageResponse{}, err
	}
	if err := g.checkKeyCondition(condition); err != nil {
		return pageResponse{}, err
	}
	low, high := condition.Bounds()
	g.part = keyspace.Partition(condition.Hash, low, high)
	g.matches = func(item attribute.Item) bool { return condition.Match(names, item) }
	if start := p.ExclusiveStartKey; start != nil && !attribute.Equal(start[names.Hash], condition.Hash) {
		return pageResponse{}, attribute.Invalidf("The provided starting key is outside query boundaries " +
			"based on provided conditions")
	}
	g.descending = p.ScanIndexForward != nil && !*p.ScanIndexForward
	return g.read(), nil
}

func (g *page) checkKeyCondition(c expression.KeyCondition) error {
	k := g.key()
	values := c.RangeValues()
	if c.Hash.Type() != k.hash.dataType {
		return badParameter("Condition parameter type does not match schema type")
	}
	if err := checkNotEmpty(k.hash, c.Hash); err != nil {
		return err
	}
	for _, v := range values {
		if v.Type() != k.sort.dataType {
			return badParameter("Condition parameter type does not match schema type")
		}
		if err := checkNotEmpty(k.sort, v); err != nil {
			return err
		}
	}
	for _, name := range g.filter.Names() {
		if k.has(name) {
			return attribute.Invalidf("Filter Expression can only contain non-primary key attributes: "+
				"Primary key attribute: %s", name)
		}
	}
	return nil
}

// checkNotEmpty returns an error for an empty value of a key.
func checkNotEmpty(a keyAttribute, v attribute.Value) error {
	if n, ok := attribute.Extent(v); ok && n == 0 {
		return attribute.Invalidf("One or more parameter values are not valid. "+
			"The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s",
			typeNames[a.dataType], a.name)
	}
	return nil
}

func joined(names []string) string { return strings.Join(names, ", ") }

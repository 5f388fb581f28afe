package dynamodb

import (
	"strings"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

type queryParameters struct {
	pageParameters

	KeyConditions          comparisons `rule:"is=Condition"`
	KeyConditionExpression *string
	QueryFilter            comparisons `rule:"is=Condition"`
	ScanIndexForward       *bool       // nil means true
}

func (s *Service) query(p *queryParameters) (pageResponse, error) {
	g, scope, err := p.begin(p.QueryFilter)
	if err != nil {
		return pageResponse{}, err
	}
	unbound, err := p.expressions(g, scope)
	if err != nil {
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
	if err := g.checkFilter(p.QueryFilter != nil); err != nil {
		return pageResponse{}, err
	}
	if err := g.checkStartInside(condition); err != nil {
		return pageResponse{}, err
	}
	if err := g.checkAttributes(); err != nil {
		return pageResponse{}, err
	}
	low, high := condition.Bounds()
	g.part = keyspace.Partition(condition.Hash, low, high)
	g.matches = func(item attribute.Item) bool { return condition.Match(names, item) }
	g.descending = p.ScanIndexForward != nil && !*p.ScanIndexForward
	return g.read(), nil
}

// expressions parses the expressions of the query. AWS checks the syntax of all of
// them before it looks at the operators of the key condition.
func (p *queryParameters) expressions(g *page, scope *expression.Scope) (expression.UnboundKeyCondition, error) {
	keys, err := scope.Condition("KeyConditionExpression", p.KeyConditionExpression)
	if err != nil {
		return expression.UnboundKeyCondition{}, err
	}
	if err := g.parse(scope); err != nil {
		return expression.UnboundKeyCondition{}, err
	}
	if err := scope.Close(); err != nil {
		return expression.UnboundKeyCondition{}, err
	}
	switch {
	case p.KeyConditionExpression != nil:
		return keys.AsKey()
	case p.KeyConditions == nil:
		return expression.UnboundKeyCondition{}, attribute.Invalidf(
			"Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	parsed, err := p.KeyConditions.parse()
	if err != nil {
		return expression.UnboundKeyCondition{}, err
	}
	return expression.KeyComparisons(parsed)
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
	if !c.HasPartition() {
		return attribute.Invalidf("Query key condition not supported")
	}
	return nil
}

// checkStartInside checks that the start key is one that the query can have read.
func (g *page) checkStartInside(c expression.KeyCondition) error {
	start := g.parameters.ExclusiveStartKey.item
	switch {
	case start == nil:
		return nil
	case !c.MatchRange(start):
		return attribute.Invalidf("The provided starting key does not match the range key predicate")
	case !attribute.Equal(start[g.key().hash.name], c.Hash):
		return attribute.Invalidf("The provided starting key is outside query boundaries based on provided conditions")
	}
	return nil
}

// checkFilter checks that the filter of a query does not read the key.
func (g *page) checkFilter(legacy bool) error {
	kind := "Filter Expression"
	if legacy {
		kind = "QueryFilter"
	}
	for _, name := range g.filter.Names() {
		if g.key().has(name) {
			return attribute.Invalidf("%s can only contain non-primary key attributes: "+
				"Primary key attribute: %s", kind, name)
		}
	}
	return g.table.checkScalars(g.filter.Nested(), g.projection.Nested())
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

package dynamodb

import (
	"fmt"
	"slices"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
)

// maxPageBytes is how much a query or scan reads at a time (service quotas).
const maxPageBytes = 1 << 20

// pageParameters holds the parameters shared by Query and Scan.
type pageParameters struct {
	TableName                 string
	IndexName                 *string
	ConsistentRead            bool
	ExclusiveStartKey         attribute.Item
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attribute.Item
	FilterExpression          *string
	ProjectionExpression      *string
	Limit                     *int
	ReturnConsumedCapacity    string
	Select                    string
}

type pageResponse struct {
	Items            *[]attribute.Item `json:",omitempty"` // nil if only the count is wanted
	Count            int
	ScannedCount     int
	LastEvaluatedKey attribute.Item `json:",omitempty"`
}

// page is a checked read of a part of a source.
type page struct {
	source
	parameters *pageParameters
	filter     expression.Condition
	projection expression.Projection
	countOnly  bool
	matches    func(attribute.Item) bool
	descending bool
}

// begin makes a page that matches all items. The caller parses the other
// expressions and closes the scope.
func (p *pageParameters) begin(s *Service, operation string) (*page, *expression.Scope, error) {
	if err := (metrics{ReturnConsumedCapacity: p.ReturnConsumedCapacity}).check(operation); err != nil {
		return nil, nil, err
	}
	if p.Limit != nil && *p.Limit < 1 {
		return nil, nil, constraint("Limit", fmt.Sprint(*p.Limit), "Member must have value greater than or equal to 1")
	}
	scope, err := expression.NewScope(p.ExpressionAttributeNames, p.ExpressionAttributeValues)
	if err != nil {
		return nil, nil, err
	}
	g := &page{parameters: p, matches: func(attribute.Item) bool { return true }}
	if g.filter, err = scope.Condition("FilterExpression", p.FilterExpression); err != nil {
		return nil, nil, err
	}
	if g.projection, err = scope.Projection(p.ProjectionExpression); err != nil {
		return nil, nil, err
	}
	if g.source, err = s.source(p.TableName, p.IndexName); err != nil {
		return nil, nil, err
	}
	return g, scope, g.check()
}

func (g *page) check() error {
	if g.index != nil && g.index.global && g.parameters.ConsistentRead {
		return attribute.Invalidf("Consistent reads are not supported on global secondary indexes")
	}
	if err := g.checkSelect(); err != nil {
		return err
	}
	if start := g.parameters.ExclusiveStartKey; start != nil {
		return g.checkStart(start)
	}
	return nil
}

func (g *page) checkSelect() error {
	choice, projected := g.parameters.Select, g.parameters.ProjectionExpression != nil
	if choice == "" {
		return nil
	}
	_, err := oneOf("Select", choice, "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT", "SPECIFIC_ATTRIBUTES")
	switch {
	case err != nil:
		return err
	case choice == "SPECIFIC_ATTRIBUTES" && !projected:
		return attribute.Invalidf("Must specify the AttributesToGet or ProjectionExpression " +
			"when choosing to get SPECIFIC_ATTRIBUTES")
	case projected && choice != "SPECIFIC_ATTRIBUTES":
		return attribute.Invalidf("Cannot specify the ProjectionExpression when choosing to get %s", choice)
	case choice == "ALL_PROJECTED_ATTRIBUTES" && g.index == nil:
		return attribute.Invalidf("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	case choice == "ALL_ATTRIBUTES" && g.index != nil && g.index.projection.ProjectionType != "ALL":
		return badParameter("Select type ALL_ATTRIBUTES is not supported for the index %s "+
			"because its projection type is not ALL", g.index.name)
	}
	g.countOnly = choice == "COUNT"
	return nil
}

// checkStart returns an error unless a start key has exactly the keys of the
// source and the table.
func (g *page) checkStart(start attribute.Item) error {
	names := make(map[string]bool)
	for _, a := range append(g.key().attributes(), g.table.key.attributes()...) {
		if v := start[a.name]; v == nil || v.Type() != a.dataType {
			return attribute.Invalidf("The provided starting key is invalid")
		}
		names[a.name] = true
	}
	if len(start) > len(names) {
		return attribute.Invalidf("The provided starting key is invalid")
	}
	return nil
}

// rest returns the items that match after the start key, in the requested
// order.
func (g *page) rest() []attribute.Item {
	items := g.items(g.matches)
	if g.descending {
		slices.Reverse(items)
	}
	start := g.parameters.ExclusiveStartKey
	if start == nil {
		return items
	}
	after := g.place(start)
	return slices.DeleteFunc(items, func(item attribute.Item) bool {
		order := g.place(item).compare(after)
		return order == 0 || (order < 0) != g.descending
	})
}

// read reads the page.
func (g *page) read(s *Service) pageResponse {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var response pageResponse
	items := []attribute.Item{}
	bytes := 0
	for _, item := range g.rest() {
		if g.full(response.ScannedCount, bytes) {
			break
		}
		response.ScannedCount++
		bytes += item.Size()
		response.LastEvaluatedKey = g.startKey(item)
		if seen := g.visible(item); g.filter.Match(seen) {
			items = append(items, g.projection.Of(seen))
		}
	}
	if !g.full(response.ScannedCount, bytes) {
		response.LastEvaluatedKey = nil
	}
	response.Count = len(items)
	if !g.countOnly {
		response.Items = &items
	}
	return response
}

// full reports whether the page ends after what was read.
func (g *page) full(scanned, bytes int) bool {
	return bytes >= maxPageBytes || g.parameters.Limit != nil && scanned >= *g.parameters.Limit
}

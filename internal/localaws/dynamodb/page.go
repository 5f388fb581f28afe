package dynamodb

import (
	"iter"

	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/attribute"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/expression"
	"github.com/sqsafe/sqsafe/internal/localaws/dynamodb/keyspace"
)

// maxPageBytes is how much a query or scan reads at a time (service quotas).
const maxPageBytes = 1 << 20

// pageParameters holds the parameters shared by Query and Scan.
type pageParameters struct {
	attributesToGet
	junction
	readMetrics

	TableName                 string  `rule:"required,table"`
	IndexName                 *string `rule:"name,len=3..255"`
	ConsistentRead            bool
	ExclusiveStartKey         startKey `rule:"item"`
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues placeholders `rule:"item"`
	FilterExpression          *string
	ProjectionExpression      *string
	Limit                     *int   `rule:"range=1.."`
	Select                    string `rule:"enum=SPECIFIC_ATTRIBUTES|COUNT|ALL_ATTRIBUTES|ALL_PROJECTED_ATTRIBUTES"`
}

type pageResponse struct {
	Items            *attribute.Items `json:",omitempty"` // nil if only the count is wanted
	Count            int
	ScannedCount     int
	LastEvaluatedKey attribute.Item `json:",omitempty"`
	ConsumedCapacity *capacity      `json:",omitempty"`
}

// page is a checked read of a part of a source.
type page struct {
	source

	parameters *pageParameters
	filter     expression.Condition
	projection expression.Projection
	// whole says that items are read from the table, because the request wants
	// more than a local index contains.
	whole      bool
	part       keyspace.Range
	matches    func(attribute.Item) bool
	descending bool
}

// begin makes a page that reads all items. filters are a QueryFilter or
// ScanFilter, or nil. The caller parses the expressions and closes the scope.
func (p *pageParameters) begin(filters comparisons) (*page, *expression.Scope, error) {
	if err := p.checkSelect(); err != nil {
		return nil, nil, early(err)
	}
	g := &page{parameters: p, part: keyspace.All(), matches: func(attribute.Item) bool { return true }}
	var err error
	if g.filter, err = p.filter(filters); err != nil {
		return nil, nil, err
	}
	if g.projection, err = p.attributesToGet.projection(); err != nil {
		return nil, nil, err
	}
	if p.ExclusiveStartKey.problem != nil {
		return nil, nil, p.ExclusiveStartKey.problem
	}
	if err := p.ExpressionAttributeValues.checkNamed(); err != nil {
		return nil, nil, err
	}
	scope, err := expression.NewScope(p.ExpressionAttributeNames, p.ExpressionAttributeValues.item())
	return g, scope, err
}

// parse parses the expressions that Query and Scan share.
func (g *page) parse(scope *expression.Scope) (err error) {
	p := g.parameters
	if p.FilterExpression != nil {
		if g.filter, err = scope.Condition("FilterExpression", p.FilterExpression); err != nil {
			return err
		}
	}
	if p.ProjectionExpression != nil {
		g.projection, err = scope.Projection(p.ProjectionExpression)
	}
	return err
}

// checkSelect checks the parameters that say which attributes are wanted.
func (p *pageParameters) checkSelect() error {
	choice := p.Select
	if choice == "COUNT" {
		choice = "only the Count"
	}
	specified := p.AttributesToGet != nil || p.ProjectionExpression != nil
	switch {
	case p.Select == "SPECIFIC_ATTRIBUTES" && !specified:
		return attribute.Invalidf("Must specify the AttributesToGet or ProjectionExpression " +
			"when choosing to get SPECIFIC_ATTRIBUTES")
	case p.Select != "" && p.Select != "SPECIFIC_ATTRIBUTES" && p.AttributesToGet != nil:
		return attribute.Invalidf("Cannot specify the AttributesToGet when choosing to get %s", choice)
	case p.Select != "" && p.Select != "SPECIFIC_ATTRIBUTES" && p.ProjectionExpression != nil:
		return attribute.Invalidf("Cannot specify the ProjectionExpression when choosing to get %s", choice)
	case p.Select == "ALL_PROJECTED_ATTRIBUTES" && p.IndexName == nil:
		return attribute.Invalidf("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

// open finds what the page reads, and checks the request against it.
func (g *page) open(s *Service) (err error) {
	p := g.parameters
	if g.source, err = s.source(p.TableName, p.IndexName); err != nil {
		return err
	}
	if g.index == nil {
		return g.checkStart()
	}
	if g.index.global && p.ConsistentRead {
		return attribute.Invalidf("Consistent reads are not supported on global secondary indexes")
	}
	return g.checkStart()
}

// checkAttributes checks that an index has the attributes that are wanted.
func (g *page) checkAttributes() error {
	if g.index == nil {
		return nil
	}
	missing := filter(g.projection.Names(), func(name string) bool { return !g.table.projects(g.index, name) })
	all := g.parameters.Select == "ALL_ATTRIBUTES" && g.index.projection.ProjectionType != "ALL"
	switch {
	case g.index.global && all:
		return badParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index %s "+
			"because its projection type is not ALL", g.index.name)
	case g.index.global && len(missing) > 0:
		return badParameter("Global secondary index %s does not project [%s]", g.index.name, joined(missing))
	}
	g.whole = all || len(missing) > 0
	return nil
}

// checkStart returns an error unless a start key has exactly the keys of the
// source and the table.
func (g *page) checkStart() error {
	start := g.parameters.ExclusiveStartKey.item
	if start == nil {
		return nil
	}
	keys := append(g.key().attributes(), g.table.key.attributes()...)
	names := make(map[string]bool)
	for _, a := range keys {
		names[a.name] = true
	}
	if len(start) != len(names) {
		return attribute.Invalidf("The provided starting key is invalid")
	}
	for _, a := range keys {
		switch v := start[a.name]; {
		case v == nil:
			return attribute.Invalidf("The provided starting key is invalid")
		case v.Type() != a.dataType:
			return attribute.Invalidf("The provided key element does not match the schema")
		}
	}
	return nil
}

// rest returns the items of the page's part after the start key, in the
// requested order. The caller holds the table's mutex.
func (g *page) rest() iter.Seq[attribute.Item] {
	part := g.part
	if start := g.parameters.ExclusiveStartKey.item; start != nil {
		if g.descending {
			part.High = g.place(start).Before()
		} else {
			part.Low = g.place(start).After()
		}
	}
	if g.descending {
		return g.rows().Descend(part)
	}
	return g.rows().Ascend(part)
}

// read reads the page.
func (g *page) read() pageResponse {
	g.table.mu.RLock()
	defer g.table.mu.RUnlock()
	var response pageResponse
	items := attribute.Items{}
	var last attribute.Item
	r := reading{page: g}
	for item := range g.rest() {
		if !g.matches(item) {
			continue
		}
		if r.full() {
			break
		}
		seen := r.take(item)
		last = item
		if g.filter.Match(seen) {
			items = append(items, g.projection.Of(seen))
		}
	}
	if r.full() && last != nil {
		response.LastEvaluatedKey = g.startKey(last)
	}
	response.ScannedCount, response.Count = r.scanned, len(items)
	if g.parameters.Select != "COUNT" {
		response.Items = &items
	}
	response.ConsumedCapacity = g.parameters.report(r.usage())
	return response
}
